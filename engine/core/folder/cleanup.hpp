// Keeps the data directory clean: no file with a name of the plan may exist before the run or remain after
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace wa {

/// The names in the directory that belong to this plan, `folder/name` in folders of it. Raises UsageError if
/// the directory cannot be read.
[[nodiscard]] std::vector<std::string> files_of_plan(const Plan& plan, const std::string& folder);

/// Removes the files that files_of_plan() lists, and the plan's folders that are empty then. It runs after a
/// failure, so it reports no errors.
void remove_files_of_plan(const Plan& plan, const std::string& folder) noexcept;

}  // namespace wa
