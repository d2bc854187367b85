// Maps of files into memory.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace wa {

struct Traits;

/// Raises PlanError if a content maps files, and a backend has no descriptors by which that could be done.
/// `place` names the family.
void refuse_maps(const Content& content, const Traits& traits, const std::string& place);

}  // namespace wa
