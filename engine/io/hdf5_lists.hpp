// Property lists of files: each setting of a family is one H5Pset call here.
#pragma once

#include <hdf5.h>
#include <mpi.h>

#include "io/hdf5_handles.hpp"
#include "io/mpi_file.hpp"
#include "plan/hdf5_settings.hpp"

namespace wa::h5 {

/// The oldest and newest version of the objects in a file.
enum class Bounds { library_default, v18, latest };

struct FileOptions {
    MPI_Comm comm = MPI_COMM_SELF;
    const mpi::Hints* hints = nullptr;
    Hdf5Settings settings;
    // if not the default, the oldest version is also the newest; otherwise the settings decide
    Bounds bounds = Bounds::library_default;
    bool replaces = false;  // replaces an existing file
    /// True if metadata is collective. A rank that reads metadata then waits for all others, so no rank may
    /// move data by itself.
    bool reads_together = true;
};

/// How a file is opened: MPI-IO and its hints or POSIX, alignment, blocks and buffers, collective metadata,
/// version bounds.
[[nodiscard]] Local access_list(const FileOptions& options);
/// The properties of a new file: its free-space strategy and page size.
[[nodiscard]] Local creation_list(const FileOptions& options);
/// Adds the filters of a dataset, in the order in which they run.
void add_filters(const Local& list, const Hdf5Settings& settings);

}  // namespace wa::h5
