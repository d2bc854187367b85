// Reads the JSON of a plan into the model and checks every field on its own.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace wa {

/// The text of a plan file. Raises UsageError when it cannot be read, PlanError when it is too large.
[[nodiscard]] std::string read_plan_text(const std::string& path);

/// Parses and checks each field. check_plan() then checks how the fields fit together. Raises PlanError.
[[nodiscard]] Plan parse_plan(const std::string& text);

}  // namespace wa
