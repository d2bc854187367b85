#include "schedule/gap_fill.hpp"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "io/mpi.hpp"

namespace wa {
namespace {

using Time = std::chrono::steady_clock;

Time::duration duration_of(double seconds) {
    return std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(seconds));
}

Time::time_point after(double seconds) {
    return Time::now() + duration_of(seconds);
}

class Sleep final : public GapFiller {
  public:
    void work(double seconds, bool /*gives_way*/) override {
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    }
};

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Uses the CPU for a share of the time, and sleeps for the rest. Where other processes take the CPU away,
/// less time is left for sleep. The last of the computing comes after the sleep: an application computes
/// until it calls I/O, and a call on a CPU that was idle just before takes twice as long.
class Busy final : public GapFiller {
  public:
    explicit Busy(double share) : share_(share) {}
    void work(double seconds, bool gives_way) override {
        const auto end = after(seconds);
        const double last = share_ < 1 ? std::min(last_s, share_ * seconds) : 0.0;
        if (share_ > 0) compute(share_ * seconds - last, end, gives_way);
        if (share_ < 1) std::this_thread::sleep_until(end - duration_of(last));
        if (last > 0) compute(last, end, gives_way);
    }

  private:
    static constexpr double last_s = 1e-3;

    void compute(double seconds, Time::time_point end, bool gives_way) {
        const double enough = cpu_seconds() + seconds;
        double x = value_;
        do {
            for (int i = 0; i < 10000; ++i) x = x * 1.0000001 + 1e-9;
            if (gives_way) sched_yield();
        } while (Time::now() < end && (share_ == 1 || cpu_seconds() < enough));
        value_ = x > 1e6 ? 1.0 : x;  // kept, so that the loop is not optimized away
    }

    double share_;
    volatile double value_ = 1.0;
};

/// A triad over arrays that are larger than most caches.
class Memory final : public GapFiller {
  public:
    Memory() : a_(words, 1.0), b_(words, 2.0), c_(words, 0.5) {}
    void work(double seconds, bool gives_way) override {
        constexpr std::size_t slice = std::size_t{1} << 16U;
        const auto end = after(seconds);
        do {
            for (std::size_t i = at_; i < at_ + slice; ++i) a_[i] = b_[i] + 0.3 * c_[i];
            at_ = (at_ + slice) % words;
            if (at_ == 0) std::swap(a_, b_);
            if (gives_way) sched_yield();
        } while (Time::now() < end);
    }

  private:
    static constexpr std::size_t words = std::size_t{1} << 21U;  // 16 MiB each
    std::vector<double> a_;
    std::vector<double> b_;
    std::vector<double> c_;
    std::size_t at_ = 0;
};

/// Exchanges messages with a partner. Ranks fill gaps of different length, so this class never waits for the
/// partner. A message is sent when the previous one has arrived, and remaining ones are received at the end.
class Exchange final : public GapFiller {
  public:
    Exchange() : out_(bytes), in_(bytes) {
        mpi::check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
        const int rank = mpi::rank(comm_);
        partner_ = rank ^ 1;
        if (partner_ >= mpi::size(comm_)) partner_ = -1;
        if (partner_ >= 0) receive();
    }
    ~Exchange() override {
        if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    }
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    Exchange(Exchange&&) = delete;
    Exchange& operator=(Exchange&&) = delete;

    void work(double seconds, bool /*gives_way*/) override {
        const auto end = after(seconds);
        do {
            const bool moved = partner_ >= 0 && step();
            if (!moved) std::this_thread::sleep_for(std::chrono::microseconds(200));
        } while (Time::now() < end);
    }

    void finish() override {
        if (partner_ < 0) return;
        MPI_Request last = MPI_REQUEST_NULL;
        mpi::check(MPI_Isend(out_.data(), 0, MPI_BYTE, partner_, 0, comm_, &last), "MPI_Isend");
        while (!partner_done_) {
            mpi::check(MPI_Wait(&incoming_, &status_), "MPI_Wait");
            arrived();
        }
        mpi::check(MPI_Wait(&outgoing_, MPI_STATUS_IGNORE), "MPI_Wait");
        mpi::check(MPI_Wait(&last, MPI_STATUS_IGNORE), "MPI_Wait");
    }

  private:
    static constexpr int bytes = 1 << 16;

    void receive() {
        mpi::check(MPI_Irecv(in_.data(), bytes, MPI_BYTE, partner_, 0, comm_, &incoming_), "MPI_Irecv");
    }
    /// The last message of a partner is empty.
    void arrived() {
        int size = 0;
        mpi::check(MPI_Get_count(&status_, MPI_BYTE, &size), "MPI_Get_count");
        partner_done_ = size == 0;
        if (!partner_done_) receive();
    }
    bool step() {
        int flag = 0;
        bool moved = false;
        if (!partner_done_) {
            mpi::check(MPI_Test(&incoming_, &flag, &status_), "MPI_Test");
            if (flag != 0) {
                arrived();
                moved = true;
            }
        }
        mpi::check(MPI_Test(&outgoing_, &flag, MPI_STATUS_IGNORE), "MPI_Test");
        if (flag != 0 && !partner_done_) {
            mpi::check(MPI_Isend(out_.data(), bytes, MPI_BYTE, partner_, 0, comm_, &outgoing_), "MPI_Isend");
            moved = true;
        }
        return moved;
    }

    MPI_Comm comm_ = MPI_COMM_NULL;
    int partner_ = -1;
    std::vector<std::byte> out_;
    std::vector<std::byte> in_;
    MPI_Request incoming_ = MPI_REQUEST_NULL;
    MPI_Request outgoing_ = MPI_REQUEST_NULL;
    MPI_Status status_{};
    bool partner_done_ = false;
};

}  // namespace

std::unique_ptr<GapFiller> make_gap_filler(GapFill kind, double cpu_share) {
    switch (kind) {
        case GapFill::busy:
            return std::make_unique<Busy>(cpu_share);
        case GapFill::memory:
            return std::make_unique<Memory>();
        case GapFill::mpi:
            return std::make_unique<Exchange>();
        default:
            return std::make_unique<Sleep>();
    }
}

}  // namespace wa
