#include "data/ring.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "errors.hpp"
#include "io/posix.hpp"

namespace wa {
namespace {

/// Above this size, page tables are filled when the pages are touched.
constexpr std::int64_t prefault_at_most = std::int64_t{256} << 20;

[[noreturn]] void no_memory() {
    throw UsageError(fmt::format("memory for the payload cannot be mapped: {}", std::strerror(errno)),
                     "use smaller operations or raise the limit");
}

}  // namespace

Ring::Ring(std::int64_t period, std::int64_t reach) : size_((reach + period - 1) / period * period) {
    const posix::Fd memory(::memfd_create("workalike-payload", MFD_CLOEXEC));
    if (!memory.open() || ::ftruncate(memory.get(), period) != 0) no_memory();
    void* whole = ::mmap(nullptr, static_cast<std::size_t>(size_), PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (whole == MAP_FAILED) no_memory();
    data_ = static_cast<std::byte*>(whole);
    const int populate = size_ <= prefault_at_most ? MAP_POPULATE : 0;
    for (std::int64_t at = 0; at < size_; at += period) {
        const void* part = ::mmap(data_ + at, static_cast<std::size_t>(period), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_FIXED | populate, memory.get(), 0);
        if (part == MAP_FAILED) no_memory();
    }
}

Ring::~Ring() {
    if (data_ != nullptr) ::munmap(data_, static_cast<std::size_t>(size_));
}

Ring::Ring(Ring&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Ring& Ring::operator=(Ring&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

}  // namespace wa
