// Thin checked wrappers of buffered files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace wa::stdio {

class File {
  public:
    File() = default;
    explicit File(std::FILE* file) : file_(file) {}
    ~File();
    File(File&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
    File& operator=(File&&) = delete;
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void write(const std::byte* data, std::int64_t size);
    [[nodiscard]] std::int64_t read(std::byte* data, std::int64_t size);
    void seek(std::int64_t offset);
    void flush();
    [[nodiscard]] int descriptor() const;
    void close();

  private:
    std::FILE* file_ = nullptr;
};

/// Opens for reading and writing. With `make`, a missing file is made; of two processes that try, one makes
/// it.
[[nodiscard]] File open_update(const std::string& path, bool make);
/// Opens for reading and writing, and empties the file, which need not exist.
[[nodiscard]] File open_emptied(const std::string& path);
[[nodiscard]] File open_new(const std::string& path);
[[nodiscard]] File open_read(const std::string& path);
/// A stream on a copy of an open descriptor, which begins at `offset`.
[[nodiscard]] File on_descriptor(int fd, bool writes, std::int64_t offset);

}  // namespace wa::stdio
