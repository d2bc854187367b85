#include "run/perform.hpp"

#include <mpi.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "errors.hpp"
#include "io/mpi.hpp"
#include "record/collector.hpp"
#include "record/per_rank.hpp"
#include "record/progress.hpp"
#include "run/failure.hpp"
#include "run/rank.hpp"
#include "schedule/gap_fill.hpp"

namespace wa {
namespace {

/// The longest time for which a waiting process does not check for messages and signals.
constexpr double slice_s = 0.02;
/// The same at the end, when other processes may finish at any moment.
constexpr double last_slice_s = 0.002;
/// The same before a dump, where a delay of one process delays all.
constexpr double barrier_slice_s = 0.00005;

class Performance {
  public:
    Performance(Setup& setup, LineFile& record, PerRankTable& per_rank)
        : setup_(setup),
          record_(record),
          per_rank_(per_rank),
          progress_(setup),
          collector_(sinks()),
          filler_(make_gap_filler(setup.clock->waits() ? setup.plan.gap_fill : GapFill::sleep)) {
        for (std::int64_t rank = setup.process; rank < setup.plan.ranks; rank += setup.processes) {
            ranks_.emplace_back(
                setup, rank,
                RankRun::Host{[this] { poll(); },
                              [this](double seconds, bool alone) { compute(seconds, alone); }});
        }
    }

    VerifyResult run() {
        while (next_ < setup_.plan.dumps.size()) perform_next();
        if (setup_.clock->waits()) work_until_all_are_done();
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

    /// A dump that has begun and not ended.
    struct Begun {
        std::size_t dump;
        Clock::Progress progress;
    };

    void perform_next() {
        const std::size_t dump = next_++;
        const bool loads = !moves(setup_.content(dump), Direction::write);
        if (!loads) compute_between();
        const double due = due_of(dump);
        const bool involved = takes_part(dump);
        try {
            if (involved) wait_until(due);
            poll();
            if (involved && setup_.plan.dumps[dump].barrier) wait_for_others(setup_.family(dump));
            begun_.push_back({dump, {setup_.clock->now(), setup_.plan.dumps[dump].start_s}});
            perform_ranks(dump, due);
            begun_.pop_back();
        } catch (const CallFailed& error) {
            end_all(setup_, &collector_, error, failing_rank_, dump);
        }
        if (begun_.empty()) {
            setup_.clock->ended(setup_.plan.dumps[dump], due, involved);
        } else {
            Clock::Progress& outer = begun_.back().progress;
            outer.ended_s = involved ? setup_.clock->now() : due;
            outer.planned_s = std::max(outer.planned_s, setup_.plan.dumps[dump].end_s);
        }
        if (loads) compute_between();
    }

    /// Computes what the plan has between dumps, on all ranks: before a dump that writes, after one that only
    /// reads.
    void compute_between() {
        if (!setup_.computing) return;
        try {
            setup_.computing->perform([this] { poll(); });
        } catch (const CallFailed& error) {
            end_all(setup_, &collector_, error, setup_.process, std::nullopt);
        }
        setup_.clock->computed();
    }

    [[nodiscard]] double due_of(std::size_t dump) const {
        const Dump& next = setup_.plan.dumps[dump];
        return begun_.empty() ? setup_.clock->due(next)
                              : setup_.clock->due_within(next, begun_.back().progress);
    }

    /// Computes in a dump of a rank. Dumps that began before the end of this dump in the original run begin
    /// here as well. They keep the order of the plan, so that ranks that wait for each other do so in the
    /// same dump.
    void compute(double seconds, bool alone) {
        const double end = setup_.clock->now() + seconds;
        while (alone && next_begins_within() && due_of(next_) <= end) perform_next();
        wait_until(end);
    }

    [[nodiscard]] bool next_begins_within() const {
        const std::vector<Dump>& dumps = setup_.plan.dumps;
        if (setup_.computing) return false;  // all ranks compute together before it
        if (next_ == dumps.size() || dumps[next_].start_s >= dumps[begun_.back().dump].end_s) return false;
        return std::none_of(begun_.begin(), begun_.end(), [&](const Begun& outer) {
            return dumps[outer.dump].family == dumps[next_].family;
        });
    }

    /// The application computes on all ranks while some of them still write.
    void work_until_all_are_done() {
        try {
            wait_for_all_of(MPI_COMM_WORLD, last_slice_s);
        } catch (const CallFailed& error) {
            end_all(setup_, &collector_, error, setup_.process, std::nullopt);
        }
    }

    /// Waits for all ranks of a family. A single process that performs all ranks need not wait.
    void wait_for_others(const Family& family) {
        if (setup_.processes == setup_.plan.ranks && setup_.performs &&
            family.sharing.mode != SharingMode::root) {
            wait_for_all_of(setup_.communicators.members(family), barrier_slice_s);
        }
    }

    void wait_for_all_of(MPI_Comm comm, double slice) {
        MPI_Request everyone = MPI_REQUEST_NULL;
        int done = 0;
        mpi::check(MPI_Ibarrier(comm, &everyone), "MPI_Ibarrier");
        while (true) {
            mpi::check(MPI_Test(&everyone, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done != 0) return;
            poll();
            filler_->work(slice);
        }
    }

    /// Whether this process has a rank in the dump's family, or sends its data to one that has.
    [[nodiscard]] bool takes_part(std::size_t dump) const {
        if (setup_.family(dump).sharing.gather) return true;
        const RankSet& members = setup_.layout(dump).members();
        for (const RankRun& rank : ranks_) {
            if (members.contains(rank.rank())) return true;
        }
        return false;
    }

    void perform_ranks(std::size_t dump, double due) {
        const bool per_rank = !setup_.options.per_rank.empty();
        std::optional<Summary> merged;
        for (RankRun& rank : ranks_) {
            failing_rank_ = rank.rank();
            const std::optional<Summary> summary = rank.perform(dump, due);
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

    void wait_until(double due) {
        while (true) {
            const double left = due - setup_.clock->now();
            if (left <= 0) return;
            poll();
            filler_->work(std::min(left, slice_s));
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
    std::size_t next_ = 0;                 // the next dump to begin
    std::vector<Begun> begun_;             // each began during the one before it
    std::vector<std::int64_t> summaries_;  // per family, found when first needed
    std::int64_t failing_rank_ = 0;
};

}  // namespace

VerifyResult perform_dumps(Setup& setup, LineFile& record, PerRankTable& per_rank) {
    return Performance(setup, record, per_rank).run();
}

}  // namespace wa
