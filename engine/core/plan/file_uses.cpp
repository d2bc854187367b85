#include "plan/file_uses.hpp"

#include <map>
#include <utility>

#include "expand/dump.hpp"
#include "schedule/times.hpp"

namespace wa {
namespace {

/// A family that keeps so many files deletes one at the end of a dump, the one that it has used longest ago;
/// one whose files are removed deletes each that no later dump uses.
void find_deletions(const Plan& plan, std::vector<FileUse>& uses) {
    std::map<std::size_t, std::vector<std::size_t>> last_uses;  // by family, in the order of their end
    std::vector<DumpTimes> times = dump_times(plan);
    for (std::size_t d = 0; d < times.size(); ++d) {  // all calls of a dump that is gathered are at its start
        if (plan.families[plan.dumps[d].family].sharing.gather) times[d].end_s = times[d].start_s;
    }
    for (const std::size_t d : in_order_of_end(times)) {
        const Dump& dump = plan.dumps[d];
        const auto keep = static_cast<std::size_t>(plan.families[dump.family].keep);
        if (!uses[d].last || (keep == 0 && !plan.families[dump.family].removed)) continue;
        std::vector<std::size_t>& ended = last_uses[dump.family];
        ended.push_back(d);
        if (ended.size() <= keep) continue;
        uses[d].deleted_after = ended[ended.size() - keep - 1];
        uses[d].deletes = plan.dumps[uses[d].deleted_after].file;
    }
}

/// A file of one name gives it up after its last use, before a dump writes the next one. A family that keeps
/// so many files writes its backups over each other.
void find_backups(const Plan& plan, std::vector<FileUse>& uses) {
    std::map<std::pair<std::size_t, std::int64_t>, std::pair<std::size_t, std::int64_t>> latest;
    for (std::size_t d = 0; d < plan.dumps.size(); ++d) {
        const Family& family = plan.families[plan.dumps[d].family];
        if (!gives_up_its_name(family)) continue;
        const auto [found, fresh] =
            latest.try_emplace({plan.dumps[d].family, plan.dumps[d].file}, d, std::int64_t{0});
        auto& [before, backups] = found->second;
        if (!fresh && uses[d].replaces) {
            uses[before].renamed = true;
            uses[before].backup = 1 + (family.keep > 1 ? backups % (family.keep - 1) : backups);
            ++backups;
        }
        before = d;
    }
}

}  // namespace

std::vector<FileUse> file_uses(const Plan& plan) {
    std::vector<FileUse> uses(plan.dumps.size());
    struct File {
        std::size_t last = 0;
        bool written = false;
        bool prepared = false;
    };
    std::map<std::pair<std::size_t, std::int64_t>, File> files;
    for (std::size_t d = 0; d < plan.dumps.size(); ++d) {
        const Dump& dump = plan.dumps[d];
        const auto [found, fresh] = files.try_emplace({dump.family, dump.file});
        const Content& content = plan.contents[dump.content];
        const bool writes = moves(content, Direction::write);
        const Family& family = plan.families[dump.family];
        uses[d].replaces = writes && replaces_its_file(family);
        uses[d].first = fresh || uses[d].replaces;
        uses[d].written_before = found->second.written && !uses[d].replaces;
        const bool finds =
            content.opens > 0 || content.stats > 0 || content.maps > 0 || moves(content, Direction::read);
        found->second.last = d;
        found->second.written |= writes;
        found->second.prepared |= dump.prepare || (fresh && !writes && finds);
    }
    std::map<std::size_t, std::int64_t> newest;  // the file of each family's last dump
    for (const Dump& dump : plan.dumps) newest[dump.family] = dump.file;
    for (std::size_t d = 0; d < plan.dumps.size(); ++d) {
        const File& file = files.at({plan.dumps[d].family, plan.dumps[d].file});
        const Family& family = plan.families[plan.dumps[d].family];
        uses[d].renamed =
            family.rename || (family.backup && newest.at(plan.dumps[d].family) != plan.dumps[d].file);
        uses[d].last = file.last == d;
        uses[d].written = file.written;
        uses[d].prepared = file.prepared;
    }
    find_backups(plan, uses);
    find_deletions(plan, uses);
    return uses;
}

}  // namespace wa
