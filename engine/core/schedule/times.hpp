// When a plan's dumps are due, in seconds of the original run. The times follow from the plan alone, so they
// are the same on all ranks.
#pragma once

#include <vector>

#include "plan/plan.hpp"
#include "sharing/layout.hpp"

namespace wa {

struct DumpTimes {
    double start_s = 0;
    double end_s = 0;
    /// By how much the start is later than the plan says.
    double delay_s = 0;
};

/// One entry per dump of the plan. A dump ends when its compute time is over, and what began after its stated
/// end is delayed by as much. Dumps of one file never overlap, nor do the epochs of a data set.
[[nodiscard]] std::vector<DumpTimes> dump_times(const Plan& plan);

/// When one rank's part in a dump begins and ends. Ranks that take turns divide the time of the dump, and
/// ranks that send their data to the root, which wait for it until the dump is over, have all of it at its
/// start.
struct PartTimes {
    double begin_s = 0;
    double end_s = 0;
};
[[nodiscard]] PartTimes part_times(const Family& family, const DumpTimes& times, const FileSlot& slot,
                                   std::int64_t acting_member);

/// Positions of the plan's dumps in the order in which they begin.
[[nodiscard]] std::vector<std::size_t> in_order_of_start(const std::vector<DumpTimes>& times);
/// The same in the order in which they end.
[[nodiscard]] std::vector<std::size_t> in_order_of_end(const std::vector<DumpTimes>& times);

}  // namespace wa
