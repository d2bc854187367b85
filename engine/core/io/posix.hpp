// Thin checked wrappers of POSIX calls. Each raises CallFailed with the system's own text of the error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace wa::posix {

/// An open descriptor. The destructor closes it unless close() was called.
class Fd {
  public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    ~Fd() { reset(); }
    Fd(Fd&& other) noexcept : fd_(other.release()) {}
    Fd& operator=(Fd&& other) noexcept;
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool open() const { return fd_ >= 0; }
    /// Closes with a check: close() may report what an earlier write could not.
    void close();
    void reset() noexcept;
    [[nodiscard]] int release() noexcept;

  private:
    int fd_ = -1;
};

/// The first page of a file in memory. Nobody touches it, so the file may be shorter, or empty.
class MappedPage {
  public:
    MappedPage() = default;
    ~MappedPage();
    MappedPage(const MappedPage&) = delete;
    MappedPage& operator=(const MappedPage&) = delete;
    MappedPage(MappedPage&&) = delete;
    MappedPage& operator=(MappedPage&&) = delete;

    /// Maps the page of an open file, shared, to be read and, where the file is open for that, written. What
    /// was mapped before is unmapped: any number of maps takes one place in memory.
    void map(int fd);
    void unmap();

  private:
    void* place_ = nullptr;
};

[[noreturn]] void fail(const char* operation, int error);

[[nodiscard]] Fd open(const std::string& path, int flags);
/// Writes all bytes, and continues after short writes.
void write_at(int fd, const std::byte* data, std::int64_t size, std::int64_t offset);
/// Reads up to `size` bytes; fewer only at the end of the file.
[[nodiscard]] std::int64_t read_at(int fd, std::byte* data, std::int64_t size, std::int64_t offset);
void seek(int fd, std::int64_t offset);
void sync(int fd);
/// The size of a file in bytes; empty if the file does not exist.
[[nodiscard]] std::optional<std::int64_t> size_of(const std::string& path);
/// The bytes of a file that have no blocks on disk, where they would not fit into the space that is left;
/// else 0. A library may give a file its length although its data did not fit.
[[nodiscard]] std::int64_t bytes_without_space(const std::string& path);
/// Makes a folder if it is not there; a link to one is refused.
void make_folder(const std::string& path);
/// Renames a file if it exists.
void rename(const std::string& from, const std::string& to);
/// Removes a file if it exists.
void remove(const std::string& path);
/// Writes the dirty pages of a file and asks the kernel to drop them all; does nothing where that is not
/// allowed.
void drop_pages(const std::string& path);
/// Whether pages of a file are in the page cache; true where the kernel does not tell.
[[nodiscard]] bool is_cached(const std::string& path);

}  // namespace wa::posix
