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

Ring::Ring(std::int64_t period, std::int64_t reach) {
    const std::int64_t mapped = (reach + lead + period - 1) / period * period;
    const posix::Fd memory(::memfd_create("workalike-payload", MFD_CLOEXEC));
    if (!memory.open() || ::ftruncate(memory.get(), period) != 0) no_memory();
    void* whole = ::mmap(nullptr, static_cast<std::size_t>(mapped), PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (whole == MAP_FAILED) no_memory();
    data_ = static_cast<std::byte*>(whole) + lead;
    size_ = mapped - lead;
    const int populate = mapped <= prefault_at_most ? MAP_POPULATE : 0;
    for (std::int64_t at = 0; at < mapped; at += period) {
        const void* part = ::mmap(static_cast<std::byte*>(whole) + at, static_cast<std::size_t>(period),
                                  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | populate, memory.get(), 0);
        if (part == MAP_FAILED) {
            unmap();
            no_memory();
        }
    }
}

Ring::~Ring() {
    unmap();
}

void Ring::unmap() {
    if (data_ != nullptr) ::munmap(data_ - lead, static_cast<std::size_t>(size_ + lead));
}

Ring::Ring(Ring&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Ring& Ring::operator=(Ring&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

}  // namespace wa
