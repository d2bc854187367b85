// A whole run, from the text of the plan to the last line of the record.
#pragma once

#include "run/options.hpp"

namespace wa {

/// Collective over all processes. Returns the exit code.
[[nodiscard]] int run(const Options& options);

}  // namespace wa
