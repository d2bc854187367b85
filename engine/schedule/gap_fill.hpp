// What a process does between dumps: it sleeps, or does work like that of the application.
#pragma once

#include <functional>
#include <memory>

#include "plan/plan.hpp"

namespace wa {

class GapFiller {
  public:
    GapFiller() = default;
    virtual ~GapFiller() = default;
    GapFiller(const GapFiller&) = delete;
    GapFiller& operator=(const GapFiller&) = delete;
    GapFiller(GapFiller&&) = delete;
    GapFiller& operator=(GapFiller&&) = delete;

    /// Works for about `seconds`, but at most a few hundredths of a second, so that the caller can check for
    /// messages. With `gives_way`, a rank that computes yields to other processes. Kernels from 6.6 to
    /// 6.17 take it from a core only when its slice ends.
    virtual void work(double seconds, bool gives_way) = 0;
    /// Collective over all processes, after the run.
    virtual void finish() {}
};

[[nodiscard]] std::unique_ptr<GapFiller> make_gap_filler(GapFill kind, double cpu_share);

}  // namespace wa
