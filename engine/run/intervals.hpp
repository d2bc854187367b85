// A set of byte ranges that merges adjacent ones.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

namespace wa {

class Intervals {
  public:
    void add(std::int64_t start, std::int64_t end);
    /// Visits the parts of [start, end) that are not in the set.
    void each_gap(std::int64_t start, std::int64_t end,
                  const std::function<void(std::int64_t, std::int64_t)>& visit) const;
    [[nodiscard]] std::size_t size() const { return ranges_.size(); }

  private:
    std::map<std::int64_t, std::int64_t> ranges_;  // start -> end
};

}  // namespace wa
