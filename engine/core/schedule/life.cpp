#include "schedule/life.hpp"

#include <algorithm>

namespace wa {

Life life_of(const Plan& plan, std::int64_t rank) {
    for (const Processes& group : plan.processes) {
        if (group.ranks.contains(rank)) return group.life;
    }
    return {};
}

std::array<double, 2> delays_of(const Family& family, std::int64_t rank) {
    std::array<double, 2> delays{};
    for (std::size_t direction = 0; direction < delays.size(); ++direction) {
        for (const Skew& late : family.skew[direction]) {
            if (late.ranks.all || late.ranks.set.contains(rank)) delays[direction] = late.delay_s;
        }
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
