// Computing between dumps: exact amounts of work, whatever time they take (docs/plan-format.md, "Computing").
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "plan/plan.hpp"

namespace wa {

/// The work of one level. The results of a unit are the input of the next.
class ComputeKernel {
  public:
    ComputeKernel() = default;
    virtual ~ComputeKernel() = default;
    ComputeKernel(const ComputeKernel&) = delete;
    ComputeKernel& operator=(const ComputeKernel&) = delete;
    ComputeKernel(ComputeKernel&&) = delete;
    ComputeKernel& operator=(ComputeKernel&&) = delete;

    /// Performs one unit. On level 3, all processes of the communicator perform it together.
    virtual void unit() = 0;
    /// A checksum of the results of this process; every computed number enters it.
    [[nodiscard]] virtual double checksum() const = 0;
};

/// The definition of a unit: `amount` of `what` by each process.
struct ComputeUnit {
    std::string_view name;
    double amount;
    std::string_view what;
};

[[nodiscard]] ComputeUnit unit_of(std::int64_t level);
[[nodiscard]] std::unique_ptr<ComputeKernel> make_kernel(std::int64_t level, MPI_Comm comm);

/// What all processes did.
struct ComputeTotals {
    std::int64_t level = 1;
    std::int64_t units = 0;  // by each process
    double min_s = 0;
    double max_s = 0;
    double mean_s = 0;
    std::int64_t slowest = 0;  // a rank; runs with computing have one process per rank
    double checksum = 0;       // summed over the processes
};

/// The computing of one process during a run.
class Computing {
  public:
    /// Collective over all processes.
    explicit Computing(const Compute& compute);
    ~Computing();
    Computing(const Computing&) = delete;
    Computing& operator=(const Computing&) = delete;
    Computing(Computing&&) = delete;
    Computing& operator=(Computing&&) = delete;

    /// Performs the work of one dump; `poll` is called after each unit.
    void perform(const std::function<void()>& poll);
    /// Collective over all processes; the result is valid on process 0.
    [[nodiscard]] ComputeTotals totals() const;

  private:
    Compute compute_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    std::unique_ptr<ComputeKernel> kernel_;
    std::int64_t units_ = 0;
    double seconds_ = 0;
};

}  // namespace wa
