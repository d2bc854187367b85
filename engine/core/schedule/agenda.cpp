#include "schedule/agenda.hpp"

namespace wa {

std::vector<AgendaEntry> agenda_entries(const Plan& plan, const std::vector<Layout>& layouts,
                                        const std::vector<DumpTimes>& times, std::int64_t rank,
                                        bool computes) {
    std::vector<AgendaEntry> entries;
    for (std::size_t d = 0; d < plan.dumps.size(); ++d) {
        const Dump& dump = plan.dumps[d];
        const Family& family = plan.families[dump.family];
        const Content& content = plan.contents[dump.content];
        const Layout& layout = layouts[dump.family];
        if (family.sharing.gather || layout.members().contains(rank))
            entries.push_back({times[d].start_s, d, EventKind::begin});
        if (!computes) continue;
        if (moves(content, Direction::write)) {
            entries.push_back({times[d].start_s, d, EventKind::compute_before});
        } else {
            entries.push_back({times[d].end_s, d, EventKind::compute_after});
        }
    }
    std::sort(entries.begin(), entries.end(),
              [](const AgendaEntry& a, const AgendaEntry& b) { return a.key() < b.key(); });
    return entries;
}

}  // namespace wa
