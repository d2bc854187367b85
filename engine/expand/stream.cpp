#include "expand/stream.hpp"

#include <algorithm>

#include "expand/split.hpp"
#include "plan/operation_table.hpp"

namespace wa {
namespace {

/// Operations of an entry in this file.
std::int64_t count_here(std::int64_t total, const Place& place) {
    return shares_before(total, place.all, place.first + place.here) -
           shares_before(total, place.all, place.first);
}

/// The most operations that any rank of this file has: shares never grow with the rank, so the first rank's.
std::int64_t most_of_a_rank(std::int64_t total, const Place& place) {
    return place.here > 0 ? share_of(total, place.all, place.first) : 0;
}

/// Bytes of the file that one entry takes where entries follow each other.
Wide entry_span(const Stream& stream, const Entry& entry, const Place& place) {
    if (stream.pieces > 1) return Wide{most_of_a_rank(entry.operations, place)} * place.here * entry.size;
    switch (stream.pattern) {
        case Pattern::same:
            return entry.operations > 0 ? entry.size : 0;
        case Pattern::strided:
            return Wide{count_here(entry.operations, place)} * stream.stride;
        case Pattern::replicated:
            return Wide{most_of_a_rank(entry.operations, place)} * entry.size;
        default:
            return Wide{count_here(entry.operations, place)} * entry.size;
    }
}

}  // namespace

Wide stream_end(const Stream& stream, const Place& place) {
    if (stream.pattern == Pattern::table) return stream.rows ? stream.base + Wide{stream.rows->end()} : 0;
    Wide end = 0;
    Wide base = stream.base;
    for (const Entry& entry : stream.entries) {
        if (count_here(entry.operations, place) == 0) continue;
        Wide last = base + entry_span(stream, entry, place);
        base = last;
        if (stream.pattern == Pattern::strided && stream.pieces == 1) last -= stream.stride - entry.size;
        end = std::max(end, last);
    }
    return end;
}

std::int64_t stream_count(const Stream& stream, const Place& place, std::int64_t acting_rank) {
    if (!place.active()) return 0;
    if (stream.pattern == Pattern::table) return stream.rows ? stream.rows->count_of(acting_rank) : 0;
    std::int64_t count = 0;
    for (const Entry& entry : stream.entries) count += share_of(entry.operations, place.all, place.index);
    return count;
}

std::int64_t entry_base(const Stream& stream, const Place& place, std::size_t entry) {
    Wide base = stream.base;
    for (std::size_t e = 0; e < entry; ++e) base += entry_span(stream, stream.entries[e], place);
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
        return;
    }
    place_entries(place, base + stream.base, only_entry);
    if (joins && stream.collective) {
        std::int64_t calls = 0;
        for (std::size_t e = 0; e < stream.entries.size(); ++e) {
            if (!only_entry || *only_entry == e) calls += most_of_a_rank(stream.entries[e].operations, place);
        }
        joins_left_ = calls - own_;
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

void StreamOperations::place_entries(const Place& place, std::int64_t base,
                                     std::optional<std::size_t> only_entry) {
    const bool one_region = stream_.pattern == Pattern::contiguous || stream_.pattern == Pattern::random;
    std::int64_t at = base;  // the entry's base
    std::int64_t region = base;
    for (std::size_t e = 0; e < stream_.entries.size(); ++e) {
        const Entry& entry = stream_.entries[e];
        EntryState state;
        state.size = entry.size;
        const std::int64_t before = place.active()
                                        ? shares_before(entry.operations, place.all, place.index) -
                                              shares_before(entry.operations, place.all, place.first)
                                        : 0;
        const bool wanted = !only_entry || *only_entry == e;
        state.count = place.active() && wanted ? share_of(entry.operations, place.all, place.index) : 0;
        if (stream_.pieces > 1) {
            const std::int64_t piece = entry.size / stream_.pieces;
            state.first = at + place.local() * piece;
            state.step = place.here * entry.size;
            if (wanted) piece_stride_ = place.here * piece;
        } else if (stream_.pattern == Pattern::interleaved) {
            state.first = at + place.local() * entry.size;
            state.step = place.here * entry.size;
        } else if (stream_.pattern == Pattern::strided) {
            state.first = at + before * stream_.stride;
            state.step = stream_.stride;
        } else {
            state.first = at;
            state.step = stream_.pattern == Pattern::same ? 0 : entry.size;
        }
        region += before * entry.size;
        at += static_cast<std::int64_t>(entry_span(stream_, entry, place));
        own_ += state.count;
        entries_.push_back(state);
    }
    cursor_ = one_region ? region : base;
    if (!one_region && stream_.pattern != Pattern::replicated) return;
    std::int64_t next = cursor_;
    for (EntryState& state : entries_) {
        state.first = next;
        next += state.count * state.size;
    }
}

void StreamOperations::emit(EntryState& entry, Operation& operation) const {
    operation.direction = stream_.direction;
    operation.collective = stream_.collective;
    operation.joins = false;
    operation.offset = entry.first + entry.done * entry.step;
    operation.size = entry.size;
    operation.pieces = stream_.pieces;
    operation.piece_stride = piece_stride_;
    ++entry.done;
}

bool StreamOperations::next(Operation& operation) {
    if (table_rank_ >= 0) return next_row(operation);
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

bool StreamOperations::next_mixed(Operation& operation) {
    // Operation k of an entry of c is due at (2k+1)/2c of the way; the earliest due goes first, the first
    // entry at a tie.
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
