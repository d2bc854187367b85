// Thin checked wrappers of PnetCDF. Creating, opening, changing the mode, waiting, syncing and closing are
// collective over the communicator of the file.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/mpi_file.hpp"

namespace wa::pnetcdf {

using Extents = std::vector<MPI_Offset>;

/// A variable as it is defined, with its external type by size in bytes (1, 2, 4 or 8). The first extent of a
/// record variable is the number of records, which is not part of the definition.
struct Variable {
    std::string name;
    std::int64_t type_bytes = 1;
    Extents dims;
    bool record = false;
};

/// A selection of elements of a variable; an empty `stride` means all elements.
struct Selection {
    Extents start;
    Extents count;
    Extents stride;
};

/// Pieces of equal length in a variable with one dimension.
struct Pieces {
    Extents starts;
    MPI_Offset length = 0;
};

/// The version, such as "1.12.3".
[[nodiscard]] std::string version();

/// The header size in bytes of a CDF-5 file with these variables. Rank 0 writes the header when the
/// definition ends.
[[nodiscard]] std::int64_t header_bytes(const std::vector<Variable>& variables);

class File {
  public:
    File() = default;
    // The destructor closes nothing, because a rank that fails must not wait for the others.
    ~File() = default;
    File(File&&) = delete;
    File& operator=(File&&) = delete;
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    /// Makes a CDF-5 file with these variables; fails if the file exists. `alignment` 0 is the library's
    /// default.
    void create(const std::string& path, MPI_Comm comm, const mpi::Hints& hints, std::int64_t alignment,
                const std::vector<Variable>& variables);
    void open(const std::string& path, MPI_Comm comm, bool writes, const mpi::Hints& hints);
    void close();
    void sync();

    /// The number of a variable.
    [[nodiscard]] int variable(const std::string& name) const;
    /// Selects collective or independent calls from now on; does nothing if the mode is already set.
    void set_mode(bool collective);

    // Transfers in the current mode. The data has the type of the variable.
    void write(int variable, const Selection& part, const void* data);
    void read(int variable, const Selection& part, void* data);
    void write(int variable, const Pieces& pieces, const void* data);
    void read(int variable, const Pieces& pieces, void* data);

    // Posts a transfer that wait() performs; the data must stay valid until then.
    void post_write(int variable, const Selection& part, const void* data);
    void post_read(int variable, const Selection& part, void* data);
    void wait();

  private:
    int id_ = -1;
    bool collective_ = true;
};

}  // namespace wa::pnetcdf
