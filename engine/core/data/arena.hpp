// The payload: pseudo-random bytes from a seed, made once. The byte at offset o of a file in a dump is
// arena[(phase(file, dump) + o) mod period]. Overlapping writes of a dump therefore agree, and a check needs
// no list of operations.
//
// A long operation has memory of its own size, as in an application: bytes of one period would be in the
// caches of the processor, and a copy from there takes half the time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/ring.hpp"

namespace wa {

/// Where a file's bytes start in the arena, for one dump.
[[nodiscard]] std::int64_t payload_phase(std::uint64_t seed, std::int64_t family, std::int64_t file,
                                         std::int64_t part, std::int64_t dump);
/// The phase of a file of plain bytes that the run prepares. It is the same for all dumps that read the file.
[[nodiscard]] inline std::int64_t prepared_phase(std::uint64_t seed, std::int64_t family, std::int64_t file,
                                                 std::int64_t part) {
    return payload_phase(seed, family, file, part, -1);
}

/// A phase near another one, with which data at the beginning of a page of the file begin a page of memory.
[[nodiscard]] std::int64_t page_phase(std::int64_t phase);

class Arena {
  public:
    /// 257 pages: a prime, so that data misplaced by a power of two never matches.
    static constexpr std::int64_t period = std::int64_t{257} * 4096;

    Arena() = default;
    /// `longest` is the size of the largest operation, `reach` the length that must be contiguous.
    Arena(std::uint64_t seed, double compressibility, std::int64_t longest, std::int64_t reach);

    /// Bytes of memory for operations of at most `longest` bytes: whole periods, as long as the operation,
    /// but at most 32.
    [[nodiscard]] static std::int64_t memory_for(std::int64_t longest);

    /// The bytes that belong at `offset`, contiguous for reach() bytes.
    [[nodiscard]] const std::byte* at(std::int64_t phase, std::int64_t offset) const {
        return ring_.data() + (phase + offset) % memory_;
    }
    [[nodiscard]] std::int64_t reach() const { return ring_.size() - memory_; }

  private:
    std::int64_t memory_ = period;
    Ring ring_;
};

}  // namespace wa
