#include "counters/counters.hpp"

#include <algorithm>

namespace wa {
namespace {

constexpr std::array<std::int64_t, size_bins - 1> bin_ends{100,     1024,     10240,     102400,    1048576,
                                                           4194304, 10485760, 104857600, 1073741824};

}  // namespace

std::size_t size_bin(std::int64_t size) {
    std::size_t bin = 0;
    while (bin < bin_ends.size() && size > bin_ends[bin]) ++bin;
    return bin;
}

void Counters::note(AccessState& state, Direction direction, std::int64_t offset, std::int64_t size,
                    bool collective) {
    DirectionCounters& counters = of(direction);
    std::int64_t& last = state.last_byte[static_cast<std::size_t>(direction)];
    ++counters.operations;
    if (collective) ++counters.collective;
    counters.bytes += size;
    ++counters.sizes[size_bin(size)];
    // A file's first access at offset 0 is neither: the last byte starts at 0, as in Darshan.
    if (offset > last) {
        ++counters.sequential;
        if (offset == last + 1) ++counters.consecutive;
    }
    last = offset + size - 1;
    counters.max_byte = std::max(counters.max_byte, last);
}

void Counters::note_join(Direction direction) {
    DirectionCounters& counters = of(direction);
    ++counters.operations;
    ++counters.collective;
    ++counters.sizes[0];
}

void Counters::merge(const Counters& other) {
    opens += other.opens;
    stats += other.stats;
    seeks += other.seeks;
    fsyncs += other.fsyncs;
    flushes += other.flushes;
    for (std::size_t d = 0; d < by_direction.size(); ++d) {
        DirectionCounters& mine = by_direction[d];
        const DirectionCounters& theirs = other.by_direction[d];
        mine.operations += theirs.operations;
        mine.collective += theirs.collective;
        mine.bytes += theirs.bytes;
        mine.max_byte = std::max(mine.max_byte, theirs.max_byte);
        mine.sequential += theirs.sequential;
        mine.consecutive += theirs.consecutive;
        for (std::size_t b = 0; b < size_bins; ++b) mine.sizes[b] += theirs.sizes[b];
    }
}

}  // namespace wa
