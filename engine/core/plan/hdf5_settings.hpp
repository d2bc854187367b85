// The settings of HDF5 that a plan makes for the files of a family.
#pragma once

#include <cstdint>
#include <optional>

namespace wa {

/// How an HDF5 file manages free space (H5F_fspace_strategy_t), and the oldest library that must be able to
/// read it.
enum class FileSpace { standard, fsm_aggr, page, aggr, none };
enum class LibraryBounds { earliest, v18, v110, latest };
/// What HDF5 opens a file with: MPI-IO, or POSIX by each rank alone.
enum class FileDriver { mpi, serial };

struct Hdf5Settings {
    bool chunked = false;
    std::int64_t chunk_bytes = 1048576;
    std::int64_t alignment = 0;
    std::int64_t threshold = 0;
    std::optional<std::int64_t> metadata_block;  // in bytes; unset: the default of the library
    std::optional<std::int64_t> sieve_buffer;
    bool collective_metadata = false;
    bool individual_io = false;  // collective transfers that each rank performs by itself below HDF5
    FileSpace file_space = FileSpace::standard;  // standard: the default of the library
    std::optional<std::int64_t> page_bytes;
    LibraryBounds libver = LibraryBounds::earliest;
    std::int64_t deflate = 0;  // level, 0: none
    bool shuffle = false;
    bool subfiling = false;
    FileDriver driver = FileDriver::mpi;
    [[nodiscard]] bool filters() const { return deflate > 0 || shuffle; }
};

}  // namespace wa
