#include "run/calibrate_compute.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>

#include "io/mpi.hpp"
#include "plan/limits.hpp"
#include "schedule/compute.hpp"

namespace wa {
namespace {

constexpr std::size_t repeats = 5;

/// The median over several units of the time of the slowest process. The first unit warms up.
double unit_seconds(std::int64_t level) {
    const auto kernel = make_kernel(level, MPI_COMM_WORLD);
    kernel->unit();
    std::array<double, repeats> seconds{};
    for (double& s : seconds) {
        mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        const double start = MPI_Wtime();
        kernel->unit();
        s = MPI_Wtime() - start;
    }
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(repeats), MPI_DOUBLE, MPI_MAX,
                             MPI_COMM_WORLD),
               "MPI_Allreduce");
    std::sort(seconds.begin(), seconds.end());
    return seconds[repeats / 2];
}

}  // namespace

int calibrate_compute() {
    const int process = mpi::rank(MPI_COMM_WORLD);
    for (std::int64_t level = 1; level <= limits::compute_levels; ++level) {
        const ComputeUnit unit = unit_of(level);
        const double seconds = unit_seconds(level);
        if (process != 0) continue;
        fmt::print("level {} {:<10} {:.4f} s per unit of {:.0f} {}: {:.2f} billion per second and rank\n",
                   level, unit.name, seconds, unit.amount, unit.what, unit.amount / seconds / 1e9);
    }
    return 0;
}

}  // namespace wa
