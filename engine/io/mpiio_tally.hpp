// Counts this process's MPI-IO calls, made by the engine or by a library under it, by defining them over
// PMPI.
#pragma once

#include "record/summary.hpp"

namespace wa {

/// The running sums since the start. Calling it also links the counting definitions in.
[[nodiscard]] const MpiioTally& mpiio_tally();

}  // namespace wa
