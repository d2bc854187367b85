// Finds the members of a family that behave alike, so that a plan of a million ranks is counted by looking at
// a few.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "count/resolved.hpp"

namespace wa {

/// Members [first, last] whose operations differ only by constant distances from one member to the next.
/// `times` such runs follow each other, each in files of its own.
struct MemberRun {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t times = 1;
};

/// The runs of all members, for dumps of one family that share a file. Members are positions in the family's
/// rank set. `payloads` holds, for each dump, the bytes that the library was given.
[[nodiscard]] std::vector<MemberRun> member_runs(const ResolvedPlan& resolved,
                                                 const std::vector<std::size_t>& dumps,
                                                 const std::vector<std::optional<std::int64_t>>& payloads);

}  // namespace wa
