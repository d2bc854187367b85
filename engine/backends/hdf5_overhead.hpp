// What HDF5, or a library on it, adds to a dump at MPI-IO level (superblock, headers, indexes), so that a
// content of a stated size can be given the rest.
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

/// Opens a file as the backend does.
using FileOpener = std::function<std::unique_ptr<OpenFile>(const FileContext&)>;

class Hdf5Overhead {
  public:
    explicit Hdf5Overhead(FileOpener open) : open_(std::move(open)) {}
    ~Hdf5Overhead();
    Hdf5Overhead(const Hdf5Overhead&) = delete;
    Hdf5Overhead& operator=(const Hdf5Overhead&) = delete;
    Hdf5Overhead(Hdf5Overhead&&) = delete;
    Hdf5Overhead& operator=(Hdf5Overhead&&) = delete;

    /// Rehearses the dumps of the file in a small one of the same structure, unless one like it was.
    /// Collective.
    void calibrate(const FileContext& context);
    /// Bytes to give to the library in this dump. Collective.
    [[nodiscard]] std::int64_t payload(const FileContext& context);
    /// What this process's part of the dump came to. Does not wait.
    void done(const FileContext& context, std::int64_t payload, std::int64_t written);

    /// What decides the library's bytes in one dump. Of a fit: datasets, element, new chunks of a dataset,
    /// opens, flushes; of a mesh: tables, parts, what belongs to no part, opens, flushes.
    using Structure = std::array<std::int64_t, 5>;
    /// All dumps of a file, and the family, whose settings matter too.
    using Sequence = std::vector<Structure>;

  private:
    /// How the dumps of a family have come out so far.
    struct Account {
        std::int64_t index = 0;       // of the next dump in its file
        std::int64_t target = 0;      // of the file so far
        std::int64_t written = 0;     // of it, the dump under way not included
        std::int64_t expected = 0;    // the library's bytes in the dump under way
        std::int64_t correction = 0;  // by how much the last dump differed from that
        const std::vector<std::int64_t>* costs = nullptr;
        bool pending = false;
        MPI_Request request = MPI_REQUEST_NULL;
        std::array<std::int64_t, 2> own{};
        std::array<std::int64_t, 2> sums{};
    };
    void settle(Account& account);
    [[nodiscard]] const std::vector<std::int64_t>* costs_of(const Sequence& sequence) const;

    FileOpener open_;
    std::map<Sequence, std::vector<std::int64_t>> costs_;  // the library's bytes in each dump
    std::map<std::size_t, Account> accounts_;              // by family
};

}  // namespace wa
