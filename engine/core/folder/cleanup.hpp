// The data directory: nothing of the plan's names may be there before the run, and nothing of them stays
// after it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace wa {

/// Names in the directory that are this plan's. Raises UsageError when it cannot be read.
[[nodiscard]] std::vector<std::string> files_of_plan(const Plan& plan, const std::string& folder);

/// Removes what files_of_plan() finds, as far as possible: after a failure nobody is left to complain to.
void remove_files_of_plan(const Plan& plan, const std::string& folder) noexcept;

}  // namespace wa
