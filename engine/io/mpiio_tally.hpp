// Counts the MPI-IO calls of this process, made by the engine or a library below it. It defines them over
// PMPI.
#pragma once

#include "record/summary.hpp"

namespace wa {

/// The running sums since the start. Calling this function also makes the linker keep the counting
/// definitions.
[[nodiscard]] const MpiioTally& mpiio_tally();

}  // namespace wa
