// Whether files hold what was written to them: an MPI library may report success for writes that a full file
// system has lost (Open MPI 4.1, collective writes).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "run/setup.hpp"

namespace wa {

/// Throws CallFailed if a file that has been closed for the last time, after `dump`, does not hold what was
/// written to it: it is not there, it is shorter than the plan's plain bytes of streams, or the library that
/// wrote it finds it incomplete. `size` is empty where there is no file.
void check_file(const Setup& setup, std::size_t dump, const FileSlot& slot, const std::string& path,
                std::optional<std::int64_t> size);

}  // namespace wa
