#include "count/resolved.hpp"

#include <utility>

namespace wa {

ResolvedPlan::ResolvedPlan(Plan read, const Traits* performer)
    : plan(std::move(read)), uses(file_uses(plan)) {
    layouts.reserve(plan.families.size());
    for (Family& family : plan.families) {
        layouts.emplace_back(family, plan.ranks);
        const Traits& performs = performer != nullptr ? *performer : *family.backend;
        counted.push_back(&counted_as(family, performs));
        // File names depend on the backend that makes the file.
        if (performs.performs) family.backend = &performs;
    }
}

CallRules call_rules(const Traits& traits) {
    return {traits.positioned, traits.whole_pieces, traits.whole_slabs};
}

DumpOperations::Options counting_options(const ResolvedPlan& resolved, std::size_t dump, bool file_is_open,
                                         std::optional<std::int64_t> payload) {
    const Traits& traits = resolved.traits(dump);
    DumpOperations::Options out;
    out.collective_files = traits.collective_files;
    out.lone_opens = traits.lone_opens;
    out.file_is_open = file_is_open;
    out.fit_bytes = payload;
    // Stated bytes include the library's own, which are unknown before a run. They are counted as stated.
    const bool stated =
        resolved.content(dump).sized() && traits.level && resolved.family(dump).level != *traits.level;
    out.whole_elements = !traits.plain_bytes && (!stated || payload.has_value());
    return out;
}

}  // namespace wa
