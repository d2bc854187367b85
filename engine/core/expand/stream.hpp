// The operations of one rank in one access stream. Each takes constant time and memory; nothing is stored.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "expand/operation.hpp"
#include "expand/permutation.hpp"
#include "expand/place.hpp"
#include "expand/wide.hpp"

namespace wa {

class StreamOperations {
  public:
    /// `acting_rank` selects the rows of a table, `key` seeds a random order (of a shuffled stream: the same
    /// one for all ranks). With `joins`, the rank joins collective calls with zero bytes.
    StreamOperations(const Stream& stream, const Place& place, std::int64_t base, std::int64_t acting_rank,
                     std::uint64_t key, bool joins, std::optional<std::size_t> only_entry = std::nullopt);

    bool next(Operation& operation);
    /// What follows the operation that next() gave; none before the second of a run, which shows how it goes
    /// on.
    [[nodiscard]] EqualRun ahead() const;
    /// Leaves out operations of the run ahead.
    void skip(std::int64_t count) { entries_[current_].done += count; }

  private:
    struct EntryState {
        std::int64_t count = 0;
        std::int64_t size = 0;
        std::int64_t first = 0;  // the offset of operation 0
        std::int64_t step = 0;   // from one operation to the next
        std::int64_t done = 0;
        std::optional<Permutation> places;  // of a shuffled stream: then `step` is in places
        std::int64_t turn = 0;              // of operation 0, among the operations of all ranks
    };
    bool next_mixed(Operation& operation);
    bool next_random(Operation& operation);
    bool next_row(Operation& operation);
    bool join(Operation& operation);
    void emit(EntryState& entry, Operation& operation) const;
    void place_entries(const Place& place, std::int64_t base, std::uint64_t key,
                       std::optional<std::size_t> only_entry);

    const Stream& stream_;
    std::vector<EntryState> entries_;
    std::size_t current_ = 0;
    std::int64_t joins_left_ = 0;
    std::int64_t cursor_ = 0;  // the next byte of a region that is filled in order
    std::vector<std::size_t> heap_;
    std::optional<Permutation> order_;
    std::int64_t issued_ = 0;
    std::int64_t own_ = 0;
    std::int64_t piece_stride_ = 0;
    std::int64_t table_rank_ = -1;
    std::int64_t row_ = 0;
    std::int64_t last_row_ = 0;
    std::int64_t base_ = 0;
};

/// One past the largest byte that the stream touches in the file, counted from the dump's base.
[[nodiscard]] Wide stream_end(const Stream& stream, const Place& place);
/// The same, of operations that move bytes; 0 if there are none. Not for tables.
[[nodiscard]] Wide data_end(const Stream& stream, const Place& place);
/// Whether `data_end` is exact: of a replicated stream of very many sizes it is only what none goes beyond.
[[nodiscard]] bool has_exact_end(const Stream& stream);
/// The most operations that a rank of this file has, in all entries or in one. Not for tables.
[[nodiscard]] std::int64_t most_operations(const Stream& stream, const Place& place,
                                           std::optional<std::size_t> only_entry);
/// The number of operations of the rank at `place`, without those that only join a collective call.
[[nodiscard]] std::int64_t stream_count(const Stream& stream, const Place& place, std::int64_t acting_rank);
/// Where the file view of an entry starts, from the base of the dump (streams with pieces).
[[nodiscard]] std::int64_t entry_base(const Stream& stream, const Place& place, std::size_t entry);

}  // namespace wa
