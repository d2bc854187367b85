// Reads of what was never written: bytes of a file that no dump has written so far and that are not prepared.
// A family that is `sparse` reads holes within its files as zeros; of it only the ends of files count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "plan/plan.hpp"
#include "sharing/layout.hpp"

namespace wa {

/// The bytes [from, to) of a file that a dump reads although nobody has written them.
struct UnwrittenRead {
    std::size_t dump = 0;    // position in the plan
    std::size_t stream = 0;  // of the dump's content
    FileSlot slot;
    std::int64_t from = 0;
    std::int64_t to = 0;
    bool hole = false;        // all that the stream reads lies before the end of the file
    bool later_turn = false;  // a rank with a later turn (`baton`) writes them in the same dump
};

/// The first such read of each dump that has any, in the order of the plan. Only streams of backends whose
/// files are plain bytes are looked at. Of a family with very many files, those are looked at where a rule of
/// the plan changes, or the first and the last file, where rules are very many, too; of a plan with very many
/// strided operations, rows of tables, or holes that those fill, the later ones count as if they left no
/// holes. What arrays and meshes write counts as one range, and what
/// they read is not looked at. `checkpoint` is called every few milliseconds; it may throw.
[[nodiscard]] std::vector<UnwrittenRead> unwritten_reads(const Plan& plan,
                                                         const std::function<void()>& checkpoint = {});

/// Raises PlanError for the first of them, with the file and the range.
void check_reads(const Plan& plan, const std::function<void()>& checkpoint = {});

/// For each dump of the plan, whether ranks that share its file read in it what others of them write in it.
/// They need a barrier between those writes and reads, unless they take turns. Tables are left out.
[[nodiscard]] std::vector<bool> dumps_that_read_others(const Plan& plan);

}  // namespace wa
