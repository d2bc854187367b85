// A plan rank: performs its parts of dumps, many of which can be in progress, and measures them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "record/summary.hpp"
#include "run/part.hpp"
#include "run/setup.hpp"
#include "run/verify.hpp"
#include "schedule/clock.hpp"

namespace wa {

class RankRun {
  public:
    /// `poll` is called repeatedly while operations are performed.
    RankRun(Setup& setup, std::int64_t rank, std::function<void()> poll);

    /// Begins the part of this rank in a dump that is due at `due` seconds of the run. Null if it is no
    /// member of the family.
    RankPart* begin(std::size_t dump, double due);
    void perform(RankPart& part, const Call& call);
    /// Ends the part, which exists no longer.
    Summary end(RankPart& part);
    /// Performs all of a dump at once; nothing if the rank is no member of the family.
    [[nodiscard]] std::optional<Summary> perform_dump(std::size_t dump, double due);

    /// The time that is neither in calls nor in waits, until `now_s` and since this was asked the last time.
    [[nodiscard]] double between_calls(double now_s) { return between_.take(now_s); }
    /// Waits. The time since `start_s` is no time between calls. Returns when the wait ended.
    template <typename F>
    double waiting(double start_s, F&& wait) {
        wait();
        const double end_s = now();
        between_.waited(start_s, end_s);
        return end_s;
    }
    template <typename F>
    void waiting(F&& wait) {
        waiting(now(), std::forward<F>(wait));
    }

    [[nodiscard]] const VerifyResult& verified() const { return verified_; }
    [[nodiscard]] std::int64_t rank() const { return rank_; }
    [[nodiscard]] const Life& life() const { return life_; }

  private:
    [[nodiscard]] std::unique_ptr<RankPart> part_of(std::size_t dump, std::int64_t member);
    void note_start(RankPart& part) const;
    void perform_in_file(RankPart& part, const Call& call);
    void enter_file(RankPart& part, std::int64_t file) const;
    void open(RankPart& part, const Call& call);
    void begin_dump(RankPart& part);
    void transfer(RankPart& part, const Call& call);
    void close(RankPart& part, bool extra);
    void leave(RankPart& part);
    void after_close(RankPart& part);
    void barrier(MPI_Comm comm);
    void wait_for_writers(const RankPart& part);
    void wait_for_writers(RankPart& part, const Section& section);
    static void publish(const RankPart& part);
    void pass_turn(const RankPart& part, bool receive) const;
    [[nodiscard]] static std::optional<Direction> verifiable(const RankPart& part);
    void verify(RankPart& part);
    void verify_dataset(const RankPart& part, DumpOperations& operations, FileContext& context);
    template <typename F>
    void timed(RankPart& part, Kind kind, F&& call, std::int64_t bytes = 0);
    template <typename F>
    double seconds_in(RankPart& part, Kind kind, F&& call);
    [[nodiscard]] double now() const { return setup_.clock.now(); }

    Setup& setup_;
    std::int64_t rank_;
    Life life_;
    std::function<void()> poll_;
    double last_look_ = 0;
    BetweenCalls between_;
    std::unordered_map<std::size_t, std::unique_ptr<RankPart>> parts_;  // by dump
    std::map<std::pair<std::size_t, std::int64_t>, HeldFile> held_;     // appended files, by family and file
    VerifyResult verified_;
};

}  // namespace wa
