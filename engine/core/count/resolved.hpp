// A plan with what follows from it: layouts, the use of files, and the backend whose calls are counted.
#pragma once

#include <vector>

#include "backends/traits.hpp"
#include "expand/calls.hpp"
#include "plan/file_uses.hpp"
#include "plan/plan.hpp"
#include "sharing/layout.hpp"

namespace wa {

struct ResolvedPlan {
    /// `performer` is the backend that performs every family; null if each family has its own.
    ResolvedPlan(Plan read, const Traits* performer);

    Plan plan;
    std::vector<Layout> layouts;         // one per family
    std::vector<FileUse> uses;           // one per dump
    std::vector<const Traits*> counted;  // one per family

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

/// How the operations of a dump are split when they are counted and not performed. `payload` is the number of
/// bytes that the library was given, if a run recorded it.
[[nodiscard]] DumpOperations::Options counting_options(const ResolvedPlan& resolved, std::size_t dump,
                                                       bool file_is_open,
                                                       std::optional<std::int64_t> payload);

}  // namespace wa
