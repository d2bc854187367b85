// Property lists of files: each setting of a family is one H5Pset call here.
#pragma once

#include "io/hdf5.hpp"

namespace wa::h5 {

/// How a file is opened: MPI-IO and its hints, alignment, blocks and buffers, collective metadata, version
/// bounds.
[[nodiscard]] Local access_list(const FileOptions& options);
/// The properties of a new file: its free-space strategy and page size.
[[nodiscard]] Local creation_list(const FileOptions& options);
/// Adds the filters of a dataset, in the order in which they run.
void add_filters(const Local& list, const Hdf5Settings& settings);

}  // namespace wa::h5
