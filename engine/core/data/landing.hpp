// Memory that receives what is read. A buffer lies as one of an application would: where a copy begins in a
// page makes it up to three times slower on some processors.
#pragma once

#include <cstdint>

#include "data/ring.hpp"

namespace wa {

class Landing {
  public:
    static constexpr std::int64_t page = 4096;
    /// From this size on, malloc maps a block of its own, which begins a page with malloc's 16 bytes.
    static constexpr std::int64_t mapped_from = std::int64_t{128} << 10;
    /// Where the first small block of a heap lies in its page. None lies at the beginning, where the heap's
    /// own data are.
    static constexpr std::int64_t first_of_heap = 672;

    Landing() = default;
    /// Raises UsageError.
    Landing(std::int64_t period, std::int64_t reach) : ring_(period, reach + page) {}

    /// Where the buffer of an operation of `size` bytes begins, in bytes after a page boundary. `alignment`
    /// is a power of two, of which those of a page and more are the same, or 0 for a process that has run for
    /// long and has its memory from malloc.
    [[nodiscard]] static std::int64_t place(std::int64_t size, std::int64_t alignment) {
        if (alignment >= page) return 0;
        if (alignment > 0) return (first_of_heap + alignment - 1) / alignment * alignment;
        return size < mapped_from ? first_of_heap : Ring::lead;
    }

    [[nodiscard]] std::byte* at(std::int64_t size, std::int64_t alignment) const {
        return ring_.data() - Ring::lead + place(size, alignment);
    }
    /// The bytes that are contiguous from any place.
    [[nodiscard]] std::int64_t size() const { return ring_.size() - page; }

  private:
    Ring ring_;
};

}  // namespace wa
