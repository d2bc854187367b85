// Reads what a dump does: streams, arrays, meshes, data sets.
#pragma once

#include <cstdint>

#include "plan/json.hpp"
#include "plan/plan.hpp"

namespace wa {

[[nodiscard]] Content read_content(const Node& node, std::int64_t ranks);

}  // namespace wa
