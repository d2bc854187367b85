#include "schedule/open_files.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace wa {

std::int64_t most_open_files(const Plan& plan, const std::vector<Layout>& layouts,
                             const std::vector<DumpTimes>& times, std::int64_t rank) {
    std::map<std::pair<std::size_t, std::int64_t>, DumpTimes> held;  // files that stay open
    std::vector<std::pair<double, int>> changes;                     // at a moment, opens come before closes
    const auto add = [&](const DumpTimes& open) {
        changes.emplace_back(open.start_s, -1);
        changes.emplace_back(open.end_s, 1);
    };
    for (std::size_t d = 0; d < plan.dumps.size(); ++d) {
        const Dump& dump = plan.dumps[d];
        if (!layouts[dump.family].members().contains(rank)) continue;
        if (plan.families[dump.family].lifetime != Lifetime::appended) {
            // Dumps without a length follow each other.
            if (times[d].end_s > times[d].start_s) add(times[d]);
            continue;
        }
        const auto [found, fresh] = held.try_emplace({dump.family, dump.file}, times[d]);
        found->second.start_s = std::min(found->second.start_s, times[d].start_s);
        found->second.end_s = std::max(found->second.end_s, times[d].end_s);
    }
    for (const auto& [file, open] : held) add(open);
    std::sort(changes.begin(), changes.end());
    std::int64_t open = 0;
    std::int64_t most = 0;
    for (const auto& [moment, change] : changes) {
        open -= change;
        most = std::max(most, open);
    }
    return most + 1;  // a dump without a length
}

}  // namespace wa
