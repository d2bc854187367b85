#include "run/perform.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "errors.hpp"
#include "io/mpi.hpp"
#include "record/collector.hpp"
#include "record/per_rank.hpp"
#include "run/failure.hpp"
#include "run/progress.hpp"
#include "run/rank.hpp"
#include "schedule/agenda.hpp"
#include "schedule/clock.hpp"
#include "schedule/gap_fill.hpp"
#include "schedule/life.hpp"

namespace wa {
namespace {

/// The longest time for which a waiting process does not check for messages and signals.
constexpr double slice_s = 0.02;
/// The same at the end, when other processes may finish at any moment.
constexpr double last_slice_s = 0.002;
/// The same before a dump, where a delay of one process delays all.
constexpr double barrier_slice_s = 0.00005;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr Alive always{-infinite, infinite};

class Performance {
  public:
    Performance(Setup& setup, LineFile& record, PerRankTable& per_rank)
        : setup_(setup),
          record_(record),
          per_rank_(per_rank),
          progress_(setup),
          collector_(sinks()),
          filler_(make_gap_filler(setup.plan.time_scale > 0 ? setup.plan.gap_fill : GapFill::sleep,
                                  setup.plan.cpu_share)),
          pace_(setup.plan.clock, setup.plan.time_scale) {
        for (std::int64_t rank = setup.process; rank < setup.plan.ranks; rank += setup.processes)
            ranks_.emplace_back(setup, rank, [this] { poll(); });
    }

    VerifyResult run() {
        if (setup_.performs) {
            follow_agenda(ranks_.front());
        } else {
            count();
        }
        if (setup_.plan.time_scale > 0) work_until_all_are_done();
        collector_.finish(expected_dumps());
        filler_->finish();
        VerifyResult verified;
        for (const RankRun& rank : ranks_) verified.merge(rank.verified());
        return verified;
    }

  private:
    Collector::Sinks sinks() {
        Collector::Sinks out;
        out.dump_done = [this](const Summary& summary) {
            const auto dump = static_cast<std::size_t>(summary.dump);
            record_.append(dump_line(setup_.plan, summary, *setup_.performer(dump).counted));
            progress_.dump_done(summary);
        };
        if (!setup_.options.per_rank.empty()) {
            out.arrived = [this](const Summary& summary) { per_rank_.add(setup_.plan, summary); };
        }
        out.failed = [this](const FailureLine& failure) { end_all_for(setup_, failure); };
        out.expected = [this](std::int64_t dump) { return summaries_of(static_cast<std::size_t>(dump)); };
        return out;
    }

    /// The number of summaries of a dump: one per member with --per-rank, otherwise one per process with
    /// members.
    [[nodiscard]] std::int64_t summaries_of(std::size_t dump) {
        const std::size_t family = setup_.plan.dumps[dump].family;
        const Layout& layout = setup_.layouts[family];
        if (setup_.processes == setup_.plan.ranks || !setup_.options.per_rank.empty()) return layout.size();
        if (summaries_.empty()) summaries_.resize(setup_.plan.families.size(), 0);
        if (summaries_[family] == 0) {
            std::vector<bool> seen(static_cast<std::size_t>(setup_.processes));
            for (std::int64_t m = 0; m < layout.size(); ++m) {
                const auto process = static_cast<std::size_t>(layout.members().at(m) % setup_.processes);
                if (!seen[process]) ++summaries_[family];
                seen[process] = true;
            }
        }
        return summaries_[family];
    }

    [[nodiscard]] std::int64_t expected_dumps() const {
        return static_cast<std::int64_t>(setup_.plan.dumps.size());
    }

    /// Performs the dumps of a rank in the order of its agenda.
    void follow_agenda(RankRun& rank) {
        Agenda<RankPart> agenda(agenda_entries(setup_.plan, setup_.layouts, setup_.times, rank.rank(),
                                               setup_.computing != nullptr));
        Agenda<RankPart>::Event event;
        while (agenda.next(event)) {
            try {
                if (!pace_.at_once(event.at_s)) {
                    wait_before(rank, event.dump, event.at_s);
                } else if (event.kind == EventKind::begin) {
                    due_s_ = setup_.clock.now();
                }
                perform(rank, agenda, event);
                pace_.passed(event.at_s, event.busy_s);
            } catch (const CallFailed& error) {
                end_all(setup_, &collector_, error, rank.rank(), event.dump);
            }
        }
    }

    void perform(RankRun& rank, Agenda<RankPart>& agenda, const Agenda<RankPart>::Event& event) {
        switch (event.kind) {
            case EventKind::compute_before:
            case EventKind::compute_after:
                rank.waiting([this] { compute(); });
                return;
            case EventKind::begin:
                poll();
                if (setup_.plan.dumps[event.dump].barrier)
                    rank.waiting([&] { wait_for_others(setup_.family(event.dump), event.at_s); });
                if (RankPart* part = rank.begin(event.dump, due_s_)) agenda.add(event.dump, *part);
                return;
            case EventKind::call:
                rank.perform(*event.part, *event.call);
                return;
            case EventKind::end:
                collector_.submit(rank.end(*event.part));
                return;
        }
    }

    /// Waits until an event of a dump may happen. Start and end are each read once from the clock. The time
    /// between two readings would count twice, and the event would come too early.
    void wait_before(RankRun& rank, std::size_t dump, double at_s) {
        const double start = setup_.clock.now();
        due_s_ = start + pace_.before(at_s, setup_.times[dump].delay_s, start, rank.between_calls(start));
        if (due_s_ <= start) return;
        pace_.waited(rank.waiting(start, [&] { wait_until(due_s_, alive(at_s, due_s_)); }) - start);
    }

    /// Counts what all ranks of this process do, dump by dump.
    void count() {
        for (const std::size_t dump : in_order_of_start(setup_.times)) {
            double due = setup_.clock.now();
            if (setup_.plan.time_scale > 0 && takes_part(dump)) {
                due = setup_.times[dump].start_s * setup_.plan.time_scale;
                wait_until(due, always);
            }
            poll();
            count_ranks(dump, due);
        }
    }

    /// Computes what the plan has between dumps, together with all other ranks.
    void compute() {
        const double start = setup_.clock.now();
        setup_.computing->perform([this] { poll(); });
        pace_.computed(setup_.clock.now() - start);
    }

    /// The application computes on all ranks that still live while some of them write.
    void work_until_all_are_done() {
        try {
            wait_for_all_of(MPI_COMM_WORLD, last_slice_s, alive(pace_.reached_s(), setup_.clock.now()));
        } catch (const CallFailed& error) {
            end_all(setup_, &collector_, error, setup_.process, std::nullopt);
        }
    }

    /// Waits for all ranks of a family. A single process that performs all ranks need not wait.
    void wait_for_others(const Family& family, double at_s) {
        if (setup_.processes == setup_.plan.ranks && setup_.performs &&
            family.sharing.mode != SharingMode::root) {
            wait_for_all_of(setup_.communicators.members(family), barrier_slice_s,
                            alive(at_s, setup_.clock.now()));
        }
    }

    /// A rank that waits for others gives way to them, as MPI libraries do on fewer cores than ranks.
    void wait_for_all_of(MPI_Comm comm, double slice, const Alive& living) {
        MPI_Request everyone = MPI_REQUEST_NULL;
        int done = 0;
        mpi::check(MPI_Ibarrier(comm, &everyone), "MPI_Ibarrier");
        while (true) {
            mpi::check(MPI_Test(&everyone, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done != 0) return;
            poll();
            pass_time(slice, living, true);
        }
    }

    /// The real moments between which the rank of this process lives, if it comes to a moment of the original
    /// run at `real_s`.
    [[nodiscard]] Alive alive(double at_s, double real_s) const {
        if (setup_.plan.time_scale == 0 || !setup_.performs) return always;
        return real_life(ranks_.front().life(), at_s, real_s, setup_.plan.time_scale);
    }

    /// Lets at most so many seconds pass. A rank that does not live does no work: nothing ran in its place.
    void pass_time(double seconds, const Alive& living, bool gives_way) {
        const double now = setup_.clock.now();
        if (now < living.begin_s) {
            sleep(std::min(seconds, living.begin_s - now));
        } else if (now >= living.end_s) {
            sleep(seconds);
        } else {
            filler_->work(std::min(seconds, living.end_s - now), gives_way);
        }
    }

    static void sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

    /// Whether this process has a rank in the dump's family, or sends its data to one that has.
    [[nodiscard]] bool takes_part(std::size_t dump) const {
        if (setup_.family(dump).sharing.gather) return true;
        const RankSet& members = setup_.layout(dump).members();
        for (const RankRun& rank : ranks_) {
            if (members.contains(rank.rank())) return true;
        }
        return false;
    }

    void count_ranks(std::size_t dump, double due) {
        const bool per_rank = !setup_.options.per_rank.empty();
        std::optional<Summary> merged;
        for (RankRun& rank : ranks_) {
            const std::optional<Summary> summary = rank.perform_dump(dump, due);
            if (!summary) continue;
            if (per_rank) {
                collector_.submit(*summary);
            } else if (merged) {
                merged->merge(*summary);
            } else {
                merged = summary;
            }
        }
        if (merged) collector_.submit(*merged);
    }

    void wait_until(double due, const Alive& living) {
        while (true) {
            const double left = due - setup_.clock.now();
            if (left <= 0) return;
            poll();
            pass_time(std::min(left, slice_s), living, false);
        }
    }

    void poll() {
        check_signals();
        collector_.poll();
    }

    Setup& setup_;
    LineFile& record_;
    PerRankTable& per_rank_;
    Progress progress_;
    Collector collector_;
    std::unique_ptr<GapFiller> filler_;
    std::vector<RankRun> ranks_;
    Pace pace_;
    double due_s_ = 0;                     // when the present event was due
    std::vector<std::int64_t> summaries_;  // per family, found when first needed
};

}  // namespace

VerifyResult perform_dumps(Setup& setup, LineFile& record, PerRankTable& per_rank) {
    return Performance(setup, record, per_rank).run();
}

}  // namespace wa
