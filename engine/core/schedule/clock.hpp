// When each dump is due. Time zero is the end of the preparation, on the monotonic clock of each host. A
// virtual clock stands still until it is moved, so a schedule can be followed without waiting.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "plan/plan.hpp"

namespace wa {

class Clock {
  public:
    enum class Source { real, virtual_time };
    Clock(ClockKind kind, double time_scale, Source source = Source::real)
        : kind_(kind), scale_(time_scale), source_(source) {}

    using Time = std::chrono::steady_clock::time_point;

    /// The progress inside a dump, in seconds of the original run: when the last nested dump ended, and when
    /// it should have ended. At first both are the start of the dump itself.
    struct Progress {
        double ended_s = 0;
        double planned_s = 0;
    };

    void start(Time zero) { zero_ = zero; }
    [[nodiscard]] double now() const {
        if (source_ == Source::virtual_time) return virtual_s_;
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - zero_).count();
    }
    /// Moves a virtual clock to a moment, but never back.
    void move_to(double seconds) { virtual_s_ = std::max(virtual_s_, seconds); }
    /// When the dump may begin; the caller waits. Computing fills the gap before a dump. Only computing that
    /// takes longer than the gap makes the dump late.
    [[nodiscard]] double due(const Dump& dump) const {
        if (scale_ == 0) return now();
        if (kind_ == ClockKind::deadline) return dump.start_s * scale_;
        const double since_passed = passed_s_ ? dump.start_s - *passed_s_ : 0.0;
        return std::max(previous_end_ + std::max(dump.gap_s, since_passed) * scale_, computed_s_);
    }
    /// The same for a dump that begins during the compute time of another dump, whose last operation is still
    /// to come.
    [[nodiscard]] double due_within(const Dump& dump, const Progress& outer) const {
        if (kind_ == ClockKind::deadline) return dump.start_s * scale_;
        return outer.ended_s + std::max(0.0, dump.start_s - outer.planned_s) * scale_;
    }
    /// Notes that a dump has ended now. If this process took no part, the dump took no time: the next one
    /// follows its start after the original interval.
    void ended(const Dump& dump, double due, bool took_part) {
        previous_end_ = took_part ? now() : due;
        passed_s_ = took_part ? std::nullopt : std::optional(dump.start_s);
    }
    /// Notes that the computing between two dumps has ended now.
    void computed() { computed_s_ = now(); }
    [[nodiscard]] bool waits() const { return scale_ > 0; }

  private:
    ClockKind kind_;
    double scale_;
    Source source_;
    double virtual_s_ = 0;
    double previous_end_ = 0;
    double computed_s_ = 0;
    /// The start of the last dump in the original run, if this process had no part in it.
    std::optional<double> passed_s_;
    Time zero_ = std::chrono::steady_clock::now();
};

}  // namespace wa
