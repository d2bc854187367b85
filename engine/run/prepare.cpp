#include "run/prepare.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "expand/dump.hpp"
#include "expand/split.hpp"
#include "io/mpi.hpp"
#include "io/posix.hpp"
#include "run/failure.hpp"
#include "sharing/names.hpp"

namespace wa {
namespace {

using FileKey = std::pair<std::size_t, std::int64_t>;  // family, file number

/// The files that must exist, and the dumps that read them.
std::map<FileKey, std::vector<std::size_t>> files_to_make(const Setup& setup) {
    std::map<FileKey, std::vector<std::size_t>> out;
    for (std::size_t d = 0; d < setup.plan.dumps.size(); ++d) {
        const Dump& dump = setup.plan.dumps[d];
        if (!setup.uses[d].prepared || !setup.performer(d).traits->performs) continue;
        // Only dumps that ask for preparation count; a later one reads what the run has written.
        if (dump.prepare || setup.uses[d].first) out[{dump.family, dump.file}].push_back(d);
    }
    return out;
}

/// Bytes of a file from which on it is synced once it is made: on their way to storage they would disturb
/// what is timed. A sync of each small file would take longer than it disturbs.
constexpr std::int64_t disturbing_bytes = std::int64_t{1} << 20;

/// Writes a share of a file's bytes: prepared payload, which belongs to no dump.
void write_part(const Setup& setup, const std::string& path, std::int64_t from, std::int64_t to,
                std::int64_t phase) {
    const posix::Fd fd = posix::open(path, O_WRONLY);
    const Arena& arena = setup.buffers.arena;
    const std::int64_t most = std::min<std::int64_t>(arena.reach(), std::int64_t{4} << 20);
    for (std::int64_t at = from; at < to;) {
        const std::int64_t part = std::min(most, to - at);
        posix::write_at(fd.get(), arena.at(phase, at), part, at);
        at += part;
        check_signals();
    }
    if (to - from >= disturbing_bytes) posix::sync(fd.get());
}

void make_file(const Setup& setup, const FileKey& key, const std::vector<std::size_t>& dumps) {
    const auto& [family_index, file] = key;
    const Family& family = setup.plan.families[family_index];
    const Layout& layout = setup.layouts[family_index];
    const auto member = layout.members().index_of(setup.process);
    if (!member) return;
    const FileSlot slot = layout.slot_of_member(*member);
    Wide size = 0;
    for (const std::size_t d : dumps) {
        size = std::max(size, dump_end(setup.plan, setup.plan.dumps[d], layout, slot, Direction::read));
    }
    std::string path = setup.path(family_index, file, slot);
    if (setup.further_renames(dumps.front(), slot) > 0 && !gives_up_its_name(family))
        path = name_on_the_way(path, 0);
    const bool first = *member == slot.first_member;
    const MPI_Comm comm = setup.communicators.file(family, false);
    if (first) {
        const posix::Fd fd = posix::open(path, O_WRONLY | O_CREAT | O_EXCL);
        if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) posix::fail("write", errno);
    }
    if (slot.members > 1) mpi::check(MPI_Barrier(comm), "MPI_Barrier");
    const auto bytes = static_cast<std::int64_t>(size);
    const std::int64_t local = *member - slot.first_member;
    const std::int64_t from = shares_before(bytes, slot.members, local);
    const std::int64_t phase = prepared_phase(setup.plan.seed, family.id, file, slot.file);
    write_part(setup, path, from, from + share_of(bytes, slot.members, local), phase);
    if (slot.members > 1) mpi::check(MPI_Barrier(comm), "MPI_Barrier");
    if (first && (family.drop_caches || family.direct)) posix::drop_pages(path);
}

/// The files of a data set, dealt to the processes of the family's members.
void make_dataset(const Setup& setup, std::size_t family_index, const Dataset& dataset) {
    const Family& family = setup.plan.families[family_index];
    const Layout& layout = setup.layouts[family_index];
    const auto member = layout.members().index_of(setup.process);
    if (!member) return;
    const FileSlot slot = layout.slot_of_member(*member);
    const SampleSizes sizes = sample_sizes(setup.plan, family, dataset);
    for (std::int64_t file = *member; file < dataset.files; file += layout.size()) {
        const std::string path = setup.path(family_index, file, slot);
        posix::open(path, O_WRONLY | O_CREAT | O_EXCL).close();
        write_part(setup, path, 0, sizes.bytes_of_file(file),
                   prepared_phase(setup.plan.seed, family.id, file, slot.file));
        if (family.drop_caches || family.direct) posix::drop_pages(path);
    }
}

/// For a file that is not plain bytes: each rank writes what it will read.
void make_through_library(const Setup& setup, const std::vector<std::size_t>& dumps) {
    const auto member = setup.layout(dumps.front()).members().index_of(setup.process);
    if (!member) return;
    const Performer& performer = setup.performer(dumps.front());
    std::unique_ptr<OpenFile> file;
    for (const std::size_t d : dumps) {
        FileContext context = setup.context(d, *member);
        context.writes = context.creates = context.preparing = true;
        if (!file) file = performer.backend->open(context);
        DumpOperations::Options options;
        options.collective_files = performer.counted->collective_files;
        options.whole_elements = true;
        DumpOperations operations(setup.plan, d, setup.layout(d), *member, options);
        context.mesh = operations.mesh();
        file->begin_dump(context);
        Section section;
        Operation operation;
        while (operations.next_section(section)) {
            file->begin_section(section);
            while (operations.next(operation)) {
                if (operation.direction == Direction::write) continue;
                operation.direction = Direction::write;
                (void)file->transfer(operation);
            }
            file->end_section();
            check_signals();
        }
        file->end_dump();
    }
    file->close();
    const std::string path = setup.context(dumps.front(), *member).path;
    if (posix::size_of(path).value_or(0) >= disturbing_bytes) posix::sync(posix::open(path, O_RDONLY).get());
}

}  // namespace

void calibrate_libraries(Setup& setup) {
    for (std::size_t d = 0; d < setup.plan.dumps.size(); ++d) {
        const Performer& performer = setup.performer(d);
        if (!performer.traits->performs || !setup.content(d).sized()) continue;
        const auto member = setup.layout(d).members().index_of(setup.process);
        if (member) performer.backend->calibrate(setup.context(d, *member));
        check_signals();
    }
}

void prepare_files(Setup& setup) {
    for (const auto& [key, dumps] : files_to_make(setup)) {
        check_signals();
        if (const auto& dataset = setup.content(dumps.front()).dataset) {
            make_dataset(setup, key.first, *dataset);
        } else if (setup.performers[key.first].traits->plain_bytes) {
            make_file(setup, key, dumps);
        } else {
            make_through_library(setup, dumps);
        }
    }
}

}  // namespace wa
