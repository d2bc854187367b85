#include "plan/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "errors.hpp"
#include "expand/dump.hpp"
#include "plan/direct.hpp"
#include "plan/enum_words.hpp"
#include "plan/limits.hpp"
#include "plan/operation_table.hpp"
#include "plan/unwritten.hpp"

namespace wa {
namespace {

[[noreturn]] void fail(const std::string& place, const std::string& reason, const std::string& hint = "") {
    throw PlanError(place, reason, hint);
}

void check_sharing(const Family& family, std::int64_t ranks, const std::string& place) {
    const Sharing& sharing = family.sharing;
    const std::int64_t members = Layout(family, ranks).size();
    if (sharing.mode == SharingMode::root && members != 1) {
        fail(place + ".ranks", "root needs exactly one rank", "name it as [[r, r, 1]]");
    }
    if (sharing.mode == SharingMode::groups && sharing.files > members) {
        fail(place + ".files", fmt::format("{} files cannot be shared by {} ranks", sharing.files, members),
             "lower it");
    }
    if (sharing.gather && sharing.mode != SharingMode::root) fail(place + ".gather", "needs mode root");
    if (sharing.baton && sharing.mode != SharingMode::groups)
        fail(place + ".turns", "baton needs mode groups");
    if (sharing.baton && family.lifetime == Lifetime::appended) {
        fail(place + ".turns", "baton closes a file after each turn", "use lifetime per-dump or reused");
    }
}

void check_truncate(const Family& family, std::int64_t ranks, const std::string& place) {
    if (!family.truncate) return;
    if (family.lifetime != Lifetime::reused)
        fail(place, "empties a file at each dump", "use lifetime reused");
    if (family.sharing.mode != SharingMode::per_rank && Layout(family, ranks).size() > 1)
        fail(place, "empties what other ranks have written", "truncate files of a single rank only");
}

void check_families(const Plan& plan) {
    std::set<std::pair<Role, std::int64_t>> names;
    for (std::size_t i = 0; i < plan.families.size(); ++i) {
        const Family& family = plan.families[i];
        const std::string place = fmt::format("families[{}]", i);
        if (!names.emplace(family.role, family.number).second) {
            fail(place + ".number", "another family has this role and number", "give it another number");
        }
        check_sharing(family, plan.ranks, place + ".sharing");
        if (family.rename && family.truncate)
            fail(place + ".truncate", "a file that is renamed into place is a new one", "leave out truncate");
        if (family.removed && (family.rename || family.backup || family.keep > 0))
            fail(place + ".removed", "no file is left", "leave out keep, rename and backup");
        if (family.backup && (family.rename || family.truncate || family.lifetime == Lifetime::appended)) {
            fail(place + ".backup", "goes with lifetime per-dump or reused, and without rename and truncate");
        }
        if (family.backup && family.lifetime == Lifetime::reused && family.keep == 1)
            fail(place + ".keep", "leaves no backup", "keep 2 files or more, or leave it out");
        check_truncate(family, plan.ranks, place + ".truncate");
    }
}

void check_stream(const Stream& stream, const std::string& place) {
    Wide operations = 0;
    for (const Entry& entry : stream.entries) operations += entry.operations;
    if (operations > limits::operations) {
        fail(place + ".entries", fmt::format("more than {} operations", limits::operations), "lower them");
    }
    for (std::size_t e = 0; e < stream.entries.size(); ++e) {
        const Entry& entry = stream.entries[e];
        const std::string where = fmt::format("{}.entries[{}]", place, e);
        if (stream.pattern == Pattern::strided && stream.stride < entry.size) {
            fail(place + ".stride", fmt::format("must be at least {}, the size of an operation", entry.size));
        }
        if (entry.size % stream.pieces != 0)
            fail(where, fmt::format("the size is not a multiple of {} pieces", stream.pieces));
    }
    const bool dense = stream.pattern == Pattern::contiguous || stream.pattern == Pattern::interleaved;
    if (stream.pieces > 1 && (stream.mixed || !dense)) {
        fail(place + ".pieces",
             "operations of several pieces must be contiguous or interleaved, and not mixed");
    }
    const bool table = stream.pattern == Pattern::table;
    if (table != !stream.table.empty())
        fail(place + ".table",
             "the file name of a table needs the pattern table, and the pattern needs the name");
    if (table && stream.pieces > 1) fail(place + ".pieces", "the operations of a table are of one piece");
    if (stream.nonblocking && (stream.pieces > 1 || (stream.collective && !table)))
        fail(place + ".nonblocking", "is of independent operations of one piece", "leave it out");
    if (!table && (stream.first_row > 0 || stream.row_count))
        fail(place + ".rows", "rows are those of a table, and need the pattern table");
    if (stream.buffered != Buffered::none && (table || stream.pieces > 1 || stream.collective))
        fail(place + ".buffered", "is of independent operations of one piece", "leave it out");
    if (stream.buffered == Buffered::none && (stream.buffer_seeks > 0 || stream.buffer_flushes > 0))
        fail(place + ".buffered", "is needed for seeks and flushes of a stream");
    const Place together{1, 0, 1, 0};
    if (stream_end(stream, together) > limits::offset) {
        fail(place, fmt::format("reaches beyond byte {}", limits::offset),
             "lower base, operations, sizes or stride");
    }
}

void check_mesh(const Mesh& mesh, const std::string& place) {
    if (!countable(mesh, mesh.parts, mesh.nodes))
        fail(place, "the mesh is too large", "lower nodes, parts, ghost or variables");
    const Wide nodes = nodes_of(mesh, mesh.parts, mesh.nodes);
    if (!mesh.wide_ids && !mesh.bytes && nodes > INT32_MAX) {
        fail(place + ".wide_ids", "this many nodes cannot be numbered in 32 bits", "set it to true");
    }
    if (mesh.bytes && !mesh.part_dims.empty())
        fail(place + ".part_dims", "follow from bytes", "leave one of them out");
}

/// Ranks that open a file together also sync it together, so that their writes must be countable alike.
void check_amid_writes(const Content& content, const std::string& place) {
    const bool table = std::any_of(content.streams.begin(), content.streams.end(), [](const Stream& stream) {
        return stream.rows && stream.rows->most_collective() > 0;
    });
    if (!table && !content.fit && !content.mesh) return;
    for (const auto& [amid, name] : {std::pair(content.sync, ".sync"), std::pair(content.flush, ".flush")}) {
        if (amid.writes > 0)
            fail(place + name, "goes with streams and arrays, not with tables of collective operations",
                 "leave it out");
    }
}

void check_contents(const Plan& plan) {
    for (std::size_t i = 0; i < plan.contents.size(); ++i) {
        const Content& content = plan.contents[i];
        const std::string place = fmt::format("contents[{}]", i);
        for (std::size_t s = 0; s < content.streams.size(); ++s) {
            check_stream(content.streams[s], fmt::format("{}.streams[{}]", place, s));
        }
        Wide bytes = 0;
        for (const Array& array : content.arrays) bytes += Wide{array.bytes()} * array.datasets;
        check_amid_writes(content, place);
        if (content.mesh) check_mesh(*content.mesh, place + ".mesh");
        if (bytes > limits::offset) fail(place + ".arrays", "are too large", "lower datasets or dims");
    }
}

/// A data set's files are named by their numbers, are read by any reader, and stay between epochs.
void check_dataset(const Family& family, const std::string& place) {
    const SharingMode mode = family.sharing.mode;
    if (mode == SharingMode::per_rank || mode == SharingMode::groups || family.sharing.gather)
        fail(place,
             fmt::format("family {} must have sharing shared, subset or root without gather", family.id));
    if (family.lifetime != Lifetime::reused || family.rename || family.backup || family.removed ||
        family.keep > 0 || family.shift > 0)
        fail(place,
             fmt::format(
                 "family {} must have lifetime reused, without rename, backup, removed, keep and reader",
                 family.id));
}

/// Rounds at a stated distance are whole ones of one file. Those of a rank do not overlap, nor do those of
/// pieces.
void check_rounds(const Stream& stream, const Layout& layout, const std::string& place) {
    if (stream.pattern != Pattern::interleaved || stream.stride == 0) return;
    const std::int64_t ranks = stream.ranks.all ? layout.size() : stream.ranks.set.size();
    const bool whole = stream.entries.size() == 1 && ranks > 0 && stream.entries[0].operations % ranks == 0;
    if (layout.files_of_dump() > 1 || !whole)
        fail(place, "needs one file, and as many operations of one size on each rank", "leave it out");
    // Bytes of pieces follow from their place in memory, so that other ones would be found where rounds
    // overlap.
    const Wide least = Wide{stream.pieces > 1 ? ranks : 1} * stream.entries[0].size;
    if (stream.stride < least)
        fail(place, fmt::format("must be at least {}", static_cast<std::int64_t>(least)));
}

/// Ranks that share a file flush it together, but each writes hyperslabs of its own number.
void check_amid_arrays(const Content& content, const Family& family, const Layout& layout,
                       std::size_t index) {
    const bool amid = content.sync.writes > 0 || content.flush.writes > 0;
    if (!amid || content.arrays.empty() || family.sharing.baton || layout.slot(0).members == 1) return;
    fail(
        fmt::format("contents[{}].flush", index),
        fmt::format("amid writes of arrays needs files of one rank each, which family {} has not", family.id),
        "use `flushes` and `fsyncs`");
}

/// The ranks of a content must be members of the family that uses it, and a baton goes only between
/// independent ranks.
void check_use(const Plan& plan, const Family& family, const Layout& layout, std::size_t index) {
    const Content& content = plan.contents[index];
    const auto check = [&](const Ranks& ranks, bool collective, const std::string& place) {
        if (!ranks.all && !ranks.set.subset_of(layout.members())) {
            fail(place + ".ranks", fmt::format("not all of these are ranks of family {}", family.id));
        }
        if (collective && family.sharing.baton) {
            fail(place + ".collective",
                 fmt::format("family {} uses a baton, so its ranks cannot make collective calls", family.id));
        }
    };
    check_amid_arrays(content, family, layout, index);
    for (std::size_t s = 0; s < content.streams.size(); ++s) {
        const Stream& stream = content.streams[s];
        check_rounds(stream, layout, fmt::format("contents[{}].streams[{}].stride", index, s));
        check(stream.ranks, stream.collective, fmt::format("contents[{}].streams[{}]", index, s));
    }
    for (std::size_t a = 0; a < content.arrays.size(); ++a) {
        for (std::size_t x = 0; x < content.arrays[a].access.size(); ++x) {
            const Access& access = content.arrays[a].access[x];
            check(access.ranks, access.collective,
                  fmt::format("contents[{}].arrays[{}].access[{}]", index, a, x));
        }
    }
    const bool replaces = replaces_its_file(family);
    if (replaces && !content.streams.empty() && content.streams[0].direction == Direction::read &&
        moves(content, Direction::write))
        fail(fmt::format("contents[{}].streams[0]", index), "a file that is renamed is written first",
             "put the reads into a dump of their own");
    if (content.renames > 0 &&
        ((family.lifetime != Lifetime::per_dump && !(replaces && moves(content, Direction::write))) ||
         (family.backup && !replaces) || family.removed))
        fail(fmt::format("contents[{}].renames", index), "are of files that one dump makes or uses",
             "use lifetime per-dump without backup, or reused with rename or backup for a dump that writes; "
             "without removed");
    if (content.maps > 0 && family.interface != Interface::posix && family.interface != Interface::stdio)
        fail(fmt::format("contents[{}].maps", index),
             fmt::format("need the descriptor of a file, which the interface of family {} hides", family.id),
             "use the interface posix or stdio, or leave it out");
    if (content.reopen && family.lifetime == Lifetime::appended)
        fail(fmt::format("contents[{}].reopen", index), "is of a file that its dump closes",
             "use another lifetime than appended");
    if (content.dataset) check_dataset(family, fmt::format("contents[{}].dataset", index));
    if (content.fit) check(Ranks{}, content.fit->collective, fmt::format("contents[{}].fit", index));
    if (content.mesh) check(Ranks{}, content.mesh->collective, fmt::format("contents[{}].mesh", index));
}

struct Effort {
    Wide steps = 0;  // a lower bound for the work of performing a dump, in operations
    Wide bytes = 0;
};

/// The effort of one dump of a content on `members` ranks.
Effort effort_of(const Content& content, std::int64_t members) {
    Effort out;
    out.steps = Wide{content.opens} + content.stats + content.seeks + content.fsyncs + content.flushes +
                content.maps + content.renames + members;
    Wide writes = 0;
    for (const Stream& stream : content.streams) {
        out.steps += Wide{members} * static_cast<std::int64_t>(stream.entries.size() + 1);
        if (stream.rows) out.bytes += stream.rows->bytes();
        for (const Entry& entry : stream.entries) {
            const Wide joins = stream.collective ? Wide{entry.operations} * members : 0;
            out.steps += Wide{entry.operations} * stream.pieces + joins;
            if (stream.direction == Direction::write) writes += entry.operations;
            out.bytes += Wide{entry.operations} * entry.size;
        }
    }
    for (const Array& array : content.arrays) {
        for (const Access& access : array.access) {
            if (access.direction != Direction::write) continue;
            for (const Slab& slab : access.slabs) writes += slab.operations;
        }
    }
    for (const AmidWrites& amid : {content.sync, content.flush}) {
        if (amid.writes > 0) out.steps += writes / amid.writes * amid.calls;
    }
    for (const Array& array : content.arrays) {
        for (const Access& access : array.access) {
            for (const Slab& slab : access.slabs) {
                const Wide joins = access.collective ? Wide{slab.operations} * members : 0;
                out.steps += Wide{members} * array.datasets + slab.operations + joins;
                out.bytes += Wide{slab.operations} * slab.elements() * array.element;
            }
        }
    }
    if (content.fit) {
        out.steps += Wide{members} * content.fit->datasets + content.fit->operations.value_or(0);
        out.bytes += content.fit->bytes;
    }
    if (content.mesh) {
        const Mesh& mesh = *content.mesh;
        const MeshLayout layout(mesh, planned_parts(mesh, {0, mesh.parts}));
        out.steps += Wide{members + mesh.parts} * tables_of(mesh);
        out.bytes += layout.bytes();
    }
    if (content.dataset) {
        const DatasetEffort effort = dataset_effort(*content.dataset, members);
        out.steps += effort.calls;
        out.bytes += effort.bytes;
    }
    return out;
}

void check_dumps(const Plan& plan) {
    std::vector<Layout> layouts;
    layouts.reserve(plan.families.size());
    for (const Family& family : plan.families) layouts.emplace_back(family, plan.ranks);
    std::set<std::pair<std::size_t, std::size_t>> seen;
    Effort sum;
    for (std::size_t d = 0; d < plan.dumps.size(); ++d) {
        const Dump& dump = plan.dumps[d];
        const Layout& layout = layouts[dump.family];
        if (seen.emplace(dump.family, dump.content).second) {
            check_use(plan, plan.families[dump.family], layout, dump.content);
        }
        const Effort effort = effort_of(plan.contents[dump.content], layout.size());
        sum.steps += effort.steps;
        sum.bytes += effort.bytes;
        const std::string place = fmt::format("dumps[{}]", d);
        if (sum.steps > limits::operations) {
            fail(place, "the plan has more operations than an engine could finish",
                 "lower counts, ranks or dumps");
        }
        const FileSlot everyone{0, 0, layout.size()};
        if (sum.bytes > limits::offset ||
            dump_end(plan, dump, layout, everyone, std::nullopt) > limits::offset) {
            fail(place, fmt::format("the plan moves bytes beyond {}", limits::offset),
                 "lower base, sizes or counts");
        }
    }
}

}  // namespace

void load_tables(Plan& plan, const std::string& plan_path, Tables given) {
    const std::filesystem::path folder = std::filesystem::path(plan_path).parent_path();
    std::map<std::string, std::shared_ptr<const OperationTable>> opened;
    for (std::size_t c = 0; c < plan.contents.size(); ++c) {
        for (std::size_t s = 0; s < plan.contents[c].streams.size(); ++s) {
            Stream& stream = plan.contents[c].streams[s];
            if (stream.table.empty()) continue;
            auto& table = opened[stream.table];
            const std::string place = fmt::format("contents[{}].streams[{}].table", c, s);
            if (!table) {
                const auto bytes = given.find(stream.table);
                table = bytes != given.end() ? OperationTable::of(std::move(bytes->second), place)
                                             : OperationTable::open((folder / stream.table).string(), place);
            }
            stream.rows = std::make_shared<const OperationRows>(table, stream.first_row, stream.row_count,
                                                                place, plan.ranks);
        }
    }
}

void check_rules(const Plan& plan) {
    check_families(plan);
    check_contents(plan);
    check_dumps(plan);
    check_direct(plan);
}

void check_plan(const Plan& plan, const std::function<void()>& checkpoint) {
    check_rules(plan);
    check_reads(plan, checkpoint);
}

}  // namespace wa
