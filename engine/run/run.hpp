// A whole run: from the plan's text to the record's last line.
#pragma once

#include "run/options.hpp"

namespace wa {

/// Collective over all processes. Returns the exit code.
[[nodiscard]] int run(const Options& options);

}  // namespace wa
