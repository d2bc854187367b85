// What the run ran on.
#pragma once

#include <string>

#include "record/jsonl.hpp"

namespace wa {

/// Collective over all processes. `folder` may be empty; `mpi_io` asks who performs MPI-IO in it.
[[nodiscard]] Environment find_environment(const std::string& folder, bool mpi_io);

}  // namespace wa
