#include "run/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "errors.hpp"
#include "plan/read.hpp"
#include "plan/words.hpp"
#include "record/environment.hpp"

namespace wa {

const Registration& registration_of(BackendKind kind) {
    const Registration* registration = find_backend(kind);
    if (registration == nullptr) {
        const char* library = kind == BackendKind::pnetcdf  ? "PnetCDF"
                              : kind == BackendKind::adios2 ? "ADIOS2"
                                                            : "parallel HDF5";
        throw UsageError(
            fmt::format("the backend {} was not built in; build the engine with {} or use --backend null",
                        word_of(kind), library));
    }
    return *registration;
}

void refuse_impossible(const Plan& plan, std::size_t family, const Layout& layout, const Backend& backend) {
    std::set<std::size_t> seen;
    for (const Dump& dump : plan.dumps) {
        if (dump.family != family || !seen.insert(dump.content).second) continue;
        const Family& of = plan.families[family];
        const std::string place = fmt::format("{} {}", word_of(of.role), of.number);
        backend.refuse(of, layout, plan.contents[dump.content], place);
    }
}

bool needs_threads(const Options& options) {
    if (!library_has_subfiling()) return false;
    try {
        const Plan plan = parse_plan(read_plan_text(options.plan));
        return std::any_of(plan.families.begin(), plan.families.end(), [&](const Family& family) {
            const BackendKind kind = options.backend.value_or(family.backend);
            return family.hdf5.subfiling && (kind == BackendKind::hdf5 || kind == BackendKind::typhonio);
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
        std::map<BackendKind, std::unique_ptr<Backend>> backends;
        for (std::size_t i = 0; i < plan.families.size(); ++i) {
            const BackendKind kind = options.backend.value_or(plan.families[i].backend);
            const Registration& registration = registration_of(kind);
            if (!registration.traits.performs) continue;
            auto& backend = backends[kind];
            if (!backend) backend = registration.make({});
            refuse_impossible(plan, i, Layout(plan.families[i], plan.ranks), *backend);
        }
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}

}  // namespace wa
