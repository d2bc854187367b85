// Reads plans of version 1 as version 2 (docs/plan-format.md, "Versions").
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace wa {

inline constexpr std::int64_t plan_version = 2;

/// Renames the fields that have another name in version 2, in place. Other documents do not change.
void upgrade(nlohmann::json& document);

/// The text of a plan in the current version. Raises PlanError if the text is not JSON.
[[nodiscard]] std::string upgraded_text(const std::string& text);

}  // namespace wa
