// The side file with one row a rank and dump (CSV), written as summaries come in.
#pragma once

#include <string>

#include "record/jsonl.hpp"
#include "record/summary.hpp"

namespace wa {

class PerRankTable {
  public:
    /// An empty path writes nothing.
    explicit PerRankTable(const std::string& path);
    void add(const Plan& plan, const Summary& summary);

  private:
    LineFile file_;
};

}  // namespace wa
