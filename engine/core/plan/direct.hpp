// Families whose files are opened with O_DIRECT: what moves past the page cache moves whole blocks.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace wa {

struct Traits;

/// Raises PlanError if a size or an offset of such a family is no multiple of the smallest block. The tables
/// must be loaded.
void check_direct(const Plan& plan);

/// Raises PlanError if a backend cannot open the files of a family so. `place` names the family.
void refuse_direct(const Family& family, const Traits& traits, const std::string& place);

}  // namespace wa
