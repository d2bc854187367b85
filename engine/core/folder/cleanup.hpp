// Keeps the data directory clean: no file with a name of the plan may exist before the run or remain after
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace wa {

/// The names in the directory that belong to this plan. Raises UsageError if the directory cannot be read.
[[nodiscard]] std::vector<std::string> files_of_plan(const Plan& plan, const std::string& folder);

/// Removes the files that files_of_plan() lists, as far as possible. It runs after a failure, so it reports
/// no errors.
void remove_files_of_plan(const Plan& plan, const std::string& folder) noexcept;

}  // namespace wa
