#include "sharing/named_once.hpp"

#include <algorithm>
#include <numeric>

namespace wa {
namespace {

/// To compare two spans takes as long as to look at so many ranks.
constexpr std::int64_t ranks_of_a_pair = 64;

struct SpanOfGroup {
    RankSpan span;
    std::size_t group;
};

/// x with a * x = 1 modulo m; a and m have no common factor.
std::int64_t inverse(std::int64_t a, std::int64_t m) {
    std::int64_t rest = m;
    std::int64_t x = 1;
    std::int64_t before = 0;
    for (a %= m; a > 1;) {
        const std::int64_t times = rest / a;
        before -= times * x;
        rest -= times * a;
        std::swap(before, x);
        std::swap(rest, a);
    }
    return m == 1 ? 0 : (x % m + m) % m;
}

/// The first rank that is in both spans, of which `a` does not begin after `b`.
std::optional<std::int64_t> common_rank(const RankSpan& a, const RankSpan& b) {
    if (a.step < 1 || b.step < 1) return std::nullopt;  // no span has such a step
    const std::int64_t last = std::min(a.last, b.last);
    const std::int64_t both = std::gcd(a.step, b.step);
    const std::int64_t apart = b.first - a.first;
    if (b.first > last || apart % both != 0) return std::nullopt;
    const std::int64_t other = b.step / both;
    const std::int64_t period = a.step * other;
    std::int64_t rank = a.first + a.step * (apart / both % other * inverse(a.step / both, other) % other);
    if (rank < b.first) rank += (b.first - rank + period - 1) / period * period;
    return rank <= last ? std::optional(rank) : std::nullopt;
}

std::optional<NamedTwice> found_one_by_one(const std::vector<RankSet>& groups, std::int64_t ranks) {
    std::vector<bool> named(static_cast<std::size_t>(ranks));
    for (std::size_t group = 0; group < groups.size(); ++group) {
        for (const RankSpan& span : groups[group].spans()) {
            for (std::int64_t rank = span.first; rank <= span.last; rank += span.step) {
                if (named[static_cast<std::size_t>(rank)]) return NamedTwice{group, rank};
                named[static_cast<std::size_t>(rank)] = true;
            }
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<NamedTwice> named_twice(const std::vector<RankSet>& groups, std::int64_t ranks) {
    std::vector<SpanOfGroup> all;
    for (std::size_t group = 0; group < groups.size(); ++group) {
        for (const RankSpan& span : groups[group].spans()) all.push_back({span, group});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const SpanOfGroup& a, const SpanOfGroup& b) { return a.span.first < b.span.first; });
    std::int64_t left = ranks / ranks_of_a_pair + static_cast<std::int64_t>(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = i + 1; j < all.size() && all[j].span.first <= all[i].span.last; ++j) {
            if (--left < 0) return found_one_by_one(groups, ranks);
            if (const auto rank = common_rank(all[i].span, all[j].span))
                return NamedTwice{std::max(all[i].group, all[j].group), *rank};
        }
    }
    return std::nullopt;
}

}  // namespace wa
