// Thin checked wrappers of MPI-IO. Opening, syncing, closing and setting views are collective over the
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

/// A piece of memory as a count and an MPI datatype.
struct Extent {
    int count = 0;
    MPI_Datatype type = MPI_BYTE;
    std::int64_t bytes = 0;
};

class File {
  public:
    File() = default;
    File(const std::string& path, MPI_Comm comm, int mode, const Hints& hints);
    // Closing is collective and a rank that fails must not wait for the others, so the destructor closes
    // nothing.
    ~File() = default;
    File(File&&) = delete;
    File& operator=(File&&) = delete;
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void close();
    void sync();
    /// Begins a write as write() does; the memory at `data` stays as it is until wait().
    void post_write(std::int64_t offset, const std::byte* data, const Extent& extent);
    /// Begins a read in the same way; wait() says how many bytes were read in all.
    void post_read(std::int64_t offset, std::byte* data, const Extent& extent);
    [[nodiscard]] std::size_t posted() const { return requests_.size(); }
    /// Completes what was posted, and returns the number of bytes.
    std::int64_t wait();
    void set_view(std::int64_t displacement, MPI_Datatype file_type);
    /// Writes at `offset`, in bytes of the current view.
    void write(std::int64_t offset, const std::byte* data, const Extent& extent, bool collective);
    /// Reads in the same way and returns the number of bytes read.
    [[nodiscard]] std::int64_t read(std::int64_t offset, std::byte* data, const Extent& extent,
                                    bool collective);

  private:
    MPI_File file_ = MPI_FILE_NULL;
    std::vector<MPI_Request> requests_;
    std::vector<Extent> extents_;  // of the requests
};

/// The MPI-IO component: "ompio", "romio" or "unknown". It is found by opening a temporary file in `folder`.
[[nodiscard]] std::string io_component(const std::string& folder);

}  // namespace wa::mpi
