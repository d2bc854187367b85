#include "run/made_files.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <set>
#include <type_traits>

#include "folder/cleanup.hpp"
#include "io/mpi.hpp"
#include "io/posix.hpp"
#include "run/failure.hpp"
#include "run/file_sizes.hpp"
#include "sharing/names.hpp"

namespace wa {
namespace {

constexpr int tag = 3;

struct OwnFile {
    std::int64_t dump = 0;  // the last one that used the file
    std::int64_t family = 0;
    std::int64_t file = 0;
    std::int64_t slot = 0;
    std::int64_t size = 0;
};
static_assert(std::is_trivially_copyable_v<OwnFile>);

std::string path_of(const Setup& setup, const OwnFile& own) {
    const auto family = static_cast<std::size_t>(own.family);
    return setup.path(family, own.file, setup.layouts[family].slot(own.slot));
}

/// The part of a dump's files whose first sharer is this process.
std::optional<FileSlot> own_slot(const Setup& setup, const Dump& dump) {
    if (!setup.performers[dump.family].traits->performs) return std::nullopt;
    const Layout& layout = setup.layouts[dump.family];
    const auto member = layout.members().index_of(setup.process);
    if (!member) return std::nullopt;
    const FileSlot slot = layout.slot_of_member(*member);
    if (slot.first_member != *member) return std::nullopt;
    return slot;
}

/// The numbers of the files of a dump: the first one, and the one past the last one.
std::pair<std::int64_t, std::int64_t> files_of(const Setup& setup, const Dump& dump) {
    const auto& dataset = setup.plan.contents[dump.content].dataset;
    return {dump.file, dump.file + (dataset ? dataset->files : 1)};
}

/// The files whose first sharer is this process, as far as they are there. With `missing`, those that should
/// be there and are not have the size -1.
std::vector<OwnFile> own_files(const Setup& setup, bool missing = false) {
    std::vector<OwnFile> out;
    const std::set<FileKey> gone = missing ? setup.deleted_files() : std::set<FileKey>{};
    for (std::size_t d = 0; d < setup.plan.dumps.size(); ++d) {
        const Dump& dump = setup.plan.dumps[d];
        const auto slot = setup.uses[d].last ? own_slot(setup, dump) : std::nullopt;
        if (!slot) continue;
        const auto [first, end] = files_of(setup, dump);
        for (std::int64_t file = first; file < end; ++file) {
            OwnFile own{static_cast<std::int64_t>(d), static_cast<std::int64_t>(dump.family), file,
                        slot->file, 0};
            const auto size = posix::size_of(path_of(setup, own));
            if (!size && (!missing || gone.contains({dump.family, file}))) continue;
            own.size = size.value_or(-1);
            out.push_back(own);
        }
    }
    return out;
}

/// The backups of files whose first sharer is this process: what dumps have renamed away, as far as it is
/// there.
std::set<std::string> own_backups(const Setup& setup) {
    std::set<std::string> out;
    for (std::size_t d = 0; d < setup.plan.dumps.size(); ++d) {
        const Dump& dump = setup.plan.dumps[d];
        const FileUse& use = setup.uses[d];
        if (!use.renamed || !gives_up_its_name(setup.plan.families[dump.family])) continue;
        const auto slot = own_slot(setup, dump);
        if (!slot) continue;
        const std::string path = name_on_the_way(setup.path(dump.family, dump.file, *slot), use.backup);
        if (posix::size_of(path)) out.insert(path);
    }
    return out;
}

/// Ends the run if a file does not hold what was written to it.
void check_files(Setup& setup, const std::vector<OwnFile>& files) {
    for (const OwnFile& own : files) {
        const auto dump = static_cast<std::size_t>(own.dump);
        const auto size = own.size < 0 ? std::nullopt : std::optional(own.size);
        try {
            check_file(setup, dump, setup.layout(dump).slot(own.slot), path_of(setup, own), size);
        } catch (const CallFailed& error) {
            end_all(setup, nullptr, error, setup.process, dump);
        }
    }
}

void append_items(const Setup& setup, LineFile& record, const std::vector<OwnFile>& files, bool& first) {
    std::string text;
    for (const OwnFile& own : files) {
        const std::string path = path_of(setup, own);
        text += first ? "" : ",";
        const Family& family = setup.plan.families[static_cast<std::size_t>(own.family)];
        const std::size_t directory = setup.options.directories.of(family).size() + 1;
        text += file_item(family, own.file, path.substr(directory), own.size);
        first = false;
    }
    record.append_raw(text);
}

}  // namespace

void make_folders(const Setup& setup) {
    std::set<std::string> folders;
    for (std::size_t d = 0; d < setup.plan.dumps.size(); ++d) {
        const Dump& dump = setup.plan.dumps[d];
        const Folders& of_family = setup.plan.families[dump.family].folders;
        if (!of_family.used() || !setup.uses[d].first) continue;
        const auto slot = own_slot(setup, dump);
        if (!slot || (slot->first_member != 0 && !of_family.per_rank)) continue;
        const auto [first, end] = files_of(setup, dump);
        for (std::int64_t file = first; file < end; ++file)
            folders.insert(setup.folder(dump.family, file, *slot));
    }
    for (const std::string& folder : folders) posix::make_folder(folder);
}

void write_end_line(Setup& setup, LineFile& record, double wall_s, const std::optional<Verified>& verified) {
    std::vector<OwnFile> files = own_files(setup, true);
    check_files(setup, files);
    std::erase_if(files, [](const OwnFile& own) { return own.size < 0; });
    const std::string computed = setup.computing ? compute_item(setup.computing->totals()) : "null";
    if (setup.process != 0) {
        const auto count = static_cast<std::int64_t>(files.size());
        const mpi::Datatype type = mpi::contiguous(sizeof(OwnFile));
        mpi::check(MPI_Send(&count, 1, MPI_INT64_T, 0, tag, MPI_COMM_WORLD), "MPI_Send");
        mpi::check(MPI_Send(files.data(), static_cast<int>(count), type.get(), 0, tag, MPI_COMM_WORLD),
                   "MPI_Send");
        return;
    }
    record.append_raw(fmt::format("{{\"type\":\"end\",\"wall_s\":{:.6f},\"files\":[", wall_s));
    bool first = true;
    append_items(setup, record, files, first);
    // Processes send in turn, so that this process never holds more than one list.
    for (int process = 1; process < setup.processes; ++process) {
        std::int64_t count = 0;
        const mpi::Datatype type = mpi::contiguous(sizeof(OwnFile));
        mpi::check(MPI_Recv(&count, 1, MPI_INT64_T, process, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                   "MPI_Recv");
        files.resize(static_cast<std::size_t>(count));
        mpi::check(MPI_Recv(files.data(), static_cast<int>(count), type.get(), process, tag, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE),
                   "MPI_Recv");
        append_items(setup, record, files, first);
    }
    const std::string result =
        verified
            ? fmt::format(R"({{"bytes":{},"errors":{},"end_bytes":{},"storage_bytes":{}}})", verified->bytes,
                          verified->errors, verified->end_bytes, verified->storage_bytes)
            : "null";
    record.append("],\"compute\":" + computed + ",\"verified\":" + result + "}");
}

void remove_own_files(const Setup& setup) {
    for (const OwnFile& own : own_files(setup)) posix::remove(path_of(setup, own));
    for (const std::string& path : own_backups(setup)) posix::remove(path);
    const bool more =
        std::any_of(setup.plan.families.begin(), setup.plan.families.end(),
                    [](const Family& family) { return family.hdf5.subfiling || family.folders.used(); });
    if (!more) return;
    mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");  // a folder is removed once it is empty
    if (setup.process != 0) return;
    for (const std::string& folder : setup.folders()) remove_files_of_plan(setup.plan, folder);
}

}  // namespace wa
