#include "schedule/compute.hpp"

#include <chrono>

#include "io/mpi.hpp"

namespace wa {

Computing::Computing(const Compute& compute) : compute_(compute) {
    mpi::check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
    kernel_ = make_kernel(compute.level, comm_);
}

Computing::~Computing() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void Computing::perform(const std::function<void()>& poll) {
    using Time = std::chrono::steady_clock;
    for (std::int64_t unit = 0; unit < compute_.units; ++unit) {
        const auto start = Time::now();
        kernel_->unit();
        seconds_ += std::chrono::duration<double>(Time::now() - start).count();
        ++units_;
        poll();
    }
}

ComputeTotals Computing::totals() const {
    const auto reduce = [this](double value, MPI_Op operation) {
        double result = 0;
        mpi::check(MPI_Reduce(&value, &result, 1, MPI_DOUBLE, operation, 0, comm_), "MPI_Reduce");
        return result;
    };
    struct {
        double seconds;
        int process;
    } own{seconds_, mpi::rank(comm_)}, slowest{};
    mpi::check(MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, 0, comm_), "MPI_Reduce");
    ComputeTotals out;
    out.level = compute_.level;
    out.units = units_;
    out.min_s = reduce(seconds_, MPI_MIN);
    out.max_s = slowest.seconds;
    out.mean_s = reduce(seconds_, MPI_SUM) / mpi::size(comm_);
    out.slowest = slowest.process;
    out.checksum = reduce(kernel_->checksum(), MPI_SUM);
    return out;
}

}  // namespace wa
