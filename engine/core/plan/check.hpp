// What the fields of a plan say together: sizes that fit, ranks that belong, choices that go with each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace wa {

/// Opens the operation tables that lie beside the plan. Raises PlanError.
void load_tables(Plan& plan, const std::string& plan_path);

/// Raises PlanError. Needs the tables.
void check_plan(const Plan& plan);

/// What the order of the dumps says about a dump's file.
struct FileUse {
    bool first = false;           // no earlier dump uses the file
    bool last = false;            // no later one does
    bool written_before = false;  // an earlier dump wrote it
    bool written = false;         // some dump writes it
    bool prepared = false;  // it must exist before the run: a dump says so, or reads before any has written
    /// With the end of this dump the family has more files than it keeps: this one goes.
    std::optional<std::int64_t> deletes;
};

/// One for each dump.
[[nodiscard]] std::vector<FileUse> file_uses(const Plan& plan);

}  // namespace wa
