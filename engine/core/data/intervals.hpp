// A set of byte ranges that merges adjacent ones.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

namespace wa {

/// The bytes [start, end) of a file.
struct ByteRange {
    std::int64_t start = 0;
    std::int64_t end = 0;
};

class Intervals {
  public:
    void add(std::int64_t start, std::int64_t end);
    void add(const Intervals& other);
    void clear() { ranges_.clear(); }
    /// One past the last byte.
    [[nodiscard]] std::int64_t end() const { return ranges_.empty() ? 0 : ranges_.rbegin()->second; }
    /// The first part of a range that is not in the set.
    [[nodiscard]] std::optional<ByteRange> first_gap(ByteRange range) const;
    /// Visits the parts of [start, end) that are not in the set.
    void each_gap(std::int64_t start, std::int64_t end,
                  const std::function<void(std::int64_t, std::int64_t)>& visit) const;
    [[nodiscard]] std::size_t size() const { return ranges_.size(); }

  private:
    std::map<std::int64_t, std::int64_t> ranges_;  // start -> end
};

}  // namespace wa
