// Whether files hold what was written to them: an MPI library may report success for writes that a full file
// system has lost (Open MPI 4.1, collective writes).
#pragma once

#include <cstdint>
#include <string>

#include "run/setup.hpp"

namespace wa {

/// The bytes that a file has at least, once all its dumps up to and with `dump` have written it. 0 where this
/// is not known: where the backend does not write plain bytes, or the content is not one of streams, or is a
/// table of several files.
[[nodiscard]] std::int64_t least_size(const Setup& setup, std::size_t dump, const FileSlot& slot);

/// Throws CallFailed if a file that has been closed for the last time, after `dump`, is shorter than that.
void check_size(const Setup& setup, std::size_t dump, const FileSlot& slot, const std::string& path,
                std::int64_t size);

}  // namespace wa
