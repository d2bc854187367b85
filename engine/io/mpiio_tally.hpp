// Counts the MPI-IO calls of this process, made by the engine or a library below it. It defines them over
// PMPI.
#pragma once

#include "record/summary.hpp"

namespace wa {

/// The running sums of calls that belong to no dump. Calling this function also makes the linker keep the
/// counting definitions.
[[nodiscard]] const MpiioTally& mpiio_tally();

/// Adds the calls that follow to `sums`; null: to those of mpiio_tally().
void count_mpiio_in(MpiioTally* sums);

}  // namespace wa
