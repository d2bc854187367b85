// When each dump is due. Time zero is the end of the preparation, on the monotonic clock of each host.
#pragma once

#include <chrono>

#include "plan/model.hpp"

namespace wa {

class Clock {
  public:
    Clock(ClockKind kind, double time_scale) : kind_(kind), scale_(time_scale) {}

    using Time = std::chrono::steady_clock::time_point;

    void start(Time zero) { zero_ = zero; }
    [[nodiscard]] double now() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - zero_).count();
    }
    /// When the dump may begin. Waiting is the caller's.
    [[nodiscard]] double due(const Dump& dump) const {
        if (scale_ == 0) return now();
        return kind_ == ClockKind::gap ? previous_end_ + dump.gap_s * scale_ : dump.start_s * scale_;
    }
    /// A dump has ended here. One that this process had no part in took it no time: its gap has passed all
    /// the same.
    void ended(double due, bool took_part) { previous_end_ = took_part ? now() : due; }
    [[nodiscard]] bool waits() const { return scale_ > 0; }

  private:
    ClockKind kind_;
    double scale_;
    double previous_end_ = 0;
    Time zero_ = std::chrono::steady_clock::now();
};

}  // namespace wa
