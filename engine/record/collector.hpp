// Brings the summaries of all processes to process 0 without making any process wait. Each process sends a
// summary when its part of a dump has ended. Process 0 receives between dumps and operations, and writes the
// line of a dump when all its summaries are in.
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
        /// Called on process 0 when all summaries of a dump are in.
        std::function<void(const Summary&)> dump_done;
        /// Called on process 0 for each summary, before it is merged.
        std::function<void(const Summary&)> arrived;
        /// Called on process 0 when another process has failed. Does not return.
        std::function<void(const FailureLine&)> failed;
        /// Returns the number of summaries of a dump.
        std::function<std::int64_t(std::int64_t dump)> expected;
    };

    explicit Collector(Sinks sinks);
    ~Collector();
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;
    Collector(Collector&&) = delete;
    Collector& operator=(Collector&&) = delete;

    /// Sends a summary. Never waits.
    void submit(const Summary& summary);
    /// Receives what has arrived. It is cheap and must be called often.
    void poll();
    /// Waits until all summaries of `dumps` dumps have been received.
    void finish(std::int64_t dumps);
    /// Reports a failure to process 0. Returns false if process 0 did not receive it within `seconds`.
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
    // Grows only while process 0 is busy, to at most one summary per dump of the plan.
    std::deque<std::unique_ptr<Pending>> pending_;
    std::map<std::int64_t, Partial> partial_;
    std::int64_t complete_ = 0;
};

}  // namespace wa
