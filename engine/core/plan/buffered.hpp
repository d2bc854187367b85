// Streams of the C library on files that are opened by POSIX.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace wa {

struct Traits;

/// Raises PlanError if a backend has no such streams, or the family's files are opened past the page cache.
/// `place` names the family.
void refuse_buffered(const Family& family, const Content& content, const Traits& traits,
                     const std::string& place);

}  // namespace wa
