#include "expand/stream.hpp"

#include <algorithm>

#include "expand/entry_span.hpp"
#include "plan/operation_table.hpp"

namespace wa {
namespace {

/// The last rank of this file, counted from its first, that has as many operations of an entry as any.
std::int64_t last_with_most(const Span& span, const Place& place) {
    const std::int64_t most = most_of_a_rank(span, place);
    std::int64_t last = 0;
    // Shares change where the running totals have wrapped around.
    for (const std::int64_t next :
         {span.before % place.all, span.after % place.all, place.first + place.here}) {
        const std::int64_t index = next - 1;
        const bool here = index >= place.first && index < place.first + place.here;
        if (here && span.share(place, index) == most) last = std::max(last, index - place.first);
    }
    return last;
}

/// One past the largest byte of the entries that `counts` accepts.
template <typename F>
Wide end_of_entries(const Stream& stream, const Place& place, F&& counts) {
    Wide end = 0;
    Wide base = stream.base;
    each_entry(stream, place, [&](std::size_t, const Entry& entry, const Span& span) {
        base += entry_length(stream, entry, span, place);
        if (count_here(span, place) == 0 || !counts(entry)) return;
        Wide unused = 0;  // at the end of what the entry occupies
        if (stream.pieces > 1) {
            unused = (place.here - 1 - last_with_most(span, place)) * Wide{entry.size / stream.pieces};
        } else if (stream.pattern == Pattern::strided) {
            unused = stream.stride - entry.size;
        }
        end = std::max(end, base - unused);
    });
    return end;
}

/// Up to this many entries, the bytes of the busiest rank are found exactly.
constexpr std::size_t most_entries = 64;

/// The bytes of the rank of this file that moves most. Shares change only where a running total has wrapped
/// around.
Wide most_bytes_of_a_rank(const Stream& stream, const Place& place) {
    std::vector<std::int64_t> ranks{place.first};
    each_entry(stream, place, [&](std::size_t, const Entry&, const Span& span) {
        ranks.push_back(span.before % place.all);
        ranks.push_back(span.after % place.all);
    });
    Wide most = 0;
    for (const std::int64_t index : ranks) {
        if (index < place.first || index >= place.first + place.here) continue;
        Wide bytes = 0;
        each_entry(stream, place, [&](std::size_t, const Entry& entry, const Span& span) {
            bytes += Wide{span.share(place, index)} * entry.size;
        });
        most = std::max(most, bytes);
    }
    return most;
}

}  // namespace

std::int64_t most_operations(const Stream& stream, const Place& place,
                             std::optional<std::size_t> only_entry) {
    std::int64_t most = 0;
    std::int64_t operations = 0;
    each_entry(stream, place, [&](std::size_t e, const Entry& entry, const Span& span) {
        if (only_entry && *only_entry != e) return;
        most += most_of_a_rank(span, place);
        operations += entry.operations;
    });
    return one_file(place) && !only_entry ? share_of(operations, place.all, 0) : most;
}

Wide stream_end(const Stream& stream, const Place& place) {
    if (stream.pattern == Pattern::table) return stream.rows ? stream.base + Wide{stream.rows->end()} : 0;
    return end_of_entries(stream, place, [](const Entry&) { return true; });
}

bool has_exact_end(const Stream& stream) {
    return stream.pattern != Pattern::replicated || stream.entries.size() <= most_entries;
}

Wide data_end(const Stream& stream, const Place& place) {
    if (stream.pattern == Pattern::replicated && has_exact_end(stream)) {
        const Wide longest = most_bytes_of_a_rank(stream, place);
        return longest > 0 ? stream.base + longest : 0;
    }
    return end_of_entries(stream, place, [](const Entry& entry) { return entry.size > 0; });
}

std::int64_t stream_count(const Stream& stream, const Place& place, std::int64_t acting_rank) {
    if (!place.active()) return 0;
    if (stream.pattern == Pattern::table) return stream.rows ? stream.rows->count_of(acting_rank) : 0;
    std::int64_t count = 0;
    each_entry(stream, place,
               [&](std::size_t, const Entry&, const Span& span) { count += span.share(place, place.index); });
    return count;
}

std::int64_t entry_base(const Stream& stream, const Place& place, std::size_t entry) {
    Wide base = stream.base;
    each_entry(stream, place, [&](std::size_t e, const Entry& item, const Span& span) {
        if (e < entry) base += entry_length(stream, item, span, place);
    });
    return static_cast<std::int64_t>(base);
}

StreamOperations::StreamOperations(const Stream& stream, const Place& place, std::int64_t base,
                                   std::int64_t acting_rank, std::uint64_t key, bool joins,
                                   std::optional<std::size_t> only_entry)
    : stream_(stream), base_(base + stream.base) {
    if (stream.pattern == Pattern::table) {
        if (place.active() && stream.rows) {
            table_rank_ = acting_rank;
            std::tie(row_, last_row_) = stream.rows->range_of(acting_rank);
        }
        if (joins && stream.collective && stream.rows) {
            const std::int64_t own = place.active() ? stream.rows->collective_of(acting_rank) : 0;
            joins_left_ = stream.rows->most_collective() - own;
        }
        return;
    }
    place_entries(place, base + stream.base, key, only_entry);
    if (joins && stream.collective) {
        // As many collective calls as the busiest rank has.
        joins_left_ = most_operations(stream, place, only_entry) - own_;
    }
    if (own_ == 0) {
        entries_.clear();
    } else if (stream.pattern == Pattern::random) {
        order_.emplace(own_, key);
    } else if (stream.mixed && entries_.size() > 1) {
        for (std::size_t e = 0; e < entries_.size(); ++e) {
            if (entries_[e].count > 0) heap_.push_back(e);
        }
    }
}

void StreamOperations::place_entries(const Place& place, std::int64_t base, std::uint64_t key,
                                     std::optional<std::size_t> only_entry) {
    const bool one_region = stream_.pattern == Pattern::contiguous || stream_.pattern == Pattern::random;
    std::int64_t at = base;  // the base of the entry
    std::int64_t region = base;
    entries_.reserve(stream_.entries.size());
    each_entry(stream_, place, [&](std::size_t e, const Entry& entry, const Span& span) {
        EntryState state;
        state.size = entry.size;
        const std::int64_t before =
            place.active() ? span.shares_below(place, place.index) - span.shares_below(place, place.first)
                           : 0;
        const bool wanted = !only_entry || *only_entry == e;
        state.count = place.active() && wanted ? span.share(place, place.index) : 0;
        if (stream_.pieces > 1) {
            const std::int64_t piece = entry.size / stream_.pieces;
            state.first = at + place.local() * piece;
            state.step = round_of(stream_, entry, place);
            if (wanted) piece_stride_ = place.here * piece;
        } else if (stream_.pattern == Pattern::interleaved || stream_.pattern == Pattern::shuffled) {
            // Round robin runs over all entries: the operations of the rank in earlier entries give the
            // position of the next.
            const std::int64_t turn =
                one_file(place) && place.active()
                    ? share_of(span.before, place.all, place.index) * place.all + place.index - span.before
                    : place.local();
            if (stream_.pattern == Pattern::shuffled) {
                state.first = at;
                state.step = place.here;
                state.turn = turn;
                state.places.emplace(count_here(span, place), mix(key, e));
            } else {
                state.first = at + turn * entry.size;
                state.step = round_of(stream_, entry, place);
            }
        } else if (stream_.pattern == Pattern::strided) {
            state.first = at + before * stream_.stride;
            state.step = stream_.stride;
        } else {
            state.first = at;
            state.step = stream_.pattern == Pattern::same ? 0 : entry.size;
        }
        region += before * entry.size;
        at += static_cast<std::int64_t>(entry_length(stream_, entry, span, place));
        own_ += state.count;
        entries_.push_back(state);
    });
    cursor_ = one_region ? region : base;
    if (stream_.pieces > 1 || (!one_region && stream_.pattern != Pattern::replicated)) return;
    std::int64_t next = cursor_;
    for (EntryState& state : entries_) {
        state.first = next;
        next += state.count * state.size;
    }
}

void StreamOperations::emit(EntryState& entry, Operation& operation) const {
    operation.direction = stream_.direction;
    operation.collective = stream_.collective;
    operation.nonblocking = stream_.nonblocking;
    operation.joins = false;
    operation.offset = entry.places
                           ? entry.first + (*entry.places)(entry.turn + entry.done * entry.step) * entry.size
                           : entry.first + entry.done * entry.step;
    operation.size = entry.size;
    operation.pieces = stream_.pieces;
    operation.piece_stride = piece_stride_;
    ++entry.done;
}

bool StreamOperations::next(Operation& operation) {
    if (stream_.pattern == Pattern::table) return next_row(operation) || join(operation);
    if (order_) return next_random(operation) || join(operation);
    if (!heap_.empty()) return next_mixed(operation);
    while (current_ < entries_.size()) {
        EntryState& entry = entries_[current_];
        if (entry.done < entry.count) {
            emit(entry, operation);
            return true;
        }
        ++current_;
    }
    return join(operation);
}

EqualRun StreamOperations::ahead() const {
    if (stream_.pattern == Pattern::table || stream_.pattern == Pattern::shuffled || order_ ||
        !heap_.empty() || current_ >= entries_.size())
        return {};
    const EntryState& entry = entries_[current_];
    if (entry.done < 2) return {};
    return {entry.count - entry.done, entry.step};
}

bool StreamOperations::next_mixed(Operation& operation) {
    // Operation k of an entry with c operations is due at (2k+1)/2c of the stream. The earliest due goes
    // first; at a tie, the first entry.
    const auto later = [this](std::size_t a, std::size_t b) {
        const Wide due_a = Wide{2 * entries_[a].done + 1} * entries_[b].count;
        const Wide due_b = Wide{2 * entries_[b].done + 1} * entries_[a].count;
        return due_a != due_b ? due_a > due_b : a > b;
    };
    if (issued_ == 0) std::make_heap(heap_.begin(), heap_.end(), later);
    std::pop_heap(heap_.begin(), heap_.end(), later);
    EntryState& entry = entries_[heap_.back()];
    emit(entry, operation);
    ++issued_;
    if (stream_.pattern == Pattern::contiguous || stream_.pattern == Pattern::replicated) {
        operation.offset = cursor_;
        cursor_ += entry.size;
    }
    if (entry.done == entry.count) {
        heap_.pop_back();
        if (heap_.empty()) current_ = entries_.size();
    } else {
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    return true;
}

bool StreamOperations::next_random(Operation& operation) {
    if (issued_ == own_) return false;
    std::int64_t position = (*order_)(issued_++);
    for (EntryState& entry : entries_) {
        if (position < entry.count) {
            entry.done = position;
            emit(entry, operation);
            return true;
        }
        position -= entry.count;
    }
    return false;
}

bool StreamOperations::next_row(Operation& operation) {
    for (; row_ < last_row_; ++row_) {
        if (stream_.rows->rank_of(row_) != table_rank_) continue;
        const OperationTable::Row row = stream_.rows->row(row_);
        operation = Operation{};
        operation.direction = row.write ? Direction::write : Direction::read;
        operation.collective = stream_.collective && row.collective;
        operation.nonblocking = stream_.nonblocking && !operation.collective;
        operation.offset = base_ + row.offset;
        operation.size = row.length;
        ++row_;
        return true;
    }
    return false;
}

bool StreamOperations::join(Operation& operation) {
    if (joins_left_ <= 0) return false;
    --joins_left_;
    operation = Operation{};
    operation.direction = stream_.direction;
    operation.collective = true;
    operation.joins = true;
    return true;
}

}  // namespace wa
