#include "expand/permutation.hpp"

#include <bit>

namespace wa {

Permutation::Permutation(std::int64_t n, std::uint64_t key) : n_(static_cast<std::uint64_t>(n)), key_(key) {
    const unsigned bits = n > 1 ? static_cast<unsigned>(std::bit_width(n_ - 1)) : 1U;
    half_bits_ = (bits + 1) / 2;
}

std::int64_t Permutation::operator()(std::int64_t index) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    auto value = static_cast<std::uint64_t>(index);
    // The network permutes a domain at most four times as large as n, so a few steps on average return a
    // value below n.
    do {
        std::uint64_t left = value >> half_bits_;
        std::uint64_t right = value & mask;
        for (std::uint64_t round = 0; round < 4; ++round) {
            const std::uint64_t next = left ^ (mix(key_ + round, right) & mask);
            left = right;
            right = next;
        }
        value = (left << half_bits_) | right;
    } while (value >= n_);
    return static_cast<std::int64_t>(value);
}

}  // namespace wa
