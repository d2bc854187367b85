// Checks that span several fields of a plan: sizes that fit, ranks that belong, choices that are compatible.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "plan/plan.hpp"

namespace wa {

/// Bytes of operation tables by name.
using Tables = std::map<std::string, std::string>;

/// Finds the operation tables, among those `given` or in the folder of the plan. Raises PlanError.
void load_tables(Plan& plan, const std::string& plan_path, Tables given = {});

/// Raises PlanError for rules that cannot be performed. The tables must be loaded.
void check_rules(const Plan& plan);
/// The same, and for reads of what was never written. `checkpoint` is called every few milliseconds of that;
/// it may throw.
void check_plan(const Plan& plan, const std::function<void()>& checkpoint = {});

}  // namespace wa
