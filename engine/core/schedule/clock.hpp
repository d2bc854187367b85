// Real time in a run, and when the events of an agenda are due in it. Time zero is the end of the
// preparation, on the monotonic clock of each host.
#pragma once

#include <algorithm>
#include <chrono>

#include "plan/plan.hpp"

namespace wa {

class Clock {
  public:
    using Time = std::chrono::steady_clock::time_point;

    void start(Time zero) { zero_ = zero; }
    [[nodiscard]] double now() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - zero_).count();
    }

  private:
    Time zero_ = std::chrono::steady_clock::now();
};

/// The time that a rank spends between its calls without waiting: it makes data and keeps the record. An
/// application computes there, so that this is a part of its compute time.
class BetweenCalls {
  public:
    /// Notes a call.
    void called(double start_s, double end_s) {
        spent_s_ += start_s - since_s_;
        since_s_ = end_s;
    }
    /// Notes a wait.
    void waited(double start_s, double end_s) { called(start_s, end_s); }
    /// The time up to now, since this was asked the last time.
    [[nodiscard]] double take(double now_s) {
        const double spent = spent_s_ + now_s - since_s_;
        spent_s_ = 0;
        since_s_ = now_s;
        return spent;
    }

  private:
    double since_s_ = 0;  // the end of the last call or wait
    double spent_s_ = 0;
};

/// Tells how long a rank waits before its next event. With `gap` it waits as long as the original computed
/// since its last call, so that a slow system stretches the calls alone. With `deadline` it waits until the
/// event is due.
class Pace {
  public:
    Pace(ClockKind kind, double time_scale) : kind_(kind), scale_(time_scale) {}

    /// Seconds to wait before an event that the original had at `at_s`, of which the plan's own delay is
    /// `delay_s`, if the rank has spent `between_s` between its calls since the last look. Waits that are too
    /// short to be slept exactly are added to the next one. Negative with `deadline`: the rank is late by
    /// this.
    [[nodiscard]] double before(double at_s, double delay_s, double now_s, double between_s) {
        if (scale_ == 0) return 0;
        if (kind_ == ClockKind::deadline) return (at_s - delay_s) * scale_ - now_s;
        if (at_s > reached_s_) {
            owed_s_ += (at_s - reached_s_) * scale_;
            reached_s_ = at_s;
        }
        waited(between_s);
        return owed_s_ < shortest_wait_s ? 0 : owed_s_;
    }
    /// Whether before() needs no look at the clock: nothing is due, or nothing is waited for.
    [[nodiscard]] bool at_once(double at_s) const {
        return scale_ == 0 || (kind_ == ClockKind::gap && at_s <= reached_s_ && owed_s_ < shortest_wait_s);
    }
    /// Notes how long the rank has waited. What was too long is taken off the next wait.
    void waited(double seconds) { owed_s_ = std::max(owed_s_ - seconds, -longest_credit_s); }
    /// Notes that the rank has computed for so long, which counts as waiting but shortens no later wait.
    void computed(double seconds) { owed_s_ = std::max(owed_s_ - seconds, std::min(owed_s_, 0.0)); }
    /// Notes an event that took `busy_s` of the original run.
    void passed(double at_s, double busy_s) { reached_s_ = std::max(reached_s_, at_s + busy_s); }
    [[nodiscard]] bool waits() const { return scale_ > 0; }
    /// The moment of the original run up to which the rank has come.
    [[nodiscard]] double reached_s() const { return reached_s_; }

  private:
    static constexpr double shortest_wait_s = 2e-4;
    static constexpr double longest_credit_s = 0.05;
    ClockKind kind_;
    double scale_;
    double reached_s_ = 0;
    double owed_s_ = 0;  // real seconds that are still to be waited
};

}  // namespace wa
