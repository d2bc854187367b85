// Calls on files past the page cache (O_DIRECT). What a file system refuses is said in words.
#pragma once

#include <string>

#include "io/posix.hpp"

namespace wa::posix {

/// `flags` are those of open() but for O_DIRECT.
[[nodiscard]] Fd open_direct(const std::string& path, int flags);
/// As write_at() and read_at(), on a file that open_direct() has opened. Memory, sizes and offsets are
/// multiples of the blocks of the file system.
void write_direct(const Fd& fd, const std::byte* data, std::int64_t size, std::int64_t offset);
[[nodiscard]] std::int64_t read_direct(const Fd& fd, std::byte* data, std::int64_t size, std::int64_t offset);

}  // namespace wa::posix
