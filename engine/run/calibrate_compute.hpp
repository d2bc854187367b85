// Measures how long a unit of computing takes on this machine.
#pragma once

namespace wa {

/// Performs units of each level on all processes and prints their time on process 0. Returns the exit code.
int calibrate_compute();

}  // namespace wa
