// What HDF5, or a library above it, adds to a dump at the MPI-IO level (superblock, headers, indexes). A
// content of a stated size is then given the remaining bytes.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "backends/backend.hpp"
#include "backends/dump_structures.hpp"

namespace wa {

class Hdf5Overhead {
  public:
    explicit Hdf5Overhead(FileOpener open) : open_(std::move(open)) {}
    ~Hdf5Overhead();
    Hdf5Overhead(const Hdf5Overhead&) = delete;
    Hdf5Overhead& operator=(const Hdf5Overhead&) = delete;
    Hdf5Overhead(Hdf5Overhead&&) = delete;
    Hdf5Overhead& operator=(Hdf5Overhead&&) = delete;

    /// Rehearses the dumps of the file in a small file of the same structure, unless an equal one was
    /// rehearsed before. Collective.
    void calibrate(const FileContext& context);
    /// The bytes to give to the library in this dump. Collective.
    [[nodiscard]] std::int64_t payload(const FileContext& context);
    /// Reports the bytes of this process's part of the dump. Does not wait.
    void done(const FileContext& context, std::int64_t payload, std::int64_t written);

  private:
    /// The balance of the dumps of a family so far.
    struct Account {
        std::int64_t index = 0;          // of the next dump in its file
        std::int64_t target = 0;         // bytes of the file up to the current dump
        std::int64_t written = 0;        // bytes of the file, without the current dump
        std::vector<std::int64_t> last;  // the library's bytes in each of the last dumps
        const std::vector<std::int64_t>* costs = nullptr;
        bool pending = false;
        MPI_Request request = MPI_REQUEST_NULL;
        std::array<std::int64_t, 2> own{};
        std::array<std::int64_t, 2> sums{};
    };
    void settle(Account& account);
    [[nodiscard]] const std::vector<std::int64_t>* costs_of(const DumpStructures& key) const;

    FileOpener open_;
    /// The bytes of the library in each dump, by the structures of a file's dumps with the family before
    /// them.
    std::map<DumpStructures, std::vector<std::int64_t>> costs_;
    std::map<std::size_t, Account> accounts_;  // by family
};

}  // namespace wa
