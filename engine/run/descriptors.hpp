// The limit of open files, which many dumps in progress can reach.
#pragma once

#include "run/setup.hpp"

namespace wa {

/// Raises the limit of this process as far as its rank needs and the system allows. Raises UsageError if that
/// is not enough.
void allow_open_files(const Setup& setup);

}  // namespace wa
