// The side file with one row per rank and dump (CSV), written as summaries arrive.
#pragma once

#include <string>

#include "record/jsonl.hpp"
#include "record/summary.hpp"

namespace wa {

class PerRankTable {
  public:
    /// An empty path means that nothing is written.
    explicit PerRankTable(const std::string& path);
    void add(const Plan& plan, const Summary& summary);

  private:
    LineFile file_;
};

}  // namespace wa
