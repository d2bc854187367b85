// A plan rank: performs its part of a dump and measures it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "expand/calls.hpp"
#include "record/summary.hpp"
#include "run/setup.hpp"
#include "run/verify.hpp"

namespace wa {

class RankRun {
  public:
    /// What a rank needs from the process that performs it.
    struct Host {
        /// Called repeatedly while operations are performed.
        std::function<void()> poll;
        /// Computes for `seconds` in a dump. `alone` means that no rank waits for this one in the dump, so
        /// that other dumps may begin and end meanwhile.
        std::function<void(double seconds, bool alone)> compute;
    };
    RankRun(Setup& setup, std::int64_t rank, Host host);

    /// Performs the part of this rank; returns nothing if the rank is no member of the family.
    [[nodiscard]] std::optional<Summary> perform(std::size_t dump, double due);
    [[nodiscard]] const VerifyResult& verified() const { return verified_; }
    [[nodiscard]] std::int64_t rank() const { return rank_; }

  private:
    struct Use {
        std::unique_ptr<OpenFile> file;
        AccessState state;
    };
    struct Task;  // a dump that is being performed

    void perform_call(Task& task, const Call& call);
    void enter_file(Task& task, std::int64_t file) const;
    void open(Task& task, const Call& call);
    void begin_dump(Task& task);
    void transfer(Task& task, const Operation& operation);
    void compute(Task& task);
    [[nodiscard]] static double share_to_compute(const Task& task);
    void close(Task& task, bool extra);
    void after_close(Task& task);
    void wait_for_writers(const Task& task) const;
    void meet_before(Task& task, const Section& section) const;
    static void publish(const Task& task);
    void pass_baton(const Task& task, bool receive) const;
    [[nodiscard]] static std::optional<Direction> verifiable(const Task& task);
    void verify(Task& task);
    void verify_dataset(const Task& task, DumpOperations& operations, FileContext& context);
    template <typename F>
    void timed(Task& task, Kind kind, F&& call);
    [[nodiscard]] double now() const { return setup_.clock->now(); }

    Setup& setup_;
    std::int64_t rank_;
    Host host_;
    double last_look_ = 0;
    // files of lifetime appended, by family and file
    std::map<std::pair<std::size_t, std::int64_t>, Use> held_;
    VerifyResult verified_;
};

}  // namespace wa
