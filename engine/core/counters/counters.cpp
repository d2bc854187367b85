#include "counters/counters.hpp"

#include <algorithm>

namespace wa {
namespace {

constexpr std::array<std::int64_t, size_bins - 1> bin_ends{100,     1024,     10240,     102400,    1048576,
                                                           4194304, 10485760, 104857600, 1073741824};

constexpr std::array<std::string_view, kinds> kind_names{"open", "close", "stat",  "seek",
                                                         "read", "write", "flush", "fsync"};

}  // namespace

std::string_view kind_name(Kind kind) {
    return kind_names[static_cast<std::size_t>(kind)];
}

std::size_t size_bin(std::int64_t size) {
    std::size_t bin = 0;
    while (bin < bin_ends.size() && size > bin_ends[bin]) ++bin;
    return bin;
}

void Counters::note(AccessState& state, Direction direction, std::int64_t offset, std::int64_t size,
                    bool collective) {
    DirectionCounters& counters = transfers(direction);
    std::int64_t& last = state.last_byte[static_cast<std::size_t>(direction)];
    ++counters.operations;
    if (collective) ++counters.collective;
    counters.bytes += size;
    ++counters.sizes[size_bin(size)];
    // A first access at offset 0 is neither sequential nor consecutive: the last byte starts at 0, as in
    // Darshan.
    if (offset > last) {
        ++counters.sequential;
        if (offset == last + 1) ++counters.consecutive;
    }
    last = offset + size - 1;
    counters.max_byte = std::max(counters.max_byte, last);
}

void Counters::note_run(AccessState& state, Direction direction, std::int64_t size, bool collective,
                        std::int64_t count, std::int64_t step) {
    DirectionCounters& counters = transfers(direction);
    std::int64_t& last = state.last_byte[static_cast<std::size_t>(direction)];
    counters.operations += count;
    if (collective) counters.collective += count;
    counters.bytes += size * count;
    counters.sizes[size_bin(size)] += count;
    if (step >= size) {
        counters.sequential += count;
        if (step == size) counters.consecutive += count;
    }
    last += step * count;
    counters.max_byte = std::max(counters.max_byte, last);
}

void Counters::note_join(Direction direction) {
    DirectionCounters& counters = transfers(direction);
    ++counters.operations;
    ++counters.collective;
    ++counters.sizes[0];
}

void Counters::merge(const Counters& other, std::int64_t times) {
    opens += other.opens * times;
    stats += other.stats * times;
    seeks += other.seeks * times;
    fsyncs += other.fsyncs * times;
    flushes += other.flushes * times;
    for (std::size_t d = 0; d < by_direction.size(); ++d) {
        DirectionCounters& sum = by_direction[d];
        const DirectionCounters& added = other.by_direction[d];
        sum.operations += added.operations * times;
        sum.collective += added.collective * times;
        sum.bytes += added.bytes * times;
        sum.max_byte = std::max(sum.max_byte, added.max_byte);
        sum.sequential += added.sequential * times;
        sum.consecutive += added.consecutive * times;
        for (std::size_t b = 0; b < size_bins; ++b) sum.sizes[b] += added.sizes[b] * times;
    }
}

}  // namespace wa
