// Checks that span several fields of a plan: sizes that fit, ranks that belong, choices that are compatible.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace wa {

/// Bytes of operation tables by name.
using Tables = std::map<std::string, std::string>;

/// Finds the operation tables, among those `given` or in the folder of the plan. Raises PlanError.
void load_tables(Plan& plan, const std::string& plan_path, Tables given = {});

/// Raises PlanError for rules that cannot be performed. The tables must be loaded.
void check_rules(const Plan& plan);
/// The same, and for reads that meet no data.
void check_plan(const Plan& plan);

/// How a dump uses its file, from the order of the dumps.
struct FileUse {
    bool first = false;           // no earlier dump uses the file
    bool last = false;            // no later dump uses the file
    bool written_before = false;  // an earlier dump wrote it
    bool written = false;         // a dump writes the file
    // the file must exist before the run: a dump says so, or reads it before any dump wrote it
    bool prepared = false;
    bool renamed = false;  // it is written under another name first
    /// The file that is deleted after this dump, because the family then has more files than it keeps, and
    /// the last dump that used it.
    std::optional<std::int64_t> deletes;
    std::size_t deleted_after = 0;
};

/// One entry per dump.
[[nodiscard]] std::vector<FileUse> file_uses(const Plan& plan);

}  // namespace wa
