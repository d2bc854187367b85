// How many files a rank has open at once, by the times of a plan.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/times.hpp"

namespace wa {

/// The most files that a rank has open at any moment. A file that stays open counts from its first dump to
/// its last.
[[nodiscard]] std::int64_t most_open_files(const Plan& plan, const std::vector<Layout>& layouts,
                                           const std::vector<DumpTimes>& times, std::int64_t rank);

}  // namespace wa
