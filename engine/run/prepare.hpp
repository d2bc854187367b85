// Files that must exist before the run: made outside the measured part.
#pragma once

#include "run/setup.hpp"

namespace wa {

/// Collective over all processes. Raises CallFailed.
void prepare_files(Setup& setup);

}  // namespace wa
