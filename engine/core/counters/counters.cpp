#include "counters/counters.hpp"

#include <algorithm>

#include "counting/access_order.h"
#include "counting/size_bins.h"

namespace wa {
namespace {

constexpr std::array<std::string_view, kinds> kind_names{"open",  "close", "stat",  "seek", "read",
                                                         "write", "flush", "fsync", "map"};

void count_order(DirectionCounters& counters, enum access_order order, std::int64_t times) {
    if (order != ACCESS_BACK) counters.sequential += times;
    if (order == ACCESS_CONSECUTIVE) counters.consecutive += times;
}

/// Operations that move nothing at offset + step, offset + 2 step, ...: the last byte stays where it is.
void count_empty_run(DirectionCounters& counters, std::int64_t last, std::int64_t offset, std::int64_t count,
                     std::int64_t step) {
    if (step == 0) return count_order(counters, access_order(last, offset), count);
    const std::int64_t back = offset > last ? 0 : std::min(count, (last - offset) / step);
    if (back == count) return;
    count_order(counters, access_order(last, offset + (back + 1) * step), 1);
    counters.sequential += count - back - 1;
}

}  // namespace

std::string_view kind_name(Kind kind) {
    return kind_names[static_cast<std::size_t>(kind)];
}

std::size_t size_bin(std::int64_t size) {
    return static_cast<std::size_t>(::size_bin(size));
}

void Counters::note(AccessState& state, Direction direction, std::int64_t offset, std::int64_t size,
                    bool collective) {
    DirectionCounters& counters = transfers(direction);
    std::int64_t& last = state.last_byte[static_cast<std::size_t>(direction)];
    ++counters.operations;
    if (collective) ++counters.collective;
    counters.bytes += size;
    ++counters.sizes[size_bin(size)];
    count_order(counters, access_order(last, offset), 1);
    last = last_byte_after(last, offset, size);
    counters.max_byte = std::max(counters.max_byte, last);
}

void Counters::note_run(AccessState& state, const Transfer& first, bool collective, std::int64_t count,
                        std::int64_t step) {
    const auto [direction, offset, size] = first;
    DirectionCounters& counters = transfers(direction);
    std::int64_t& last = state.last_byte[static_cast<std::size_t>(direction)];
    counters.operations += count;
    if (collective) counters.collective += count;
    counters.bytes += size * count;
    counters.sizes[size_bin(size)] += count;
    if (size == 0) return count_empty_run(counters, last, offset, count, step);
    count_order(counters, access_order(last, offset + step), count);
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
    maps += other.maps * times;
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
