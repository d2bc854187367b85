// The payload: seeded pseudo-random bytes made once. The byte at offset o of a file in a dump is
// arena[(phase(file, dump) + o) mod period], so writes that overlap within a dump agree, and a check needs to
// know nothing about the operations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/ring.hpp"

namespace wa {

/// Where a file's bytes start in the arena, for one dump.
[[nodiscard]] std::int64_t payload_phase(std::uint64_t seed, std::int64_t family, std::int64_t file,
                                         std::int64_t part, std::int64_t dump);
/// The same of a file of plain bytes that the run prepares, whichever dumps read it.
[[nodiscard]] inline std::int64_t prepared_phase(std::uint64_t seed, std::int64_t family, std::int64_t file,
                                                 std::int64_t part) {
    return payload_phase(seed, family, file, part, -1);
}

class Arena {
  public:
    /// 257 pages: a prime number, so that data misplaced by a power of two never agrees.
    static constexpr std::int64_t period = std::int64_t{257} * 4096;

    Arena() = default;
    /// `longest`: the largest operation that is to be had in one piece.
    Arena(std::uint64_t seed, double compressibility, std::int64_t longest);

    /// What belongs at `offset`, contiguous for reach() bytes.
    [[nodiscard]] const std::byte* at(std::int64_t phase, std::int64_t offset) const {
        return ring_.data() + (phase + offset) % period;
    }
    [[nodiscard]] std::int64_t reach() const { return ring_.size() - period; }

  private:
    Ring ring_;
};

}  // namespace wa
