// What one rank, or several merged ones, did in a dump. It is plain data, since processes send it as bytes.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "counters/counters.hpp"
#include "io/mpiio_tally.hpp"

namespace wa {

/// The calls of one kind: the shortest call, the longest with its bytes, and the rank that spent most time on
/// them.
struct KindTimes {
    std::int64_t count = 0;
    double min_s = std::numeric_limits<double>::infinity();
    double max_s = 0;
    std::int64_t max_bytes = 0;  // what the longest call moved
    double total_s = 0;
    double slowest_s = 0;
    std::int64_t slowest_rank = -1;

    void note(double seconds, std::int64_t bytes) {
        ++count;
        if (seconds < min_s) min_s = seconds;
        note_longest(seconds, bytes);
        total_s += seconds;
    }
    /// Time in which operations ended that were posted, and counted, before.
    void note_wait(double seconds) {
        note_longest(seconds, 0);
        total_s += seconds;
    }
    void note_longest(double seconds, std::int64_t bytes) {
        if (seconds <= max_s) return;
        max_s = seconds;
        max_bytes = bytes;
    }
    void merge(const KindTimes& other);
};

/// The first start and the last end of a set of events.
struct Span {
    double first = std::numeric_limits<double>::infinity();
    double last = -std::numeric_limits<double>::infinity();
    [[nodiscard]] bool empty() const { return first > last; }
    [[nodiscard]] double length() const { return empty() ? 0 : last - first; }
    void cover(double start, double end) {
        if (start < first) first = start;
        if (end > last) last = end;
    }
    void merge(const Span& other) {
        if (!other.empty()) cover(other.first, other.last);
    }
};

struct Summary {
    std::int64_t dump = 0;          // position in the plan
    std::int64_t rank = -1;         // set for a single rank
    std::int64_t participants = 0;  // ranks that had something to do
    double due_s = std::numeric_limits<double>::infinity();
    Span active;                            // from the first event to the last
    Span files;                             // first open to last close
    Span transfer;                          // first to last data operation
    std::array<std::int64_t, 2> payload{};  // bytes, by direction
    MpiioTally mpiio;
    std::array<KindTimes, kinds> times{};
    Counters counters;

    [[nodiscard]] KindTimes& times_of(Kind kind) { return times[static_cast<std::size_t>(kind)]; }
    /// Must be called once when the rank is done: it makes the rank its own slowest rank.
    void close(std::int64_t plan_rank);
    void merge(const Summary& other);
};
static_assert(std::is_trivially_copyable_v<Summary>);

}  // namespace wa
