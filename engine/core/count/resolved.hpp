// A plan with what follows from it: layouts, the use of files, and whose calls are counted.
#pragma once

#include <vector>

#include "backends/traits.hpp"
#include "expand/calls.hpp"
#include "plan/check.hpp"
#include "plan/plan.hpp"
#include "sharing/layout.hpp"

namespace wa {

struct ResolvedPlan {
    /// `performer`: the backend that performs every family; null: each its own.
    ResolvedPlan(Plan read, const Traits* performer);

    Plan plan;
    std::vector<Layout> layouts;         // of families
    std::vector<FileUse> uses;           // of dumps
    std::vector<const Traits*> counted;  // of families

    [[nodiscard]] const Family& family(std::size_t dump) const {
        return plan.families[plan.dumps[dump].family];
    }
    [[nodiscard]] const Layout& layout(std::size_t dump) const { return layouts[plan.dumps[dump].family]; }
    [[nodiscard]] const Content& content(std::size_t dump) const {
        return plan.contents[plan.dumps[dump].content];
    }
    [[nodiscard]] const Traits& traits(std::size_t dump) const { return *counted[plan.dumps[dump].family]; }
    /// Whether the dump leaves its file open for a later one.
    [[nodiscard]] bool holds(std::size_t dump) const {
        return family(dump).lifetime == Lifetime::appended && !uses[dump].last;
    }
};

[[nodiscard]] CallRules call_rules(const Traits& traits);

/// How a dump's operations are cut where they are counted and not performed. `payload`: what a library was
/// given, where a run has recorded it.
[[nodiscard]] DumpOperations::Options counting_options(const ResolvedPlan& resolved, std::size_t dump,
                                                       bool file_is_open,
                                                       std::optional<std::int64_t> payload);

}  // namespace wa
