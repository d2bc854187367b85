#include "run/setup.hpp"

#include "expand/dump.hpp"
#include "expand/split.hpp"
#include "sharing/names.hpp"

namespace wa {

FileContext Setup::context(std::size_t dump, std::int64_t member) const {
    const Dump& d = plan.dumps[dump];
    const Family& file_family = family(dump);
    const FileUse& use = uses[dump];
    FileContext out;
    out.plan = &plan;
    out.family = &file_family;
    out.content = &content(dump);
    out.dump = &d;
    out.position = dump;
    out.layout = &layout(dump);
    out.use = &use;
    const bool appended = file_family.lifetime == Lifetime::appended;
    const bool writes = moves(*out.content, Direction::write);
    const std::int64_t acting = out.layout->acting_member(member, shift_of(file_family, *out.content));
    out.slot = out.layout->slot_of_member(acting);
    out.place = place_of(Ranks{}, *out.layout, out.slot, acting);
    out.rank = out.layout->members().at(member);
    out.path = path(d.family, d.file, out.slot);
    out.members = out.slot.members;
    out.writes = writes || (appended && use.written);
    out.alone = out.members == 1;
    const bool found = use.prepared && !use.replaces;
    out.creates = out.writes && !found;
    out.exclusive = writes && use.first && !found && !(file_family.sharing.baton && !out.alone);
    out.empties = file_family.truncate && writes && out.alone && !use.first;
    out.final_path = out.path;
    out.renames = further_renames(dump, out.slot);
    if (gives_up_its_name(file_family)) {
        out.renames += use.renamed;
        if (use.renamed) out.final_path = name_on_the_way(out.path, use.backup);
    } else {
        if (use.renamed && out.creates && (appended || !use.written_before)) ++out.renames;
        if (out.renames > 0) out.path = name_on_the_way(out.path, 0);
    }
    out.phase =
        payload_phase(plan.seed, file_family.id, d.file, out.slot.file, static_cast<std::int64_t>(dump));
    if (file_family.direct) out.phase = page_phase(out.phase);
    out.buffers = &buffers;
    if (performer(dump).traits->performs && !options.verify_only) {
        out.comm =
            file_family.sharing.baton ? MPI_COMM_SELF : communicators.file(file_family, acting != member);
    } else {
        out.comm = MPI_COMM_SELF;
    }
    return out;
}

std::int64_t Setup::further_renames(std::size_t dump, const FileSlot& slot) const {
    return share_of(content(dump).renames, layout(dump).files_of_dump(), slot.file);
}

std::set<FileKey> Setup::deleted_files() const {
    std::set<FileKey> out;
    for (std::size_t d = 0; d < plan.dumps.size(); ++d) {
        if (uses[d].deletes) out.emplace(plan.dumps[d].family, *uses[d].deletes);
    }
    return out;
}

std::string Setup::path(std::size_t family, std::int64_t file, const FileSlot& slot) const {
    const std::int64_t first = layouts[family].members().at(slot.first_member);
    const std::string folder = this->folder(family, file, slot);
    return folder + "/" + file_name(plan, plan.families[family], first, file, slot);
}

std::string Setup::folder(std::size_t family, std::int64_t file, const FileSlot& slot) const {
    const std::int64_t first = layouts[family].members().at(slot.first_member);
    const std::string directory = options.directories.of(plan.families[family]);
    const std::string name = folder_name(plan, plan.families[family], first, file);
    return name.empty() ? directory : directory + "/" + name;
}

}  // namespace wa
