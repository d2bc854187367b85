// What comes before the measured part: files that must exist, and what libraries add to the bytes of a fit.
#pragma once

#include "run/setup.hpp"

namespace wa {

/// Makes the files. Collective over all processes; raises CallFailed.
void prepare_files(Setup& setup);

/// Lets libraries find out what they add to the plan's bytes. Collective over all processes; raises
/// CallFailed.
void calibrate_libraries(Setup& setup);

}  // namespace wa
