// Thin checked wrappers over MPI-IO. Opening, syncing, closing and setting views are collective over the
// communicator.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/mpi.hpp"

namespace wa::mpi {

using Hints = std::vector<std::pair<std::string, std::string>>;

/// A piece of memory in MPI's terms.
struct Extent {
    int count = 0;
    MPI_Datatype type = MPI_BYTE;
    std::int64_t bytes = 0;
};

class File {
  public:
    File() = default;
    File(const std::string& path, MPI_Comm comm, int mode, const Hints& hints);
    // Closing is collective: a rank that fails must not wait for the others, so nothing is closed implicitly.
    ~File() = default;
    File(File&&) = delete;
    File& operator=(File&&) = delete;
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void close();
    void sync();
    void set_view(std::int64_t displacement, MPI_Datatype file_type);
    /// Writes at `offset` (bytes, in the current view).
    void write(std::int64_t offset, const std::byte* data, const Extent& extent, bool collective);
    /// Reads likewise and returns the bytes that arrived.
    [[nodiscard]] std::int64_t read(std::int64_t offset, std::byte* data, const Extent& extent,
                                    bool collective);

  private:
    MPI_File file_ = MPI_FILE_NULL;
};

/// "ompio", "romio" or "unknown": who performs MPI-IO here, found by opening a file of our own in `folder`.
[[nodiscard]] std::string io_component(const std::string& folder);

}  // namespace wa::mpi
