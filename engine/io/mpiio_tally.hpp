// Counts the MPI-IO calls of this process, made by the engine or a library below it. It defines them over
// PMPI.
#pragma once

#include <array>
#include <cstdint>

#include "counters/counters.hpp"

namespace wa {

/// Calls and bytes of this process at the MPI-IO level, made by the engine or by a library.
struct MpiioTally {
    std::int64_t opens = 0;
    std::int64_t syncs = 0;
    std::int64_t views = 0;
    std::array<DirectionCounters, 2> by_direction{};
    void merge(const MpiioTally& other);
};

/// The running sums of calls that belong to no dump. Calling this function also makes the linker keep the
/// counting definitions.
[[nodiscard]] const MpiioTally& mpiio_tally();

/// Adds the calls that follow to `sums`; null: to those of mpiio_tally().
void count_mpiio_in(MpiioTally* sums);

}  // namespace wa
