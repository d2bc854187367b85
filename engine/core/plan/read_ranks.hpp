// Reads which ranks take part in something: members of families, late ranks, processes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plan/json.hpp"
#include "plan/plan.hpp"

namespace wa {

/// The ranks at a key; all of them where it is absent.
[[nodiscard]] Ranks ranks_or_all(const Node& node, std::string_view key, std::int64_t ranks);

[[nodiscard]] Sharing read_sharing(const Node& node, std::int64_t ranks);

[[nodiscard]] std::vector<Skew> read_skew(const Node& node, std::int64_t ranks);

[[nodiscard]] std::vector<Processes> read_processes(const Node& node, std::int64_t ranks);

}  // namespace wa
