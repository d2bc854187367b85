// --verify-only: compares the files that an earlier run left with what the plan says they hold. Any number of
// processes.
#pragma once

#include "run/setup.hpp"

namespace wa {

/// This process's share of the files. Raises CallFailed when one cannot be read.
[[nodiscard]] VerifyResult verify_files(Setup& setup);

}  // namespace wa
