// How the operations of a stream's entries are divided among ranks and files.
#pragma once

#include <cstdint>

#include "expand/place.hpp"
#include "expand/split.hpp"
#include "expand/wide.hpp"

namespace wa {

/// The operations of an entry within those of its stream. In a single file the running total is split among
/// the ranks: over all entries, the numbers of operations of any two ranks then differ by at most 1. No rank
/// has to join a collective call without data. With several files each entry is split by itself, so that the
/// layout of a file does not depend on other files.
struct Span {
    std::int64_t before = 0;  // operations of all earlier entries
    std::int64_t after = 0;
    [[nodiscard]] std::int64_t total() const { return after - before; }
    [[nodiscard]] std::int64_t share(const Place& place, std::int64_t index) const {
        return share_of(after, place.all, index) - share_of(before, place.all, index);
    }
    [[nodiscard]] std::int64_t shares_below(const Place& place, std::int64_t index) const {
        return shares_before(after, place.all, index) - shares_before(before, place.all, index);
    }
};

[[nodiscard]] inline bool one_file(const Place& place) {
    return place.all == place.here;
}

/// Calls visit(entry number, entry, span) for each entry.
template <typename F>
void each_entry(const Stream& stream, const Place& place, F&& visit) {
    Span span;
    for (std::size_t e = 0; e < stream.entries.size(); ++e) {
        span.before = one_file(place) ? span.after : 0;
        span.after = span.before + stream.entries[e].operations;
        visit(e, stream.entries[e], span);
    }
}

/// The number of operations of an entry in this file.
[[nodiscard]] inline std::int64_t count_here(const Span& span, const Place& place) {
    return span.shares_below(place, place.first + place.here) - span.shares_below(place, place.first);
}

/// The largest number of operations of an entry that any rank of this file has.
[[nodiscard]] inline std::int64_t most_of_a_rank(const Span& span, const Place& place) {
    if (place.here <= 0) return 0;
    if (!one_file(place)) return span.share(place, place.first);  // shares never grow with the rank
    return span.total() / place.all + (span.total() % place.all > 0 ? 1 : 0);
}

/// The distance from one operation of a rank to its next, where operations take turns among the ranks.
[[nodiscard]] inline std::int64_t round_of(const Stream& stream, const Entry& entry, const Place& place) {
    return stream.stride > 0 ? stream.stride : place.here * entry.size;
}

/// The bytes that an entry occupies in the file when entries follow each other.
[[nodiscard]] inline Wide entry_length(const Stream& stream, const Entry& entry, const Span& span,
                                       const Place& place) {
    if (stream.pattern == Pattern::interleaved && stream.stride > 0) {
        const Wide rounds = most_of_a_rank(span, place);
        return rounds > 0 ? (rounds - 1) * stream.stride + Wide{place.here} * entry.size : 0;
    }
    if (stream.pieces > 1) return Wide{most_of_a_rank(span, place)} * place.here * entry.size;
    switch (stream.pattern) {
        case Pattern::same:
            return entry.operations > 0 ? entry.size : 0;
        case Pattern::strided:
            return Wide{count_here(span, place)} * stream.stride;
        case Pattern::replicated:
            return Wide{most_of_a_rank(span, place)} * entry.size;
        default:
            return Wide{count_here(span, place)} * entry.size;
    }
}

}  // namespace wa
