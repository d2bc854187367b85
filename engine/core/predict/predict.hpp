// The counters that a log of a run of a plan would hold: every one that the plan determines, file by file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "count/resolved.hpp"

namespace wa {

/// The modules of a log that are predicted.
enum class LogModule { posix, mpiio, stdio };
inline constexpr std::size_t log_modules = 3;
[[nodiscard]] std::string_view module_name(LogModule module);
/// How many counters a record has; their order is that of a log of format 3.41.
[[nodiscard]] std::size_t counters_of(LogModule module);

/// What all ranks together do to one file, as a log's reduced record has it: sums, the largest MAX_BYTE, and
/// the four commonest sizes and strides. Counters that a plan does not determine are 0.
struct PredictedRecord {
    std::size_t family = 0;  // position in the plan
    std::string file;
    std::int64_t ranks = 0;  // that have a record of their own
    std::vector<std::int64_t> counters;
    double moved = 0;    // bytes that all ranks read and write
    double squares = 0;  // sum of the squares of each rank's bytes

    /// How many ranks with equal shares would have the same variance of bytes: what a reduced record shows.
    [[nodiscard]] double effective_ranks() const { return squares > 0 ? moved * moved / squares : 0; }
};

struct Prediction {
    /// Of files used as streams, the POSIX records have syncs alone.
    std::array<std::vector<PredictedRecord>, log_modules> records;
    /// Families whose POSIX records follow from independent contiguous MPI-IO calls; their opens, seeks and
    /// syncs are the library's business, and 0 here.
    std::vector<bool> below_mpiio;
};

/// Walks through the calls of every rank.
/// `alignments`: FILE_ALIGNMENT of each family's files in bytes; 0: unknown, nothing counts as unaligned.
/// `most`: calls to walk through at most; raises UsageError beyond. `apart`: families whose files have a
/// record of each rank, as in a log whose records are not reduced.
[[nodiscard]] Prediction predict(const ResolvedPlan& resolved, const std::vector<std::int64_t>& alignments,
                                 std::int64_t most, const std::vector<bool>& apart = {});

}  // namespace wa
