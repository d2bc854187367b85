// What precedes the measured part: making files that must exist, and measuring what libraries add to the
// bytes of a fit.
#pragma once

#include "run/setup.hpp"

namespace wa {

/// Makes the files. Collective over all processes; raises CallFailed.
void prepare_files(Setup& setup);

/// Measures what libraries add to the bytes of the plan. Collective over all processes; raises CallFailed.
void calibrate_libraries(Setup& setup);

}  // namespace wa
