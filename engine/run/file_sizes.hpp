// Whether files hold what was written to them: an MPI library may report success for writes that a full file
// system has lost (Open MPI 4.1, collective writes).
#pragma once

#include <cstdint>
#include <string>

#include "run/setup.hpp"

namespace wa {

/// Throws CallFailed if a file that has been closed for the last time, after `dump`, is shorter than what was
/// written to it, as far as the plan tells (plain bytes of streams).
void check_size(const Setup& setup, std::size_t dump, const FileSlot& slot, const std::string& path,
                std::int64_t size);

}  // namespace wa
