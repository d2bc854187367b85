// The measured part: all dumps in the order of the plan, each when it is due.
#pragma once

#include "record/jsonl.hpp"
#include "record/per_rank.hpp"
#include "run/setup.hpp"
#include "run/verify.hpp"

namespace wa {

/// Collective over all processes. Does not return if a call fails on any of them.
[[nodiscard]] VerifyResult perform_dumps(Setup& setup, LineFile& record, PerRankTable& per_rank);

}  // namespace wa
