// Plans of version 1, read as version 2 (docs/plan-format.md, "Versions").
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace wa {

inline constexpr std::int64_t plan_version = 2;

/// Renames the fields that version 2 calls otherwise, in place; leaves any other document as it is.
void upgrade(nlohmann::json& document);

/// The text of a plan as one of today's version. Raises PlanError for text that is not JSON.
[[nodiscard]] std::string upgraded_text(const std::string& text);

}  // namespace wa
