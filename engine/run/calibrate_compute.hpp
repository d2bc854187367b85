// How long a unit of computing takes on this machine.
#pragma once

namespace wa {

/// Performs units of each level on all processes and prints, on the first, what one takes. Returns the exit
/// code.
int calibrate_compute();

}  // namespace wa
