// Finds the step of a file that belongs to a dump.
#pragma once

#include <cstddef>

#include "backends/backend.hpp"
#include "expand/dump.hpp"

namespace wa {

/// The step that a dump has written or that a load reads. A load reads the step prepared for it before the
/// run, otherwise the last one. A file that is not appended to is made anew by each dump that writes it.
[[nodiscard]] inline std::size_t step_of(const FileContext& context) {
    std::size_t prepared = 0;  // steps that were made before the run
    std::size_t steps = 0;     // steps in the file at this dump, its own included
    const bool own = context.use->prepared && !moves(*context.content, Direction::write) &&
                     (context.dump->prepare || context.use->first);
    const bool appended = context.family->lifetime == Lifetime::appended;
    std::size_t own_step = 0;
    bool first = true;
    for (std::size_t d = 0; d < context.plan->dumps.size(); ++d) {
        const Dump& dump = context.plan->dumps[d];
        if (dump.family != context.dump->family || dump.file != context.dump->file) continue;
        if (context.use->prepared && (dump.prepare || first)) {
            if (d == context.position) own_step = prepared;
            ++prepared;
        }
        first = false;
        const bool writes = moves(context.plan->contents[dump.content], Direction::write);
        if (writes && d <= context.position) ++steps;
    }
    if (!appended) {
        if (steps > 0) return 0;
        return own ? own_step : prepared > 0 ? prepared - 1 : 0;
    }
    if (own) return own_step;
    steps += prepared;
    return steps > 0 ? steps - 1 : 0;
}

}  // namespace wa
