// Counts the calls and bytes of the ranks of a plan without performing them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "count/resolved.hpp"
#include "counters/counters.hpp"

namespace wa {

/// The counts of one dump over all ranks.
struct DumpCount {
    std::int64_t ranks = 0;                 // ranks that had something to do
    std::array<std::int64_t, 2> payload{};  // bytes, by direction
    std::array<std::int64_t, kinds> calls{};
    Counters counters;

    [[nodiscard]] std::int64_t& calls_of(Kind kind) { return calls[static_cast<std::size_t>(kind)]; }
    /// Adds the counts of `times` ranks that behave alike.
    void add(const DumpCount& other, std::int64_t times);
};

/// Bounds a count. Calls that continue by a rule are counted at once; others, such as those in random order,
/// are looked at one by one, and a damaged log may ask for more of them than anybody waits for.
struct CountBounds {
    std::int64_t calls = std::int64_t{1} << 30;  // looked at one by one; half a minute
    std::function<void()> checkpoint = [] {};    // called every few milliseconds; it may throw
};

/// Counts all dumps of a plan; ranks that behave alike are counted once. `payloads` holds, for each dump, the
/// bytes that its library was given in a recorded run; empty if nothing is known. Raises PlanError beyond the
/// bounds.
[[nodiscard]] std::vector<DumpCount> count_plan(const ResolvedPlan& resolved,
                                                const std::vector<std::optional<std::int64_t>>& payloads = {},
                                                const CountBounds& bounds = {});

/// The same counts from looking at every rank. Tests check that count_plan() agrees.
[[nodiscard]] std::vector<DumpCount> count_each_rank(
    const ResolvedPlan& resolved, const std::vector<std::optional<std::int64_t>>& payloads = {},
    const CountBounds& bounds = {});

}  // namespace wa
