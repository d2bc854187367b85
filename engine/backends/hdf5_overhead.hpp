// What HDF5, or a library above it, adds to a dump at the MPI-IO level (superblock, headers, indexes). A
// content of a stated size is then given the remaining bytes.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "backends/backend.hpp"

namespace wa {

/// Opens a file in the same way as the backend.
using FileOpener = std::function<std::unique_ptr<OpenFile>(const FileContext&)>;

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

    /// What determines the library's bytes in one dump. For a fit: datasets, element size, new chunks of a
    /// dataset, opens, flushes. For a mesh: tables, parts, variables without a part, opens, flushes.
    using Structure = std::array<std::int64_t, 5>;
    /// The structures of all dumps of a file, and the family, whose settings matter too.
    using Sequence = std::vector<Structure>;

  private:
    /// The balance of the dumps of a family so far.
    struct Account {
        std::int64_t index = 0;       // of the next dump in its file
        std::int64_t target = 0;      // bytes of the file up to the current dump
        std::int64_t written = 0;     // bytes of the file, without the current dump
        std::int64_t expected = 0;    // the library's bytes in the current dump
        std::int64_t correction = 0;  // how far the last dump was from its expected cost
        const std::vector<std::int64_t>* costs = nullptr;
        bool pending = false;
        MPI_Request request = MPI_REQUEST_NULL;
        std::array<std::int64_t, 2> own{};
        std::array<std::int64_t, 2> sums{};
    };
    void settle(Account& account);
    [[nodiscard]] const std::vector<std::int64_t>* costs_of(const Sequence& sequence) const;

    FileOpener open_;
    std::map<Sequence, std::vector<std::int64_t>> costs_;  // the bytes of the library in each dump
    std::map<std::size_t, Account> accounts_;              // by family
};

}  // namespace wa
