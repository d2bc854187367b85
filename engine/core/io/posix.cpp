#include "io/posix.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "errors.hpp"

namespace wa::posix {
namespace {

std::size_t page_bytes() {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void fail(const char* operation, int error) {
    throw CallFailed(operation, std::strerror(error));
}

Fd& Fd::operator=(Fd&& other) noexcept {
    if (this != &other) {
        reset();
        fd_ = other.release();
    }
    return *this;
}

void Fd::close() {
    const int fd = release();
    // After EINTR, Linux has already freed the descriptor; a second close could hit another file.
    if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) fail("close", errno);
}

void Fd::reset() noexcept {
    if (fd_ >= 0) ::close(release());
}

int Fd::release() noexcept {
    return std::exchange(fd_, -1);
}

MappedPage::~MappedPage() {
    if (place_ != nullptr) ::munmap(place_, page_bytes());
}

void MappedPage::map(int fd) {
    unmap();
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0) fail("fcntl", errno);
    const int protection = (flags & O_ACCMODE) == O_RDONLY ? PROT_READ : PROT_READ | PROT_WRITE;
    void* place = ::mmap(nullptr, page_bytes(), protection, MAP_SHARED, fd, 0);
    if (place == MAP_FAILED && errno == ENODEV)
        throw CallFailed("mmap",
                         "the file system maps no files into memory: leave out `maps`, or use another");
    if (place == MAP_FAILED) fail("mmap", errno);
    place_ = place;
}

void MappedPage::unmap() {
    void* place = std::exchange(place_, nullptr);
    if (place != nullptr && ::munmap(place, page_bytes()) != 0) fail("munmap", errno);
}

Fd open(const std::string& path, int flags) {
    constexpr mode_t mode = 0644;
    int fd = -1;
    do {
        fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) fail("open", errno);
    return Fd(fd);
}

void write_at(int fd, const std::byte* data, std::int64_t size, std::int64_t offset) {
    do {
        const ssize_t moved = ::pwrite(fd, data, static_cast<std::size_t>(size), offset);
        if (moved < 0) {
            if (errno == EINTR) continue;
            fail("write", errno);
        }
        if (moved == 0 && size > 0) fail("write", ENOSPC);
        data += moved;
        size -= moved;
        offset += moved;
    } while (size > 0);
}

std::int64_t read_at(int fd, std::byte* data, std::int64_t size, std::int64_t offset) {
    std::int64_t done = 0;
    do {
        const ssize_t moved = ::pread(fd, data + done, static_cast<std::size_t>(size - done), offset + done);
        if (moved < 0) {
            if (errno == EINTR) continue;
            fail("read", errno);
        }
        if (moved == 0) break;
        done += moved;
    } while (done < size);
    return done;
}

void seek(int fd, std::int64_t offset) {
    if (::lseek(fd, offset, SEEK_SET) < 0) fail("seek", errno);
}

void sync(int fd) {
    int result = 0;
    do {
        result = ::fsync(fd);
    } while (result != 0 && errno == EINTR);
    // EINVAL means that the file system has nothing to sync to.
    if (result != 0 && errno != EINVAL) fail("fsync", errno);
}

/// The files of some libraries are directories.
static std::int64_t size_of_folder(const std::string& path) {
    std::int64_t size = 0;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator at(path, error), end; at != end; at.increment(error)) {
        if (error) break;
        if (at->is_regular_file(error)) size += static_cast<std::int64_t>(at->file_size(error));
    }
    if (error) fail("stat", error.value());
    return size;
}

std::optional<std::int64_t> size_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0)
        return S_ISDIR(status.st_mode) ? size_of_folder(path) : status.st_size;
    if (errno == ENOENT) return std::nullopt;
    fail("stat", errno);
}

std::int64_t bytes_without_space(const std::string& path) {
    struct stat status {};
    struct statvfs system {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
    constexpr std::int64_t unit_of_blocks = 512;
    const std::int64_t holes = status.st_size - status.st_blocks * unit_of_blocks;
    if (holes <= 0 || ::statvfs(path.c_str(), &system) != 0) return 0;
    const auto left = static_cast<std::int64_t>(system.f_bavail * system.f_frsize);
    return holes > left ? holes : 0;
}

void rename(const std::string& from, const std::string& to) {
    if (std::rename(from.c_str(), to.c_str()) != 0 && errno != ENOENT) fail("rename", errno);
}

void make_folder(const std::string& path) {
    if (::mkdir(path.c_str(), 0777) == 0) return;
    const int error = errno;
    struct stat found {};
    if (error != EEXIST || ::lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode))
        fail("mkdir", error);
}

void remove(const std::string& path) {
    if (::unlink(path.c_str()) == 0 || errno == ENOENT) return;
    if (errno != EISDIR) fail("delete", errno);
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (error) fail("delete", error.value());
}

void drop_pages(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    // Only clean pages can be dropped, so dirty ones are written first.
    if (::fsync(fd) == 0) (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
}

bool is_cached(const std::string& path) {
    constexpr std::size_t window = std::size_t{1} << 30;
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file.open() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return true;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> resident;
    for (std::size_t at = 0; at < static_cast<std::size_t>(status.st_size); at += window) {
        const std::size_t size = std::min(window, static_cast<std::size_t>(status.st_size) - at);
        void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), static_cast<off_t>(at));
        if (mapped == MAP_FAILED) return true;
        resident.assign((size + page - 1) / page, 1);
        const bool known = ::mincore(mapped, size, resident.data()) == 0;
        ::munmap(mapped, size);
        const auto is_there = [](unsigned char bits) { return (bits & 1U) != 0; };
        if (!known || std::any_of(resident.begin(), resident.end(), is_there)) return true;
    }
    return false;
}

}  // namespace wa::posix
