// --verify-only: compares the files of an earlier run with what the plan says they contain. It works with any
// number of processes.
#pragma once

#include "run/setup.hpp"

namespace wa {

/// Verifies the share of files of this process. Raises CallFailed if a file cannot be read.
[[nodiscard]] VerifyResult verify_files(Setup& setup);

}  // namespace wa
