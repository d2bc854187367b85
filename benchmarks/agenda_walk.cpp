// Goes through the calls of rank 0 of a plan, dump by dump and in the order of the agenda, and prints the CPU
// nanoseconds of both for an operation: the least of several walks. usage: agenda_walk PLAN WALKS
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>

#include "count/operations.hpp"
#include "plan/read.hpp"
#include "schedule/timeline.hpp"

namespace {

double cpu_ns() {
    std::timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// What is kept of the calls, so that the compiler leaves none out.
struct Kept {
    std::int64_t transfers = 0;
    std::int64_t bytes = 0;
    double seconds = 0;

    void add(const wa::RankCall& made) {
        if (made.call->kind != wa::Call::Kind::transfer) return;
        ++transfers;
        bytes += made.call->operation.size;
    }
};

template <typename Walk>
double least_ns(int walks, Kept& kept, Walk walk) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < walks; ++i) {
        kept = {};
        const double begin = cpu_ns();
        walk(kept);
        least = std::min(least, (cpu_ns() - begin) / static_cast<double>(kept.transfers));
    }
    return least;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const wa::ResolvedPlan plan(wa::parse_plan(wa::read_plan_text(argv[1])), nullptr);
    const int walks = std::atoi(argv[2]);
    Kept plain;
    Kept timed;
    const double by_dump = least_ns(walks, plain, [&](Kept& kept) {
        wa::visit_calls(plan, 0, [&](const wa::RankCall& made) {
            kept.add(made);
            return true;
        });
    });
    const double in_time = least_ns(walks, timed, [&](Kept& kept) {
        wa::visit_timeline(plan, 0, [&](const wa::TimedCall& made) {
            kept.add(made.call);
            kept.seconds += made.at_s + made.busy_s;
            return true;
        });
    });
    if (plain.bytes != timed.bytes || timed.seconds <= 0) return 1;
    std::printf("%.3f %.3f\n", by_dump, in_time);
    return 0;
}
