#include "io/hdf5_handles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "errors.hpp"

namespace wa::h5 {
namespace {

/// Keeps the innermost message, which names the real cause.
herr_t innermost(unsigned depth, const H5E_error2_t* error, void* text) {
    if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
    return 0;
}

}  // namespace

void start() {
    (void)H5dont_atexit();
    if (H5open() < 0 || H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) < 0) fail("start of HDF5");
}

void finish() {
    (void)H5close();
}

void fail(const char* operation) {
    std::string text;
    const int system = errno;
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &text);
    // The part of the message from MPI is in brackets after a line break.
    for (char& c : text) {
        if (c == '\n') c = ' ';
    }
    if (text.empty()) text = "no reason given";
    // HDF5 does not report why the system refused; errno of the last failed call mostly does.
    const std::array<int, 8> telling{ENOSPC, EDQUOT, EIO, EACCES, EROFS, ENOENT, EFBIG, EEXIST};
    if (std::find(telling.begin(), telling.end(), system) != telling.end()) {
        text += fmt::format(" ({})", std::strerror(system));
    }
    throw CallFailed(operation, "HDF5: " + text);
}

void Local::reset() noexcept {
    if (id_ >= 0 && close_ != nullptr) (void)close_(id_);
    id_ = H5I_INVALID_HID;
}

Local& Local::operator=(Local&& other) noexcept {
    if (this != &other) {
        reset();
        id_ = std::exchange(other.id_, H5I_INVALID_HID);
        close_ = other.close_;
    }
    return *this;
}

Shared& Shared::operator=(Shared&& other) noexcept {
    id_ = std::exchange(other.id_, H5I_INVALID_HID);
    close_ = other.close_;
    return *this;
}

void Shared::close() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    errno = 0;
    if (id >= 0 && close_(id) < 0) fail("close");
}

}  // namespace wa::h5
