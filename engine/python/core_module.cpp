// workalike._core: the Python bindings of the engine's core. The logic is in engine/core.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "count/count.hpp"
#include "count/operations.hpp"
#include "errors.hpp"
#include "folder/cleanup.hpp"
#include "folder/folder_lock.hpp"
#include "mesh/layout.hpp"
#include "plan/buffered.hpp"
#include "plan/check.hpp"
#include "plan/direct.hpp"
#include "plan/enum_words.hpp"
#include "plan/json.hpp"
#include "plan/limits.hpp"
#include "plan/maps.hpp"
#include "plan/read.hpp"
#include "plan/unwritten.hpp"
#include "plan/upgrade.hpp"
#include "predict/predict.hpp"
#include "schedule/timeline.hpp"
#include "schedule/times.hpp"
#include "sharing/named_once.hpp"
#include "sharing/names.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wa {
namespace {

using Column = std::vector<std::int64_t>;

/// A column as a NumPy array that owns its data.
template <typename T>
nb::object array_of(std::vector<T> values, std::size_t width = 0) {
    auto* data = new std::vector<T>(std::move(values));
    nb::capsule owner(data, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (width == 0) return nb::cast(nb::ndarray<nb::numpy, T>(data->data(), {data->size()}, owner));
    return nb::cast(nb::ndarray<nb::numpy, T>(data->data(), {data->size() / width, width}, owner));
}

const Traits* performer_of(const std::optional<std::string>& name) {
    if (!name) return nullptr;
    const Traits* traits = find_traits(*name);
    if (traits == nullptr) throw UsageError("unknown backend", "use one of " + backend_names());
    return traits;
}

/// Lets Python's signal handlers run, so that Ctrl-C ends long work of the core.
void check_signals() {
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// Reads and checks a plan. Raises what parse_plan(), load_tables() and check_plan() raise.
std::unique_ptr<ResolvedPlan> read(const std::string& text, const std::string& path,
                                   const std::optional<std::string>& backend, Tables tables) {
    const nb::gil_scoped_release unlocked;
    Plan plan = parse_plan(text);
    load_tables(plan, path, std::move(tables));
    check_plan(plan, check_signals);
    return std::make_unique<ResolvedPlan>(std::move(plan), performer_of(backend));
}

std::vector<std::string> levels(const ResolvedPlan& resolved) {
    std::vector<std::string> out;
    for (std::size_t f = 0; f < resolved.counted.size(); ++f)
        out.emplace_back(word_of(resolved.counted[f]->level.value_or(resolved.plan.families[f].level)));
    return out;
}

std::vector<std::int64_t> each_layout(const ResolvedPlan& resolved, std::int64_t (Layout::*what)() const) {
    std::vector<std::int64_t> out;
    for (const Layout& layout : resolved.layouts) out.push_back((layout.*what)());
    return out;
}

void clean(const ResolvedPlan& resolved, const std::string& folder) {
    if (!FolderLock::exists(resolved.plan, folder)) return;
    const nb::gil_scoped_release unlocked;
    FolderLock lock;
    lock.take(resolved.plan, folder);
    lock.release();
}

void refuse(const ResolvedPlan& resolved, const std::optional<std::string>& backend) {
    const Traits* performer = performer_of(backend);
    std::set<std::pair<std::size_t, std::size_t>> seen;
    for (std::size_t d = 0; d < resolved.plan.dumps.size(); ++d) {
        const Dump& dump = resolved.plan.dumps[d];
        if (!seen.emplace(dump.family, dump.content).second) continue;
        const Family& family = resolved.family(d);
        const Traits& traits = performer != nullptr ? *performer : *family.backend;
        const std::string place = std::string(word_of(family.role)) + " " + std::to_string(family.number);
        refuse_direct(family, traits, place);
        refuse_buffered(family, resolved.content(d), traits, place);
        refuse_maps(resolved.content(d), traits, place);
        if (traits.refuse != nullptr) traits.refuse(family, resolved.layout(d), resolved.content(d), place);
    }
}

nb::dict columns_of(const std::vector<DumpCount>& dumps) {
    nb::dict out;
    const auto add = [&](const std::string& name, auto&& value) {
        Column column;
        column.reserve(dumps.size());
        for (const DumpCount& dump : dumps) column.push_back(value(dump));
        out[name.c_str()] = array_of(std::move(column));
    };
    add("ranks", [](const DumpCount& d) { return d.ranks; });
    for (std::size_t k = 0; k < kinds; ++k)
        add("calls_" + std::string(kind_name(static_cast<Kind>(k))),
            [k](const DumpCount& d) { return d.calls[k]; });
    add("OPENS", [](const DumpCount& d) { return d.counters.opens; });
    add("STATS", [](const DumpCount& d) { return d.counters.stats; });
    add("SEEKS", [](const DumpCount& d) { return d.counters.seeks; });
    add("FSYNCS", [](const DumpCount& d) { return d.counters.fsyncs; });
    add("FLUSHES", [](const DumpCount& d) { return d.counters.flushes; });
    add("MMAPS", [](const DumpCount& d) { return d.counters.maps; });
    for (const Direction direction : {Direction::read, Direction::write}) {
        const bool writes = direction == Direction::write;
        const std::string plural = writes ? "WRITES" : "READS";
        const std::string past = writes ? "WRITTEN" : "READ";
        const auto add_field = [&](const std::string& name, std::int64_t DirectionCounters::*field) {
            add(name, [=](const DumpCount& d) { return d.counters.transfers(direction).*field; });
        };
        add("payload_" + std::string(writes ? "written" : "read"),
            [=](const DumpCount& d) { return d.payload[static_cast<std::size_t>(direction)]; });
        add_field(plural, &DirectionCounters::operations);
        add_field("COLL_" + plural, &DirectionCounters::collective);
        add("INDEP_" + plural, [=](const DumpCount& d) {
            return d.counters.transfers(direction).operations - d.counters.transfers(direction).collective;
        });
        add_field("BYTES_" + past, &DirectionCounters::bytes);
        add_field("MAX_BYTE_" + past, &DirectionCounters::max_byte);
        add_field("SEQ_" + plural, &DirectionCounters::sequential);
        add_field("CONSEC_" + plural, &DirectionCounters::consecutive);
        Column sizes;
        sizes.reserve(dumps.size() * size_bins);
        for (const DumpCount& dump : dumps) {
            const auto& bins = dump.counters.transfers(direction).sizes;
            sizes.insert(sizes.end(), bins.begin(), bins.end());
        }
        out[writes ? "SIZE_WRITE" : "SIZE_READ"] = array_of(std::move(sizes), size_bins);
    }
    return out;
}

nb::dict count(const ResolvedPlan& resolved, const std::vector<std::optional<std::int64_t>>& payloads,
               bool each_rank, std::optional<std::int64_t> most) {
    CountBounds bounds;
    bounds.checkpoint = check_signals;
    if (most) bounds.calls = *most;
    std::vector<DumpCount> dumps;
    {
        const nb::gil_scoped_release unlocked;
        dumps =
            each_rank ? count_each_rank(resolved, payloads, bounds) : count_plan(resolved, payloads, bounds);
    }
    return columns_of(dumps);
}

/// The calls of a rank as columns. Those of structure are left out.
class CallColumns {
  public:
    explicit CallColumns(std::int64_t most) : most_(most) {}

    /// Whether the call was one to keep.
    bool add(const RankCall& made) {
        const std::optional<Kind> is = kind_of(*made.call);
        if (!is) return false;
        if (static_cast<std::int64_t>(kind_.size()) == most_)
            throw UsageError("the rank has more than " + std::to_string(most_) + " operations",
                             "raise the limit");
        file_.push_back(place_of(made.dump, made.file));
        dump_.push_back(static_cast<std::int64_t>(made.dump));
        kind_.push_back(static_cast<std::int64_t>(*is));
        const bool transfers = made.call->kind == Call::Kind::transfer;
        const bool placed = transfers ? !made.call->operation.joins : made.call->kind == Call::Kind::seek;
        offset_.push_back(!placed ? -1 : transfers ? made.call->operation.offset : made.call->offset);
        length_.push_back(transfers ? made.call->operation.size : 0);
        return true;
    }

    nb::dict columns() {
        nb::dict out;
        out["names"] = nb::cast(names_);
        out["file"] = array_of(std::move(file_));
        out["dump"] = array_of(std::move(dump_));
        out["kind"] = array_of(std::move(kind_));
        out["offset"] = array_of(std::move(offset_));
        out["length"] = array_of(std::move(length_));
        return out;
    }

  private:
    /// The place of a file among the names. Calls of a dump are to one file for long, so the last one of each
    /// dump is kept at hand: dumps that are in progress together take turns.
    std::int64_t place_of(std::size_t dump, std::string_view file) {
        if (dump >= last_.size()) last_.resize(dump + 1, -1);
        std::int64_t& last = last_[dump];
        if (last >= 0 && names_[static_cast<std::size_t>(last)] == file) return last;
        const auto [known, fresh] =
            files_.try_emplace(std::string(file), static_cast<std::int64_t>(files_.size()));
        if (fresh) names_.push_back(known->first);
        return last = known->second;
    }

    std::int64_t most_;
    Column dump_, file_, kind_, offset_, length_;
    std::map<std::string, std::int64_t> files_;
    std::vector<std::string> names_;
    std::vector<std::int64_t> last_;  // by dump
};

nb::dict operations(const ResolvedPlan& resolved, std::int64_t rank, std::int64_t most) {
    CallColumns calls(most);
    {
        const nb::gil_scoped_release unlocked;
        visit_calls(resolved, rank, [&](const RankCall& made) {
            calls.add(made);
            return true;
        });
    }
    return calls.columns();
}

nb::dict timeline(const ResolvedPlan& resolved, std::int64_t rank, std::int64_t most) {
    CallColumns calls(most);
    std::vector<double> start_s;
    std::vector<double> busy_s;
    {
        const nb::gil_scoped_release unlocked;
        visit_timeline(resolved, rank, [&](const TimedCall& made) {
            if (calls.add(made.call)) {
                start_s.push_back(made.at_s);
                busy_s.push_back(made.busy_s);
            }
            return true;
        });
    }
    nb::dict out = calls.columns();
    out["start_s"] = array_of(std::move(start_s));
    out["busy_s"] = array_of(std::move(busy_s));
    return out;
}

nb::dict times_of_dumps(const ResolvedPlan& resolved) {
    std::vector<double> start_s;
    std::vector<double> end_s;
    for (const DumpTimes& times : dump_times(resolved.plan)) {
        start_s.push_back(times.start_s);
        end_s.push_back(times.end_s);
    }
    nb::dict out;
    out["start_s"] = array_of(std::move(start_s));
    out["end_s"] = array_of(std::move(end_s));
    return out;
}

Tables tables_of(const std::map<std::string, nb::bytes>& given) {
    Tables tables;
    for (const auto& [name, bytes] : given) tables.emplace(name, std::string(bytes.c_str(), bytes.size()));
    return tables;
}

/// Groups of ranks, each as (first, last, step) spans: a rank that is in two of them.
std::optional<std::pair<std::size_t, std::int64_t>> found_twice(
    const std::vector<std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>>& groups,
    std::int64_t ranks) {
    std::vector<RankSet> sets;
    for (const auto& group : groups) {
        std::vector<RankSpan> spans;
        for (const auto& [first, last, step] : group) spans.push_back({first, last, step});
        sets.emplace_back(spans);
    }
    const auto twice = named_twice(sets, ranks);
    return twice ? std::optional(std::pair{twice->group, twice->rank}) : std::nullopt;
}

/// For each dump, whether its file is renamed, and the number of the file that is deleted after it.
std::vector<std::pair<bool, std::optional<std::int64_t>>> names_lost(const ResolvedPlan& resolved) {
    std::vector<std::pair<bool, std::optional<std::int64_t>>> out;
    out.reserve(resolved.uses.size());
    for (const FileUse& use : resolved.uses) out.emplace_back(use.renamed, use.deletes);
    return out;
}

/// The dumps of a plan that read what nobody has written, and whether they read holes of files only.
std::vector<std::pair<std::size_t, bool>> unwritten_dumps(const std::string& text, Tables tables) {
    const nb::gil_scoped_release unlocked;
    Plan plan = parse_plan(text);
    load_tables(plan, "", std::move(tables));
    check_rules(plan);
    std::vector<std::pair<std::size_t, bool>> out;
    for (const UnwrittenRead& read : unwritten_reads(plan, check_signals))
        out.emplace_back(read.dump, read.hole);
    return out;
}

nb::dict predicted(const ResolvedPlan& resolved, const std::vector<std::int64_t>& alignments,
                   std::int64_t most, const std::vector<bool>& apart) {
    Prediction found;
    {
        const nb::gil_scoped_release unlocked;
        found = predict(resolved, alignments, most, apart);
    }
    nb::dict out;
    for (std::size_t m = 0; m < log_modules; ++m) {
        const auto module = static_cast<LogModule>(m);
        const std::vector<PredictedRecord>& records = found.records[m];
        if (records.empty()) continue;
        Column family, ranks, counters;
        std::vector<double> effective;
        std::vector<std::string> files;
        for (const PredictedRecord& record : records) {
            effective.push_back(record.effective_ranks());
            family.push_back(static_cast<std::int64_t>(record.family));
            ranks.push_back(record.ranks);
            files.push_back(record.file);
            counters.insert(counters.end(), record.counters.begin(), record.counters.end());
        }
        nb::dict columns;
        columns["family"] = array_of(std::move(family));
        columns["ranks"] = array_of(std::move(ranks));
        columns["effective_ranks"] = array_of(std::move(effective));
        columns["file"] = nb::cast(files);
        columns["counters"] = array_of(std::move(counters), counters_of(module));
        const std::string_view name = module_name(module);
        out[nb::str(name.data(), name.size())] = columns;
    }
    return out;
}

/// Writes the calls of all ranks as text, as the record backend does.
void write_operations(const ResolvedPlan& resolved, const std::string& path) {
    const nb::gil_scoped_release unlocked;
    std::ofstream file(path, std::ios::binary | std::ios::app);
    fmt::memory_buffer lines;
    const auto flush = [&] {
        file.write(lines.data(), static_cast<std::streamsize>(lines.size()));
        lines.clear();
        if (!file) throw CallFailed("write of the operations", std::strerror(errno));
    };
    for (std::int64_t rank = 0; rank < resolved.plan.ranks; ++rank) {
        visit_calls(resolved, rank, [&](const RankCall& call) {
            append_line(lines, call);
            if (lines.size() > (std::size_t{1} << 20)) flush();
            return true;
        });
    }
    flush();
}

using VariableKinds = std::vector<std::tuple<std::int64_t, std::string, std::string>>;

template <typename E>
E word(const std::string& text) {
    const auto value = value_of<E>(text);
    if (!value) throw UsageError("unknown word " + printable(text));
    return *value;
}

Mesh mesh_form(const std::string& type, int dimensions, const VariableKinds& variables,
               const std::vector<std::int64_t>& part_dims, bool shared_nodes, bool wide_ids,
               std::int64_t materials, double mixed, std::int64_t ghost, bool geometry) {
    if (dimensions < 1 || dimensions > 3) throw UsageError("a mesh has 1 to 3 dimensions");
    Mesh out;
    out.type = word<MeshType>(type);
    out.dimensions = dimensions;
    for (const auto& [count, centring, kind] : variables)
        out.variables.push_back({count, word<Centring>(centring), word<ValueType>(kind)});
    out.part_dims = part_dims;
    out.shared_nodes = shared_nodes;
    out.wide_ids = wide_ids;
    out.materials = materials;
    out.mixed = mixed;
    out.ghost = ghost;
    out.geometry = geometry;
    return out;
}

/// Refuses meshes whose sizes have a product beyond 64 bits.
void check_size(const Mesh& mesh, std::int64_t parts, std::int64_t nodes) {
    if (parts < 1 || parts > limits::parts || nodes < 0)
        throw std::overflow_error("parts or nodes out of range");
    if (!countable(mesh, parts, nodes)) throw std::overflow_error("the mesh is too large to be counted");
}

std::int64_t checked_bytes(const Mesh& mesh, std::int64_t parts, std::int64_t nodes) {
    check_size(mesh, parts, nodes);
    return mesh_bytes(mesh, {nodes, parts});
}

std::int64_t checked_nodes(const Mesh& mesh, std::int64_t parts, std::int64_t size) {
    // Each node needs at least eight bytes.
    check_size(mesh, parts, size / 4);
    return nodes_for(mesh, parts, size);
}

nb::tuple part_of(const Mesh& mesh, std::int64_t nodes) {
    check_size(mesh, 1, nodes);
    const PartShape shape(mesh, nodes);
    return nb::make_tuple(shape.nodes(), shape.cells(),
                          nb::make_tuple(shape.dims()[0], shape.dims()[1], shape.dims()[2]));
}

nb::object parsed_name(const std::string& name) {
    const auto parsed = parse_name(name);
    if (!parsed || parsed->is_library_lock) return nb::none();
    return nb::make_tuple(parsed->role, parsed->number, parsed->file);
}

nb::list backends() {
    nb::list out;
    for (const Traits* t : all_backends()) {
        nb::dict traits;
        const auto text = [](std::string_view word) { return nb::str(word.data(), word.size()); };
        traits["name"] = text(t->name);
        traits["help"] = text(t->help);
        traits["library"] = text(t->library);
        traits["extension"] = text(t->extension);
        traits["level"] = t->level ? nb::object(text(word_of(*t->level))) : nb::none();
        traits["performs"] = t->performs;
        traits["collective_files"] = t->collective_files;
        traits["plain_bytes"] = t->plain_bytes;
        traits["writes_operations"] = t->writes_operations;
        traits["over_mpiio"] = t->over_mpiio;
        traits["only_meshes"] = t->only_meshes;
        traits["hdf5_settings"] = t->hdf5_settings;
        out.append(traits);
    }
    return out;
}

/// Raises a Python exception with the attributes `place`, `reason` and `hint`.
void raise_with_fields(PyObject* type, const Refusal& error) {
    try {
        nb::object raised = nb::handle(type)(error.what());
        raised.attr("place") = error.place;
        raised.attr("reason") = error.reason;
        raised.attr("hint") = error.hint;
        PyErr_SetObject(type, raised.ptr());
    } catch (nb::python_error& failed) {
        failed.restore();
    }
}

}  // namespace
}  // namespace wa

NB_MODULE(_core, m) {
    using namespace wa;
    m.doc() = "The engine's core: what a plan does, without performing it.";
    static PyObject* plan_error = PyErr_NewException("workalike._core.PlanError", PyExc_ValueError, nullptr);
    m.attr("PlanError") = nb::handle(plan_error);
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const Refusal& error) {
            raise_with_fields(plan_error, error);
        } catch (const CallFailed& error) {
            PyErr_SetString(PyExc_OSError, error.what());
        }
    });
    m.attr("version") = WORKALIKE_VERSION;
    std::vector<std::string> kind_names;
    for (std::size_t k = 0; k < kinds; ++k) kind_names.emplace_back(kind_name(static_cast<Kind>(k)));
    m.attr("kinds") = nb::cast(kind_names);
    m.def("parse_name", &parsed_name, "name"_a,
          "(role, number, file) of a data file's name, or None for a name that is not the engine's.");
    m.def("upgraded_plan", &upgraded_text, "text"_a, "A plan of an older version as one of today's.");
    m.def(
        "unwritten_dumps",
        [](const std::string& text, const std::map<std::string, nb::bytes>& given) {
            return unwritten_dumps(text, tables_of(given));
        },
        "text"_a, "tables"_a = std::map<std::string, nb::bytes>{},
        "The dumps of a plan that read what nobody has written or prepared: their positions, and whether all "
        "that "
        "they read lies within the file.");
    m.def("named_twice", &found_twice, "groups"_a, "ranks"_a,
          "(group, rank) of a rank below `ranks` that this group names, and one before it, too; or None.");
    m.def("backends", &backends, "The traits of all backends, in their order.");
    nb::class_<ResolvedPlan>(m, "Plan")
        .def(
            "__init__",
            [](ResolvedPlan* self, const std::string& text, const std::string& path,
               const std::optional<std::string>& backend, const std::map<std::string, nb::bytes>& given) {
                new (self) ResolvedPlan(std::move(*read(text, path, backend, tables_of(given))));
            },
            "text"_a, "path"_a = "", "backend"_a = nb::none(),
            "tables"_a = std::map<std::string, nb::bytes>{})
        .def_prop_ro("ranks", [](const ResolvedPlan& p) { return p.plan.ranks; })
        .def_prop_ro("levels", &levels, "The level at which each family is counted.")
        .def_prop_ro(
            "files", [](const ResolvedPlan& p) { return each_layout(p, &Layout::files_of_dump); },
            "How many files a dump of each family has.")
        .def_prop_ro(
            "members", [](const ResolvedPlan& p) { return each_layout(p, &Layout::size); },
            "How many ranks each family has.")
        .def_prop_ro("counted",
                     [](const ResolvedPlan& p) {
                         std::vector<std::string> out;
                         for (const Traits* traits : p.counted) out.emplace_back(traits->name);
                         return out;
                     })
        .def_prop_ro("id", [](const ResolvedPlan& p) { return p.plan.id; })
        .def(
            "files_in",
            [](const ResolvedPlan& p, const std::string& folder) { return files_of_plan(p.plan, folder); },
            "folder"_a, "Names in the folder that are this plan's data files.")
        .def(
            "remove_files",
            [](const ResolvedPlan& p, const std::string& folder) { remove_files_of_plan(p.plan, folder); },
            "folder"_a, "Removes this plan's data files and folders in the folder, as far as possible.")
        .def(
            "is_used",
            [](const ResolvedPlan& p, const std::string& folder) {
                return FolderLock::exists(p.plan, folder);
            },
            "folder"_a, "Whether a run of this plan uses the folder, or was killed in it.")
        .def("clean", &clean, "folder"_a, "Removes what a killed run of this plan has left in the folder.")
        .def("refuse", &refuse, "backend"_a = nb::none())
        .def("count", &count, "payloads"_a = std::vector<std::optional<std::int64_t>>{},
             "each_rank"_a = false, "most"_a = nb::none())
        .def("operations", &operations, "rank"_a, "most"_a)
        .def("timeline", &timeline, "rank"_a, "most"_a,
             "The calls of a rank in the order of its agenda, with their moments in the original run.")
        .def("names_lost", &names_lost,
             "For each dump, whether its file is renamed, and the number of the file that is deleted after "
             "it.")
        .def("times", &times_of_dumps, "When each dump begins and ends, in seconds of the original run.")
        .def("predict", &predicted, "alignments"_a, "most"_a, "apart"_a = std::vector<bool>{})
        .def("write_operations", &write_operations, "path"_a);
    nb::class_<Mesh>(m, "MeshForm")
        .def("__init__",
             [](Mesh* self, const std::string& type, int dimensions, const VariableKinds& variables,
                const std::vector<std::int64_t>& part_dims, bool shared_nodes, bool wide_ids,
                std::int64_t materials, double mixed, std::int64_t ghost, bool geometry) {
                 new (self) Mesh(mesh_form(type, dimensions, variables, part_dims, shared_nodes, wide_ids,
                                           materials, mixed, ghost, geometry));
             })
        .def("bytes", &checked_bytes, "parts"_a, "nodes"_a)
        .def("nodes_for", &checked_nodes, "parts"_a, "size"_a)
        .def("part", &part_of, "nodes"_a);
}
