#include "sharing/rank_set.hpp"

#include <algorithm>
#include <utility>

namespace wa {
namespace {

/// The number of members that subset_of() may look at. An untrusted plan must not make it slow.
constexpr std::int64_t effort = 4'000'000;

/// Joins spans that continue each other, so that equal sets mostly have equal spans.
std::vector<RankSpan> joined(const std::vector<RankSpan>& spans) {
    std::vector<RankSpan> out;
    for (RankSpan span : spans) {
        span.last = span.first + (span.size() - 1) * span.step;
        if (span.first == span.last) span.step = 1;
        if (!out.empty()) {
            RankSpan& previous = out.back();
            const std::int64_t gap = span.first - previous.last;
            const bool fits_previous = previous.first == previous.last || previous.step == gap;
            const bool fits_next = span.first == span.last || span.step == gap;
            // Two single ranks are joined only if they are adjacent; a wider step would be a guess.
            const bool lone = previous.first == previous.last && span.first == span.last;
            if (fits_previous && fits_next && (!lone || gap == 1)) {
                previous.step = gap;
                previous.last = span.last;
                continue;
            }
        }
        out.push_back(span);
    }
    return out;
}

}  // namespace

RankSet RankSet::all(std::int64_t n) {
    return n > 0 ? RankSet({RankSpan{0, n - 1, 1}}) : RankSet();
}

RankSet::RankSet(const std::vector<RankSpan>& spans) : spans_(joined(spans)) {
    before_.reserve(spans_.size());
    for (const RankSpan& span : spans_) {
        before_.push_back(size_);
        size_ += span.size();
    }
}

std::int64_t RankSet::at(std::int64_t index) const {
    const auto above = std::upper_bound(before_.begin(), before_.end(), index);
    const auto i = static_cast<std::size_t>(above - before_.begin()) - 1;
    return spans_[i].first + (index - before_[i]) * spans_[i].step;
}

std::size_t RankSet::span_at_or_before(std::int64_t rank) const {
    const auto above = std::upper_bound(spans_.begin(), spans_.end(), rank,
                                        [](std::int64_t r, const RankSpan& s) { return r < s.first; });
    return static_cast<std::size_t>(above - spans_.begin());  // one past the span that could hold the rank
}

std::int64_t RankSet::count_below(std::int64_t rank) const {
    const std::size_t past = span_at_or_before(rank);
    if (past == 0) return 0;
    const RankSpan& span = spans_[past - 1];
    const std::int64_t inside = (rank - span.first + span.step - 1) / span.step;
    return before_[past - 1] + std::min(inside, span.size());
}

std::optional<std::int64_t> RankSet::index_of(std::int64_t rank) const {
    const std::size_t past = span_at_or_before(rank);
    if (past == 0) return std::nullopt;
    const RankSpan& span = spans_[past - 1];
    if (rank > span.last || (rank - span.first) % span.step != 0) return std::nullopt;
    return before_[past - 1] + (rank - span.first) / span.step;
}

bool RankSet::subset_of(const RankSet& other) const {
    std::int64_t left = effort;
    for (const RankSpan& span : spans_) {
        const std::size_t past = other.span_at_or_before(span.first);
        if (past == 0) return false;
        const RankSpan& home = other.spans_[past - 1];
        const bool one_home = span.last <= home.last && (span.first - home.first) % home.step == 0 &&
                              (span.step % home.step == 0 || span.first == span.last);
        if (one_home) continue;
        left -= span.size();
        if (left < 0) return false;
        for (std::int64_t rank = span.first; rank <= span.last; rank += span.step) {
            if (!other.contains(rank)) return false;
        }
    }
    return true;
}

}  // namespace wa
