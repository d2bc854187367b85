// A set of ranks as ascending, disjoint spans [first, last, step]. It is never a list of all ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace wa {

struct RankSpan {
    std::int64_t first = 0;
    std::int64_t last = 0;  // inclusive, and a member
    std::int64_t step = 1;
    [[nodiscard]] std::int64_t size() const { return (last - first) / step + 1; }
    friend bool operator==(const RankSpan&, const RankSpan&) = default;
};

class RankSet {
  public:
    RankSet() = default;
    /// Ranks 0 to n-1.
    static RankSet all(std::int64_t n);
    /// Spans must be ascending and disjoint (read.cpp checks that). `last` is lowered to the last member.
    explicit RankSet(const std::vector<RankSpan>& spans);

    [[nodiscard]] std::int64_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    /// The member at position `index`.
    [[nodiscard]] std::int64_t at(std::int64_t index) const;
    /// The number of members below `rank`.
    [[nodiscard]] std::int64_t count_below(std::int64_t rank) const;
    [[nodiscard]] std::optional<std::int64_t> index_of(std::int64_t rank) const;
    [[nodiscard]] bool contains(std::int64_t rank) const { return index_of(rank).has_value(); }
    [[nodiscard]] const std::vector<RankSpan>& spans() const { return spans_; }
    /// Whether every member is also in `other`. Returns false for sets that are too irregular to decide with
    /// bounded effort.
    [[nodiscard]] bool subset_of(const RankSet& other) const;
    friend bool operator==(const RankSet& a, const RankSet& b) { return a.spans_ == b.spans_; }

  private:
    [[nodiscard]] std::size_t span_at_or_before(std::int64_t rank) const;

    std::vector<RankSpan> spans_;
    std::vector<std::int64_t> before_;  // number of members in earlier spans
    std::int64_t size_ = 0;
};

}  // namespace wa
