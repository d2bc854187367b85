#include "data/arena.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "expand/permutation.hpp"

namespace wa {
namespace {

constexpr std::int64_t block = 4096;
constexpr std::int64_t grain = 64;         // phases are multiples of a cache line
constexpr std::int64_t most_periods = 32;  // what a rank can afford, and more than its share of the caches

}  // namespace

std::int64_t payload_phase(std::uint64_t seed, std::int64_t family, std::int64_t file, std::int64_t part,
                           std::int64_t dump) {
    const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    const std::uint64_t hash = mix(mix(mix(mix(seed, word(family)), word(file)), word(part)), word(dump));
    return static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(Arena::period / grain)) * grain;
}

std::int64_t page_phase(std::int64_t phase) {
    return phase / block * block + block - Ring::lead;
}

std::int64_t Arena::memory_for(std::int64_t longest) {
    return period * std::clamp<std::int64_t>((longest + period - 1) / period, 1, most_periods);
}

Arena::Arena(std::uint64_t seed, double compressibility, std::int64_t longest, std::int64_t reach)
    : memory_(memory_for(longest)), ring_(memory_, reach + memory_) {
    std::byte* bytes = ring_.data();
    for (std::int64_t at = 0; at < period; at += 8) {
        const std::uint64_t word = mix(seed, static_cast<std::uint64_t>(at));
        std::memcpy(bytes + at, &word, sizeof word);
    }
    // Each block begins with zeros. Its random bytes differ by one from block to block, so that their sum is
    // exact: where data compress well, a byte of each block would be a large step.
    constexpr std::int64_t blocks = period / block;
    const std::int64_t random =
        std::llround((1 - std::clamp(compressibility, 0.0, 1.0)) * static_cast<double>(period));
    for (std::int64_t i = 0; i < blocks; ++i) {
        const std::int64_t own = random * (i + 1) / blocks - random * i / blocks;
        std::memset(bytes + i * block, 0, static_cast<std::size_t>(block - own));
    }
    for (std::int64_t at = period; at < memory_; at += period)
        std::memcpy(bytes + at, bytes, static_cast<std::size_t>(period));
}

}  // namespace wa
