// A line on the terminal that shows the progress of the run.
#pragma once

#include "record/summary.hpp"
#include "run/setup.hpp"

namespace wa {

class Progress {
  public:
    explicit Progress(const Setup& setup);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    Progress(Progress&&) = delete;
    Progress& operator=(Progress&&) = delete;
    void dump_done(const Summary& summary);

  private:
    const Setup& setup_;
    bool terminal_;
    bool often_;  // a line after each dump, not every 10 s
    bool shown_;
    std::int64_t done_ = 0;
    std::int64_t bytes_ = 0;
    double last_ = -1;
};

}  // namespace wa
