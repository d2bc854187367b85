#include "io/stdio.hpp"

#include <unistd.h>

#include <cerrno>

#include "io/capture_pause.hpp"
#include "io/posix.hpp"

namespace wa::stdio {
namespace {

File checked_open(const std::string& path, const char* mode) {
    std::FILE* file = std::fopen(path.c_str(), mode);
    if (file == nullptr) posix::fail("open", errno);
    return File(file);
}

}  // namespace

File::~File() {
    if (file_ != nullptr) (void)std::fclose(file_);
}

void File::write(const std::byte* data, std::int64_t size) {
    errno = 0;
    const auto wanted = static_cast<std::size_t>(size);
    if (std::fwrite(data, 1, wanted, file_) != wanted) posix::fail("write", errno != 0 ? errno : EIO);
}

std::int64_t File::read(std::byte* data, std::int64_t size) {
    errno = 0;
    const auto wanted = static_cast<std::size_t>(size);
    const std::size_t moved = std::fread(data, 1, wanted, file_);
    if (moved != wanted && std::ferror(file_) != 0) posix::fail("read", errno != 0 ? errno : EIO);
    return static_cast<std::int64_t>(moved);
}

void File::seek(std::int64_t offset) {
    if (::fseeko(file_, offset, SEEK_SET) != 0) posix::fail("seek", errno);
}

void File::flush() {
    if (std::fflush(file_) != 0) posix::fail("flush", errno);
}

int File::descriptor() const {
    return ::fileno(file_);
}

void File::close() {
    std::FILE* file = std::exchange(file_, nullptr);
    if (file != nullptr && std::fclose(file) != 0) posix::fail("close", errno);
}

File open_update(const std::string& path, bool make) {
    if (make) {
        // "w" alone would empty a file that another rank has begun, so the exclusive mode is tried first.
        std::FILE* file = std::fopen(path.c_str(), "w+xe");
        if (file != nullptr) return File(file);
        if (errno != EEXIST) posix::fail("open", errno);
    }
    return checked_open(path, "r+e");
}

File open_emptied(const std::string& path) {
    return checked_open(path, "w+e");
}

File open_new(const std::string& path) {
    return checked_open(path, "w+xe");
}
File open_read(const std::string& path) {
    return checked_open(path, "re");
}

File on_descriptor(int fd, bool writes, std::int64_t offset) {
    {
        const CapturePause uncounted;  // the application's descriptor stood there
        posix::seek(fd, offset);
    }
    posix::Fd copy(::dup(fd));
    if (!copy.open()) posix::fail("open", errno);
    std::FILE* file = ::fdopen(copy.get(), writes ? "r+" : "r");
    if (file == nullptr) posix::fail("open", errno);
    (void)copy.release();
    return File(file);
}

}  // namespace wa::stdio
