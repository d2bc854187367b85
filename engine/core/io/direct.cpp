#include "io/direct.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "errors.hpp"
#include "io/file_system.hpp"

namespace wa::posix {
namespace {

bool is_invalid(const CallFailed& error) {
    return std::strcmp(error.what(), std::strerror(EINVAL)) == 0;
}

/// Blocks that are larger than the plan's sizes are the one reason why an aligned call is invalid.
[[noreturn]] void explain(const CallFailed& error, const Fd& fd, std::int64_t size, std::int64_t offset) {
    if (!is_invalid(error)) throw error;
    const std::string system = file_system_of(fmt::format("/proc/self/fd/{}", fd.get()));
    throw CallFailed(
        error.operation,
        fmt::format("{} refuses {} bytes at byte {} with O_DIRECT ({}): its blocks are larger; use "
                    "multiples of 4096, leave out `direct`, or choose another directory",
                    system, size, offset, error.what()));
}

}  // namespace

Fd open_direct(const std::string& path, int flags) {
    try {
        return open(path, flags | O_DIRECT);
    } catch (const CallFailed& error) {
        if (!is_invalid(error)) throw;
        const std::string folder = path.substr(0, path.rfind('/'));
        throw CallFailed("open",
                         fmt::format("{} takes no O_DIRECT ({}): leave out `direct`, or choose another "
                                     "directory",
                                     file_system_of(folder), error.what()));
    }
}

void write_direct(const Fd& fd, const std::byte* data, std::int64_t size, std::int64_t offset) {
    try {
        write_at(fd.get(), data, size, offset);
    } catch (const CallFailed& error) {
        explain(error, fd, size, offset);
    }
}

std::int64_t read_direct(const Fd& fd, std::byte* data, std::int64_t size, std::int64_t offset) {
    try {
        return read_at(fd.get(), data, size, offset);
    } catch (const CallFailed& error) {
        explain(error, fd, size, offset);
    }
}

}  // namespace wa::posix
