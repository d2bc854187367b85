// When a rank lives, in a job of many processes: each began and ended at moments of its own.
#pragma once

#include <array>
#include <cstdint>

#include "plan/plan.hpp"

namespace wa {

/// The life of a rank; without bounds where the plan states none.
[[nodiscard]] Life life_of(const Plan& plan, std::int64_t rank);

/// The part of a span of time in which a rank lives. It is all of the span where the two do not overlap: then
/// the plan's dumps contradict its processes, and calls must have a moment.
struct Alive {
    double begin_s = 0;
    double end_s = 0;
};
[[nodiscard]] Alive alive_in(const Life& life, double begin_s, double end_s);

/// By how much a rank begins its reads and its writes of a family's dump later than the others, by direction.
/// `dump` is the dump's index.
[[nodiscard]] std::array<double, 2> delays_of(const Family& family, std::int64_t dump, std::int64_t rank);

/// When a rank makes its own calls: within its life, and later by its delays in the dump.
struct OwnTime {
    Life life;
    std::array<double, 2> delays_s{};  // by direction
};

/// Real moments between which a rank lives, of those of the original run: at `now_s` it has come to
/// `reached_s`.
[[nodiscard]] Alive real_life(const Life& life, double reached_s, double now_s, double time_scale);

}  // namespace wa
