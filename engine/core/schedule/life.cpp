#include "schedule/life.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace wa {

Life life_of(const Plan& plan, std::int64_t rank) {
    for (const Processes& group : plan.processes) {
        if (group.ranks.contains(rank)) return group.life;
    }
    return {};
}

namespace {

/// The delay of a rank in one dump, or in each dump of the family; none where no group names it.
std::optional<double> delay_of(const std::vector<Skew>& groups, std::optional<std::int64_t> dump,
                               std::int64_t rank) {
    for (const Skew& late : groups) {
        if (late.dump == dump && (late.ranks.all || late.ranks.set.contains(rank))) return late.delay_s;
    }
    return std::nullopt;
}

}  // namespace

std::array<double, 2> delays_of(const Family& family, std::int64_t dump, std::int64_t rank) {
    std::array<double, 2> delays{};
    for (std::size_t direction = 0; direction < delays.size(); ++direction) {
        const std::vector<Skew>& groups = family.skew[direction];
        const std::optional<double> own = delay_of(groups, dump, rank);
        delays[direction] = own ? *own : delay_of(groups, std::nullopt, rank).value_or(0);
    }
    return delays;
}

Alive alive_in(const Life& life, double begin_s, double end_s) {
    const Alive both{std::max(begin_s, life.start_s), std::min(end_s, life.end_s)};
    return both.begin_s <= both.end_s ? both : Alive{begin_s, end_s};
}

Alive real_life(const Life& life, double reached_s, double now_s, double time_scale) {
    return {now_s + (life.start_s - reached_s) * time_scale, now_s + (life.end_s - reached_s) * time_scale};
}

}  // namespace wa
