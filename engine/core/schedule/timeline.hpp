// The agenda of a rank by a virtual clock: every call at its moment in the original run. Nothing is
// performed.
#pragma once

#include <cstdint>
#include <functional>

#include "count/operations.hpp"

namespace wa {

struct TimedCall {
    RankCall call;
    double at_s = 0;    // since the start of the run
    double busy_s = 0;  // inside the call
};

/// Visits the calls of a rank in the order of its agenda. The visit ends when `visit` returns false.
void visit_timeline(const ResolvedPlan& resolved, std::int64_t rank,
                    const std::function<bool(const TimedCall&)>& visit);

}  // namespace wa
