#include "expand/ranges.hpp"

#include <algorithm>
#include <array>

#include "expand/entry_span.hpp"

namespace wa {
namespace {

void add(std::vector<RangeRow>& rows, RangeRow row) {
    if (row.count <= 0 || row.size <= 0) return;
    if (row.step <= row.size) row = {row.first, row.end() - row.first, 0, 1};
    rows.push_back(row);
}

/// An entry with pieces: blocks to which each rank has given an operation, and a last one in which only some
/// ranks have one.
void add_pieces(std::vector<RangeRow>& rows, Wide at, const Stream& stream, const Entry& entry,
                const Span& span, const Place& place) {
    const std::int64_t most = most_of_a_rank(span, place);
    const std::int64_t piece = entry.size / stream.pieces;
    const Wide block = Wide{place.here} * entry.size;
    const bool even = count_here(span, place) == Wide{most} * place.here;
    const std::int64_t full = even ? most : most - 1;
    add(rows, {at, full * block, 0, 1});
    if (even) return;
    std::array<std::int64_t, 4> breaks{0, span.before % place.all - place.first,
                                       span.after % place.all - place.first, place.here};
    for (std::int64_t& local : breaks) local = std::clamp<std::int64_t>(local, 0, place.here);
    std::sort(breaks.begin(), breaks.end());
    for (std::size_t i = 0; i + 1 < breaks.size(); ++i) {
        const std::int64_t ranks = breaks[i + 1] - breaks[i];
        if (ranks == 0 || span.share(place, place.first + breaks[i]) != most) continue;
        add(rows, {at + full * block + Wide{breaks[i]} * piece, Wide{ranks} * piece, Wide{place.here} * piece,
                   stream.pieces});
    }
}

}  // namespace

std::vector<RangeRow> ranges_of(const Stream& stream, const Place& place) {
    std::vector<RangeRow> rows;
    if (stream.pattern == Pattern::replicated) {
        add(rows, {stream.base, data_end(stream, place) - stream.base, 0, 1});
        return rows;
    }
    Wide at = stream.base;
    each_entry(stream, place, [&](std::size_t, const Entry& entry, const Span& span) {
        const std::int64_t count = count_here(span, place);
        const Wide length = entry_length(stream, entry, span, place);
        if (stream.pattern == Pattern::interleaved && stream.stride > 0) {
            add(rows, {at, Wide{place.here} * entry.size, stream.stride, most_of_a_rank(span, place)});
        } else if (stream.pieces > 1) {
            add_pieces(rows, at, stream, entry, span, place);
        } else if (stream.pattern == Pattern::strided) {
            add(rows, {at, entry.size, stream.stride, count});
        } else {
            add(rows, {at, count > 0 ? length : 0, 0, 1});
        }
        at += length;
    });
    return rows;
}

}  // namespace wa
