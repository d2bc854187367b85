// Which step of a file belongs to a dump.
#pragma once

#include <cstddef>

#include "backends/backend.hpp"
#include "expand/dump.hpp"

namespace wa {

/// The step that a dump has written, or that a load reads: the one made for it before the run, else the last
/// one. A file that is not appended is made anew by each dump that writes it.
[[nodiscard]] inline std::size_t step_of(const FileContext& context) {
    std::size_t prepared = 0;  // steps made before the run
    std::size_t steps = 0;     // in the file as the dump finds it, its own included
    const bool own = context.use->prepared && !moves(*context.content, Direction::write) &&
                     (context.dump->prepare || context.use->first);
    const bool appended = context.family->lifetime == Lifetime::appended;
    std::size_t mine = 0;
    bool first = true;
    for (std::size_t d = 0; d < context.plan->dumps.size(); ++d) {
        const Dump& dump = context.plan->dumps[d];
        if (dump.family != context.dump->family || dump.file != context.dump->file) continue;
        if (context.use->prepared && (dump.prepare || first)) {
            if (d == context.position) mine = prepared;
            ++prepared;
        }
        first = false;
        const bool writes = moves(context.plan->contents[dump.content], Direction::write);
        if (writes && d <= context.position) ++steps;
    }
    if (!appended) {
        if (steps > 0) return 0;
        return own ? mine : prepared > 0 ? prepared - 1 : 0;
    }
    if (own) return mine;
    steps += prepared;
    return steps > 0 ? steps - 1 : 0;
}

}  // namespace wa
