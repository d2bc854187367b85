// Thin checked wrappers over PnetCDF. Creating, opening, changing the mode, waiting, syncing and closing are
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

/// A variable as it is defined: external type by its bytes (1, 2, 4 or 8); of a record variable the first
/// extent is that of the records and has no size of its own.
struct Variable {
    std::string name;
    std::int64_t type_bytes = 1;
    Extents dims;
    bool record = false;
};

/// Elements of a variable; `stride` empty: all of them.
struct Selection {
    Extents start;
    Extents count;
    Extents stride;
};

/// Pieces of one length of a variable with one dimension.
struct Pieces {
    Extents starts;
    MPI_Offset length = 0;
};

/// "1.12.3"
[[nodiscard]] std::string version();

/// Bytes of the header of a CDF-5 file with these variables: what rank 0 writes at the end of their
/// definition.
[[nodiscard]] std::int64_t header_bytes(const std::vector<Variable>& variables);

class File {
  public:
    File() = default;
    // A rank that fails must not wait for the others, so nothing is closed implicitly.
    ~File() = default;
    File(File&&) = delete;
    File& operator=(File&&) = delete;
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    /// Makes a CDF-5 file, only if there is none, with these variables. `alignment` 0: the library's own.
    void create(const std::string& path, MPI_Comm comm, const mpi::Hints& hints, std::int64_t alignment,
                const std::vector<Variable>& variables);
    void open(const std::string& path, MPI_Comm comm, bool writes, const mpi::Hints& hints);
    void close();
    void sync();

    /// The number of a variable.
    [[nodiscard]] int variable(const std::string& name) const;
    /// Collective or independent calls from now on; nothing happens where they are already.
    void set_mode(bool collective);

    // Of the mode that is set. Data has the variable's type.
    void write(int variable, const Selection& part, const void* data);
    void read(int variable, const Selection& part, void* data);
    void write(int variable, const Pieces& pieces, const void* data);
    void read(int variable, const Pieces& pieces, void* data);

    // Performed by wait(); the data must stay until then.
    void post_write(int variable, const Selection& part, const void* data);
    void post_read(int variable, const Selection& part, void* data);
    void wait();

  private:
    int id_ = -1;
    bool collective_ = true;
};

}  // namespace wa::pnetcdf
