// A pseudo-random permutation of 0 … n-1 from a seed. Each value is computed from its index; none is stored.
#pragma once

#include <cstdint>

namespace wa {

/// A well-mixed 64-bit hash of a word (the finalizer of SplitMix64).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    return mix(mix(a) ^ b);
}

/// A four-round Feistel network on the smallest even number of bits that holds n. It is applied until the
/// value is below n.
class Permutation {
  public:
    Permutation(std::int64_t n, std::uint64_t key);
    [[nodiscard]] std::int64_t operator()(std::int64_t index) const;

  private:
    std::uint64_t n_;
    std::uint64_t key_;
    unsigned half_bits_;
};

}  // namespace wa
