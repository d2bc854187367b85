// What the HDF5 library at hand can do. The only place that asks for its version when it is compiled.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/hdf5.hpp"

namespace wa::h5 {

struct Features {
    std::string version;
    bool multi = false;            // one call over several datasets (1.14)
    bool deflate = false;          // the filter was built in
    bool subfiling = false;        // the file driver was built in
    bool filtered_writes = false;  // of several ranks, collective (1.10.2)
};

[[nodiscard]] Features features();
/// Of them, what is known without the library being started, so also before MPI is.
[[nodiscard]] bool has_subfiling();

/// Writes to several datasets in one call, from a buffer each; they have the same type and selection.
void write_multi(const std::vector<hid_t>& datasets, const Local& type, const Local& memory,
                 const Local& file, const Local& list, const std::vector<const void*>& data);

/// Lets a file lie in several subfiles.
void set_subfiling(const Local& list, MPI_Comm comm, MPI_Info info);

}  // namespace wa::h5
