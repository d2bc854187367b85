// The operations of one rank in one epoch of a data set. Each takes constant time and memory; nothing is
// stored.
//
// All ranks agree on the order of an epoch: files in their order, and the samples of each file in theirs. The
// samples are dealt along that order, `deal` at a time, to the readers of the epoch in turn.
#pragma once

#include <cstdint>
#include <optional>

#include "expand/operation.hpp"
#include "expand/permutation.hpp"
#include "plan/plan.hpp"

namespace wa {

/// Where the samples of a data set are. Their sizes differ by a byte where the bytes cannot be divided, and
/// by a pseudo-random deviation that is positive in one sample of a pair and negative in the other, so that
/// the bytes of all samples are those of the plan.
class SampleSizes {
  public:
    SampleSizes(const Dataset& dataset, std::uint64_t key);
    /// The offset of a sample in its file, in bytes.
    [[nodiscard]] std::int64_t offset(std::int64_t file, std::int64_t sample) const;
    [[nodiscard]] std::int64_t size(std::int64_t file, std::int64_t sample) const;
    /// The bytes of a file.
    [[nodiscard]] std::int64_t bytes_of_file(std::int64_t file) const;

  private:
    /// The bytes of all samples before the one with this number.
    [[nodiscard]] std::int64_t before(std::int64_t sample) const;
    [[nodiscard]] std::int64_t deviation(std::int64_t pair) const;

    const Dataset& dataset_;
    std::uint64_t key_;
    std::int64_t samples_;  // of all files
};

/// The sizes of the samples of a family's data set; they are the same in every epoch.
[[nodiscard]] SampleSizes sample_sizes(const Plan& plan, const Family& family, const Dataset& dataset);

/// The readers of an epoch: how many, and which of them a member is (-1: it waits for another epoch).
struct ReaderPlace {
    std::int64_t readers = 1;
    std::int64_t reader = -1;
};
[[nodiscard]] ReaderPlace reader_place(const Dataset& dataset, std::int64_t epoch, std::int64_t member,
                                       std::int64_t members);

class DatasetOperations {
  public:
    DatasetOperations(const Plan& plan, const Family& family, const Dataset& dataset, std::int64_t epoch,
                      std::int64_t member, std::int64_t members);

    /// Goes to the next file of which this rank reads samples; false when there is none.
    bool next_file();
    /// The file that next_file() has found.
    [[nodiscard]] std::int64_t file() const { return file_; }
    /// Its transfers by this rank.
    [[nodiscard]] std::int64_t operations_of_file() const;
    bool next(Operation& operation);
    /// The transfers of this rank in the epoch.
    [[nodiscard]] std::int64_t operations() const;
    /// The samples of this rank in the epoch.
    [[nodiscard]] std::int64_t samples() const { return samples_before(dataset_.files * dataset_.samples); }
    /// Samples that next() has ended.
    [[nodiscard]] std::int64_t samples_done() const { return samples_done_; }
    /// Samples that had ended before the transfer that next() has given.
    [[nodiscard]] std::int64_t samples_begun() const { return samples_begun_; }

  private:
    /// The first position that is dealt to this rank, at or after this one; the number of all samples if
    /// none.
    [[nodiscard]] std::int64_t own_from(std::int64_t position) const;
    [[nodiscard]] std::int64_t samples_before(std::int64_t position) const;
    [[nodiscard]] std::int64_t file_at(std::int64_t visit) const;
    [[nodiscard]] std::int64_t sample_at(std::int64_t position) const;
    [[nodiscard]] std::int64_t transfers_of(std::int64_t file, std::int64_t sample) const;
    void enter(std::int64_t visit);

    const Dataset& dataset_;
    SampleSizes sizes_;
    ReaderPlace place_;
    std::uint64_t file_key_;
    std::uint64_t sample_key_;
    std::optional<Permutation> file_order_;
    std::optional<Permutation> sample_order_;  // of the present file
    std::int64_t visit_ = -1;                  // the present file's place in the order of files
    std::int64_t file_ = -1;
    std::int64_t position_ = 0;  // of the next sample in the epoch
    std::int64_t sample_ = -1;   // whose transfers are made, in its file
    std::int64_t done_ = 0;      // bytes of it
    std::int64_t samples_done_ = 0;
    std::int64_t samples_begun_ = 0;
};

/// The bytes of all ranks' transfers, and a bound on their number, for a family of so many members.
struct DatasetEffort {
    std::int64_t bytes = 0;
    std::int64_t calls = 0;
};
[[nodiscard]] DatasetEffort dataset_effort(const Dataset& dataset, std::int64_t members);

}  // namespace wa
