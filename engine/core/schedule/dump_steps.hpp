// The calls of one rank in one dump, each with the moment at which it is planned, in seconds of the original
// run.
//
// Ranks that make a collective call together plan it at the same moment. A rank performs the calls of all its
// dumps in the order of these moments, so all ranks make collective calls in one order and none waits for
// ever.
#pragma once

#include <array>

#include "expand/calls.hpp"
#include "expand/dump.hpp"
#include "schedule/life.hpp"
#include "schedule/times.hpp"

namespace wa {

class DumpSteps {
  public:
    /// `operations` and `calls` must live as long. Calls that no other rank waits for are at the rank's
    /// `own` time. With `joins_sections`, a rank that does not use the file enters the sections all the
    /// same, since others wait for it there.
    DumpSteps(const Plan& plan, std::size_t position, const DumpTimes& times, const OwnTime& own,
              DumpOperations& operations, RankCalls& calls, bool joins_sections = false);

    /// The next call; false when the dump is over.
    bool next(Call& call);
    /// When the call is due, and how long the original spent in it.
    [[nodiscard]] double start_s() const { return at_s_; }
    [[nodiscard]] double busy_s() const { return busy_s_; }

  private:
    /// Operations of one direction, or of both where they alternate, spread evenly over a span of time.
    struct Stretch {
        double first_s = 0;
        double last_s = 0;       // the start of the last operation
        double busy_s = 0;       // of an operation of weight 1
        double turns = 0;        // the weights of the busiest rank's operations
        double last_weight = 1;  // of the last operation
        double passed = 0;       // weights in earlier sections
        [[nodiscard]] double at(double turn) const;
        [[nodiscard]] double step_s() const;
    };
    void plan_stretches(const Dump& dump, const DumpTurns& turns, bool in_turn, double share);
    bool next_call(Call& call);
    void enter(const Section& section);
    void leave_section();
    void move_to(double seconds, double busy_s = 0);
    [[nodiscard]] double in_section(double turn) const;
    [[nodiscard]] double in_epoch(std::int64_t samples_read) const;

    DumpOperations& operations_;
    RankCalls& calls_;
    const Dataset* dataset_;
    double begin_s_ = 0;              // of the calls of this rank
    std::array<double, 2> from_s_{};  // by direction: from when on its windows count
    double end_s_ = 0;
    double over_s_ = 0;  // when the dump is over for all ranks
    double compute_s_ = 0;
    double at_s_ = 0;
    double busy_s_ = 0;
    double edge_s_ = 0;                 // inside an open or a close
    std::array<Stretch, 2> stretches_;  // by direction; one for both is the first
    bool one_stretch_ = false;
    Stretch* stretch_ = nullptr;  // of the present section
    Section section_;
    double section_at_s_ = 0;  // its first turn, and the time from one turn of this rank to the next
    double turn_s_ = 0;
    double section_end_s_ = 0;
    bool in_section_ = false;
    bool takes_turn_ = false;   // as its next step
    bool passes_turn_ = false;  // as its last step
    bool joins_sections_;
};

}  // namespace wa
