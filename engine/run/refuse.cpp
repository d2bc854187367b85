#include "run/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "errors.hpp"
#include "plan/buffered.hpp"
#include "plan/check.hpp"
#include "plan/direct.hpp"
#include "plan/enum_words.hpp"
#include "plan/maps.hpp"
#include "plan/read.hpp"
#include "record/environment.hpp"

namespace wa {

std::unique_ptr<Backend> make_backend(const Traits& traits, const BackendOptions& options) {
    const BackendMaker make = maker_of(traits);
    if (make == nullptr) {
        throw UsageError(fmt::format("the backend {} was not built in", traits.name),
                         fmt::format("build the engine with {} or use --backend null", traits.library));
    }
    return make(options);
}

void refuse_impossible(const Plan& plan, std::size_t family_index, const Layout& layout, const Traits& traits,
                       const Backend& backend) {
    std::set<std::size_t> seen;
    for (const Dump& dump : plan.dumps) {
        if (dump.family != family_index || !seen.insert(dump.content).second) continue;
        const Family& family = plan.families[family_index];
        const std::string place = fmt::format("{} {}", word_of(family.role), family.number);
        const Content& content = plan.contents[dump.content];
        refuse_direct(family, traits, place);
        refuse_buffered(family, content, traits, place);
        refuse_maps(content, traits, place);
        if (content.dataset && (traits.collective_files || !traits.plain_bytes)) {
            throw PlanError(place, fmt::format("{} cannot read a data set", traits.name),
                            "use the backend posix or stdio");
        }
        if (traits.refuse != nullptr) traits.refuse(family, layout, content, place);
        backend.refuse(family, layout, content, place);
    }
}

bool needs_threads(const Options& options) {
    if (!library_has_subfiling()) return false;
    try {
        const Plan plan = parse_plan(read_plan_text(options.plan));
        return std::any_of(plan.families.begin(), plan.families.end(), [&](const Family& family) {
            const Traits& traits = options.backend != nullptr ? *options.backend : *family.backend;
            return family.hdf5.subfiling && traits.hdf5_settings;
        });
    } catch (const std::exception&) {
        return false;
    }
}

int check_only(const Options& options) {
    try {
        Plan plan = parse_plan(read_plan_text(options.plan));
        load_tables(plan, options.plan);
        check_plan(plan);
        std::map<const Traits*, std::unique_ptr<Backend>> backends;
        for (std::size_t i = 0; i < plan.families.size(); ++i) {
            const Traits& traits = options.backend != nullptr ? *options.backend : *plan.families[i].backend;
            if (!traits.performs) continue;
            auto& backend = backends[&traits];
            if (!backend) backend = make_backend(traits, {});
            refuse_impossible(plan, i, Layout(plan.families[i], plan.ranks), traits, *backend);
        }
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}

}  // namespace wa
