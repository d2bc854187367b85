// Compares the files that a run has left with what the plan says they contain: --verify-only those of an
// earlier run, with any number of processes, and --verify those of this run at its end.
#pragma once

#include "run/setup.hpp"

namespace wa {

struct FilesVerified {
    VerifyResult result;
    std::int64_t storage_bytes = 0;  // of files of which the page cache held nothing
};

/// Verifies the share of files of this process, after their pages were dropped from the cache. Raises
/// CallFailed if a file cannot be read; with `all` also if its dumps overlap too irregularly, instead of
/// leaving it out.
[[nodiscard]] FilesVerified verify_files(const Setup& setup, bool all);

}  // namespace wa
