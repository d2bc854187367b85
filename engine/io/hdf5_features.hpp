// What this HDF5 library can do. No other file asks for the version at compile time.
#pragma once

#include <hdf5.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "io/hdf5_handles.hpp"

namespace wa::h5 {

struct Features {
    std::string version;
    bool multi = false;            // one call on several datasets (1.14)
    bool deflate = false;          // the filter was built in
    bool subfiling = false;        // the file driver was built in
    bool filtered_writes = false;  // by several ranks, collectively (1.10.2)
};

[[nodiscard]] Features features();
/// Whether the library has subfiling. It is known before HDF5 and MPI are started.
[[nodiscard]] bool has_subfiling();

/// Writes to several datasets in one call, with one buffer each. All have the same type and selection.
void write_multi(const std::vector<hid_t>& datasets, const Local& type, const Local& memory,
                 const Local& file, const Local& list, const std::vector<const void*>& data);

/// Stores a file as several subfiles.
void set_subfiling(const Local& list, MPI_Comm comm, MPI_Info info);

}  // namespace wa::h5
