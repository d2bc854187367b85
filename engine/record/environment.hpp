// The environment of a run: machine, libraries and file system.
#pragma once

#include <string>
#include <vector>

#include "record/jsonl.hpp"

namespace wa {

/// What the libraries of this engine can do, one line each, such as `hdf5.multi no`. Needs no MPI.
[[nodiscard]] std::vector<std::string> library_features();

/// Whether the engine's HDF5 can split a file into subfiles, for which it starts threads. Needs no MPI.
[[nodiscard]] bool library_has_subfiling();

/// A directory of the run, with its name in the plan.
struct NamedFolder {
    std::string name;
    std::string path;
};

/// Collective over all processes. The first folder is the one without a name; its path may be empty. `mpi_io`
/// asks for the MPI-IO component used in each.
[[nodiscard]] Environment find_environment(const std::vector<NamedFolder>& folders, bool mpi_io);

}  // namespace wa
