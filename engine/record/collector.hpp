// Brings the summaries of all processes to process 0 without ever making one wait for another: each sends
// when its dump has ended, process 0 receives between dumps and operations, and a dump's line is written when
// its last summary is in.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "record/jsonl.hpp"
#include "record/summary.hpp"

namespace wa {

class Collector {
  public:
    struct Sinks {
        /// All summaries of a dump are in (process 0).
        std::function<void(const Summary&)> dump_done;
        /// One summary has come in (process 0), before it is merged.
        std::function<void(const Summary&)> arrived;
        /// Another process has failed (process 0). Does not return.
        std::function<void(const FailureLine&)> failed;
        /// How many summaries a dump has.
        std::function<std::int64_t(std::int64_t dump)> expected;
    };

    explicit Collector(Sinks sinks);
    ~Collector();
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;
    Collector(Collector&&) = delete;
    Collector& operator=(Collector&&) = delete;

    /// Gives a summary away. Never waits.
    void submit(const Summary& summary);
    /// Takes in what has arrived. Cheap; call it often.
    void poll();
    /// Waits until all summaries of `dumps` dumps have been taken in.
    void finish(std::int64_t dumps);
    /// Tells process 0 of a failure; false when it did not listen within `seconds`.
    [[nodiscard]] bool report_failure(const FailureLine& failure, double seconds);

  private:
    struct Pending {
        Summary summary;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    struct Partial {
        Summary summary;
        std::int64_t count = 0;
    };
    void absorb(const Summary& summary);
    void receive(const MPI_Status& status);
    void release_sent();

    Sinks sinks_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    bool root_ = true;
    // Grows only while process 0 is busy: at most one summary a dump, which the plan lists one by one anyway.
    std::deque<std::unique_ptr<Pending>> pending_;
    std::map<std::int64_t, Partial> partial_;
    std::int64_t complete_ = 0;
};

}  // namespace wa
