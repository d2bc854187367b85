// What the run ran on.
#pragma once

#include <string>
#include <vector>

#include "record/jsonl.hpp"

namespace wa {

/// What the libraries that were built in can do, a line each: `hdf5.multi no`. Needs no MPI.
[[nodiscard]] std::vector<std::string> library_features();

/// Whether an HDF5 was built in that can cut a file into subfiles, with threads of its own. Needs no MPI.
[[nodiscard]] bool library_has_subfiling();

/// Collective over all processes. `folder` may be empty; `mpi_io` asks who performs MPI-IO in it.
[[nodiscard]] Environment find_environment(const std::string& folder, bool mpi_io);

}  // namespace wa
