// Groups of ranks that must not share any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sharing/rank_set.hpp"

namespace wa {

struct NamedTwice {
    std::size_t group = 0;  // the later of the two that name the rank
    std::int64_t rank = 0;
};

/// A rank that two of the groups name, if there is one. The ranks are below `ranks`. Only many spans that
/// interleave make it look at ranks one by one.
[[nodiscard]] std::optional<NamedTwice> named_twice(const std::vector<RankSet>& groups, std::int64_t ranks);

}  // namespace wa
