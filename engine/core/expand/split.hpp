// How a total is divided among n: each share is T div n, and the first T mod n shares are larger by 1. All
// formulas are closed and use 64 bits.
#pragma once

#include <algorithm>
#include <cstdint>

namespace wa {

[[nodiscard]] constexpr std::int64_t share_of(std::int64_t total, std::int64_t n, std::int64_t index) {
    return total / n + (index < total % n ? 1 : 0);
}

/// The sum of the shares before `index`; index may be n.
[[nodiscard]] constexpr std::int64_t shares_before(std::int64_t total, std::int64_t n, std::int64_t index) {
    return total / n * index + std::min(index, total % n);
}

}  // namespace wa
