// Start and end of HDF5, its errors, and handles of its objects. Errors carry the innermost message of the
// library.
#pragma once

#include <hdf5.h>

#include <utility>

namespace wa::h5 {

/// Turns off the library's printing and its closing of files at exit, because a rank that fails must not
/// wait.
void start();
/// Ends the library; needed before MPI_Finalize.
void finish();

[[noreturn]] void fail(const char* operation);

/// A property list or dataspace. It is local, so it may be closed at any time.
class Local {
  public:
    Local() = default;
    Local(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    ~Local() { reset(); }
    Local(Local&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
    Local& operator=(Local&& other) noexcept;
    Local(const Local&) = delete;
    Local& operator=(const Local&) = delete;
    [[nodiscard]] hid_t get() const { return id_; }

  private:
    void reset() noexcept;
    hid_t id_ = H5I_INVALID_HID;
    herr_t (*close_)(hid_t) = nullptr;
};

/// A file or dataset. Closing it may wait for other ranks, so it is closed explicitly and never by the
/// destructor.
class Shared {
  public:
    Shared() = default;
    Shared(hid_t id, herr_t (*closer)(hid_t)) : id_(id), close_(closer) {}
    ~Shared() = default;
    Shared(Shared&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
    Shared& operator=(Shared&& other) noexcept;
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    [[nodiscard]] hid_t get() const { return id_; }
    [[nodiscard]] bool open() const { return id_ >= 0; }
    void close();

  private:
    hid_t id_ = H5I_INVALID_HID;
    herr_t (*close_)(hid_t) = nullptr;
};

}  // namespace wa::h5
