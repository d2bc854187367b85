// What a rank does while it waits, by the clock of its thread's CPU time.
#include <doctest/doctest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>
#include <vector>

#include "schedule/clock.hpp"
#include "schedule/gap_fill.hpp"

using namespace wa;

namespace {

/// CPU seconds that work(seconds) uses after its longest rest.
double computed_after_rest(double share, double seconds) {
    std::atomic<bool> begun{false};
    std::atomic<bool> done{false};
    std::thread rank([&] {
        const auto filler = make_gap_filler(GapFill::busy, share);
        begun = true;
        filler->work(seconds, false);
        done = true;
        while (begun) std::this_thread::yield();  // its clock lives as long as the thread
    });
    clockid_t clock{};
    pthread_getcpuclockid(rank.native_handle(), &clock);
    const auto used = [&] {
        timespec now{};
        clock_gettime(clock, &now);
        return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
    };
    std::vector<double> samples;
    while (!begun) std::this_thread::yield();
    while (!done) {
        samples.push_back(used());
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    begun = false;
    rank.join();
    std::size_t longest = 0;
    std::size_t rest_ends = 0;
    for (std::size_t i = 1, run = 0; i < samples.size(); ++i) {
        run = samples[i] - samples[i - 1] < 2e-5 ? run + 1 : 0;
        if (run > longest) {
            longest = run;
            rest_ends = i;
        }
    }
    return samples.empty() ? 0 : samples.back() - samples[rest_ends];
}

double thread_cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// CPU seconds of a rank that fills time on the same core as a thread that computes for 0.1 s of CPU time.
double computed_beside_another(bool gives_way) {
    cpu_set_t before;
    cpu_set_t core;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    CPU_ZERO(&core);
    for (std::size_t cpu = 0; CPU_COUNT(&core) == 0; ++cpu)
        if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &core);
    sched_setaffinity(0, sizeof core, &core);  // of this thread, and of those that it starts
    std::atomic<bool> begun{false};
    std::atomic<bool> done{false};
    double used = 0;
    std::thread rank([&] {
        const auto filler = make_gap_filler(GapFill::busy, 1);
        begun = true;
        const double start = thread_cpu_seconds();
        while (!done) filler->work(0.02, gives_way);
        used = thread_cpu_seconds() - start;
    });
    while (!begun) std::this_thread::yield();
    const double enough = thread_cpu_seconds() + 0.1;
    while (thread_cpu_seconds() < enough) {
    }
    done = true;
    rank.join();
    sched_setaffinity(0, sizeof before, &before);
    return used;
}

/// Whether a process that yields gives up more than the rest of its slice.
bool kernel_yields() {
    utsname name{};
    int major = 0;
    int minor = 0;
    uname(&name);
    if (std::sscanf(name.release, "%d.%d", &major, &minor) != 2) return false;
    return major != 6 || minor < 6 || minor > 17;
}

}  // namespace

TEST_CASE("a rank that waits for others gives way to those that compute" * doctest::skip(!kernel_yields())) {
    CHECK(computed_beside_another(true) < 0.7 * computed_beside_another(false));
}

TEST_CASE("a rank that computes for a share of its time does so until it calls I/O") {
    double most = 0;  // on a machine at work, the rest may end late
    for (int i = 0; i < 20 && most < 3e-4; ++i) most = std::max(most, computed_after_rest(0.3, 0.05));
    CHECK(most >= 3e-4);
}

TEST_CASE("what a rank spends between its calls is a part of its compute time") {
    BetweenCalls between;
    between.called(1.0, 3.0);  // 1 s of making data
    between.waited(3.25, 5.0);
    between.called(5.5, 6.0);
    CHECK(between.take(6.125) == doctest::Approx(1.0 + 0.25 + 0.5 + 0.125));
    CHECK(between.take(6.25) == doctest::Approx(0.125));

    Pace gap(ClockKind::gap, 1.0);
    CHECK(gap.before(2.0, 0, 0, 0.5) == doctest::Approx(1.5));
    gap.waited(1.5);
    CHECK(gap.before(12.0, 0, 5.0, 10.25) == 0);                    // it took longer than the application
    CHECK(gap.before(13.0, 0, 15.25, 0) == doctest::Approx(0.95));  // a little of that is caught up
    Pace deadline(ClockKind::deadline, 1.0);
    CHECK(deadline.before(12.0, 0, 5.0, 3.0) == doctest::Approx(7));    // a moment is a moment
    CHECK(deadline.before(12.0, 0, 15.0, 3.0) == doctest::Approx(-3));  // also for a rank that is late
}
