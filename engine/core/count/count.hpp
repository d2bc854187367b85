// What the ranks of a plan call and move, without performing it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "count/resolved.hpp"
#include "counters/counters.hpp"

namespace wa {

/// One dump over all ranks.
struct DumpCount {
    std::int64_t ranks = 0;                 // that had anything to do
    std::array<std::int64_t, 2> payload{};  // bytes, by direction
    std::array<std::int64_t, kinds> calls{};
    Counters counters;

    [[nodiscard]] std::int64_t& of(Kind kind) { return calls[static_cast<std::size_t>(kind)]; }
    /// Adds what `times` ranks do that do alike.
    void add(const DumpCount& other, std::int64_t times);
};

/// Counts all dumps of a plan. Ranks that do alike are counted once.
/// `payloads`: for each dump what its library was given, as a run has recorded it; empty: nothing is known.
[[nodiscard]] std::vector<DumpCount> count_plan(
    const ResolvedPlan& resolved, const std::vector<std::optional<std::int64_t>>& payloads = {});

/// The same, looking at each rank: what count_plan() must agree with.
[[nodiscard]] std::vector<DumpCount> count_each_rank(
    const ResolvedPlan& resolved, const std::vector<std::optional<std::int64_t>>& payloads = {});

}  // namespace wa
