#include "plan/read.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "backends/traits.hpp"
#include "errors.hpp"
#include "expand/permutation.hpp"
#include "plan/json.hpp"
#include "plan/limits.hpp"
#include "plan/upgrade.hpp"
#include "sharing/named_once.hpp"

namespace wa {
namespace {

constexpr std::int64_t large = limits::offset;

Ranks read_ranks(const Node& node, std::int64_t ranks) {
    Ranks out;
    if (node.is_text("all")) return out;
    out.all = false;
    std::vector<RankSpan> spans;
    const std::size_t count = node.size();
    if (count == 0) node.fail("must name at least one rank");
    spans.reserve(count);
    std::int64_t previous = -1;
    for (std::size_t i = 0; i < count; ++i) {
        const Node item = node[i];
        if (item.size() != 3) item.fail("must be [first, last, step]");
        RankSpan span;
        span.first = item[0].integer(0, ranks - 1);
        span.last = item[1].integer(span.first, ranks - 1);
        span.step = item[2].integer(1, limits::ranks);
        if (span.first <= previous)
            item.fail("ranks must be ascending and named once", "sort and merge the ranges");
        span.last = span.first + (span.last - span.first) / span.step * span.step;
        previous = span.last;
        spans.push_back(span);
    }
    out.set = RankSet(spans);
    return out;
}

Ranks ranks_or_all(const Node& node, std::string_view key, std::int64_t ranks) {
    const auto found = node.find(key);
    return found ? read_ranks(*found, ranks) : Ranks{};
}

Sharing read_sharing(const Node& node, std::int64_t ranks) {
    node.allow_only({"mode", "files", "turns", "ranks", "gather"});
    Sharing out;
    out.mode = node.at("mode").word<SharingMode>();
    out.files = node.integer("files", 1, limits::ranks, 1);
    if (const auto turns = node.find("turns")) {
        if (!turns->is_text("concurrent") && !turns->is_text("baton")) {
            turns->fail("unknown word " + turns->quoted(), "use one of concurrent, baton");
        }
        out.baton = turns->is_text("baton");
    }
    out.ranks = ranks_or_all(node, "ranks", ranks);
    out.gather = node.boolean("gather", false);
    return out;
}

/// Hints are given to the MPI library, so only plain words are accepted and no path.
std::string read_hint(const Node& node, const std::string& text, std::size_t longest) {
    const auto plain = [](unsigned char c) {
        return std::isalnum(c) != 0 || std::strchr("_-+.,:*=", c) != nullptr;
    };
    const bool fits = !text.empty() && text.size() <= longest && text.find('\0') == std::string::npos;
    if (!fits || !std::all_of(text.begin(), text.end(), plain)) {
        node.fail(fmt::format("the hint \"{}\" must be 1 to {} letters, digits or _-+.,:*=", printable(text),
                              longest));
    }
    return text;
}

std::vector<std::pair<std::string, std::string>> read_hints(const Node& family) {
    std::vector<std::pair<std::string, std::string>> out;
    const auto hints = family.find("hints");
    if (!hints) return out;
    if (!hints->raw().is_object()) hints->fail("must be an object, is " + hints->quoted());
    for (const auto& [key, value] : hints->raw().items()) {
        std::string name = read_hint(*hints, key, 60);
        const Node node = hints->at(key);
        out.emplace_back(std::move(name), read_hint(node, node.text(), 200));
    }
    return out;
}

Hdf5Settings read_hdf5(const Node& family) {
    Hdf5Settings out;
    const auto node = family.find("hdf5");
    if (!node) return out;
    node->allow_only({"layout", "chunk_bytes", "alignment", "threshold", "metadata_block", "sieve_buffer",
                      "collective_metadata", "individual_io", "file_space", "page_bytes", "libver", "deflate",
                      "shuffle", "subfiling"});
    if (const auto layout = node->find("layout")) {
        if (!layout->is_text("contiguous") && !layout->is_text("chunked")) {
            layout->fail("unknown word " + layout->quoted(), "use one of contiguous, chunked");
        }
        out.chunked = layout->is_text("chunked");
    }
    // HDF5 stores the bytes of a chunk in 32 bits.
    out.chunk_bytes = node->integer("chunk_bytes", 1, (std::int64_t{1} << 32) - 1, out.chunk_bytes);
    out.alignment = node->integer("alignment", 0, std::int64_t{1} << 40, 0);
    out.threshold = node->integer("threshold", 0, std::int64_t{1} << 40, 0);
    if (const auto block = node->find("metadata_block"))
        out.metadata_block = block->integer(0, limits::hdf5_block);
    if (const auto buffer = node->find("sieve_buffer"))
        out.sieve_buffer = buffer->integer(0, limits::hdf5_block);
    out.collective_metadata = node->boolean("collective_metadata", false);
    out.individual_io = node->boolean("individual_io", false);
    out.file_space = node->word("file_space", FileSpace::standard);
    // The bounds of the library (H5Pset_file_space_page_size).
    if (const auto page = node->find("page_bytes"))
        out.page_bytes = page->integer(512, std::int64_t{1} << 30);
    out.libver = node->word("libver", LibraryBounds::earliest);
    out.deflate = node->integer("deflate", 0, 9, 0);
    out.shuffle = node->boolean("shuffle", false);
    out.subfiling = node->boolean("subfiling", false);
    if (out.filters() && !out.chunked) node->fail("filters go with layout chunked only");
    if (out.page_bytes && out.file_space != FileSpace::page)
        node->fail("page_bytes goes with file_space page");
    return out;
}

/// Items of a list, and the ranks that each names.
struct NamedGroups {
    std::vector<std::size_t> items;
    std::vector<RankSet> ranks;
    void add(std::size_t item, RankSet named) {
        items.push_back(item);
        ranks.push_back(std::move(named));
    }
};

/// Raises PlanError where two of the items name the same rank.
void check_named_once(const Node& list, const NamedGroups& groups, std::int64_t ranks) {
    if (const auto twice = named_twice(groups.ranks, ranks))
        list[groups.items[twice->group]].at("ranks").fail(
            fmt::format("rank {} is in another group, too", twice->rank), "name it once");
}

std::vector<Skew> read_skew(const Node& node, std::int64_t ranks) {
    const std::size_t count = node.size();
    if (count > limits::skews) node.fail(fmt::format("more than {} groups", limits::skews), "merge them");
    std::vector<Skew> out;
    std::map<std::optional<std::int64_t>, NamedGroups> groups;  // by the dump
    for (std::size_t i = 0; i < count; ++i) {
        const Node item = node[i];
        item.allow_only({"ranks", "delay_s", "dump"});
        Skew late{read_ranks(item.at("ranks"), ranks), item.at("delay_s").number(0, limits::seconds), {}};
        if (const auto dump = item.find("dump")) late.dump = dump->integer(0, limits::number);
        groups[late.dump].add(i, late.ranks.all ? RankSet::all(ranks) : late.ranks.set);
        out.push_back(std::move(late));
    }
    for (const auto& [dump, of_dump] : groups) check_named_once(node, of_dump, ranks);
    return out;
}

Family read_family(const Node& node, std::int64_t ranks) {
    node.allow_only({"id",      "role",     "number",      "interface", "backend",     "level",
                     "sharing", "lifetime", "keep",        "rename",    "backup",      "truncate",
                     "reader",  "shift",    "sparse",      "removed",   "drop_caches", "hints",
                     "hdf5",    "typhonio", "aggregators", "skew"});
    Family out;
    out.id = node.at("id").integer(0, limits::number);
    out.role = node.at("role").word<Role>();
    out.number = node.at("number").integer(1, limits::number);
    out.interface = node.at("interface").word<Interface>();
    const Node backend = node.at("backend");
    out.backend = find_traits(backend.text());
    if (out.backend == nullptr)
        backend.fail("unknown word " + backend.quoted(), "use one of " + backend_names());
    out.level = node.at("level").word<Level>();
    out.sharing = read_sharing(node.at("sharing"), ranks);
    out.lifetime = node.at("lifetime").word<Lifetime>();
    out.keep = node.integer("keep", 0, limits::number, 0);
    out.rename = node.boolean("rename", false);
    out.backup = node.boolean("backup", false);
    out.truncate = node.boolean("truncate", false);
    out.sparse = node.boolean("sparse", false);
    out.removed = node.boolean("removed", false);
    if (const auto reader = node.find("reader")) {
        if (!reader->is_text("writer") && !reader->is_text("neighbour")) {
            reader->fail("unknown word " + reader->quoted(), "use one of writer, neighbour");
        }
        if (reader->is_text("neighbour")) out.shift = node.integer("shift", 1, limits::ranks, 1);
    }
    if (node.find("shift") && out.shift == 0) node.at("shift").fail("goes with reader neighbour");
    out.drop_caches = node.boolean("drop_caches", false);
    out.hints = read_hints(node);
    out.hdf5 = read_hdf5(node);
    out.aggregators = node.integer("aggregators", 0, limits::number, 0);
    if (const auto skew = node.find("skew")) {
        skew->allow_only({"reads", "writes"});
        if (const auto reads = skew->find("reads"))
            out.skew[static_cast<std::size_t>(Direction::read)] = read_skew(*reads, ranks);
        if (const auto writes = skew->find("writes"))
            out.skew[static_cast<std::size_t>(Direction::write)] = read_skew(*writes, ranks);
    }
    if (const auto pattern = node.find("typhonio")) {
        if (!pattern->is_text("faithful") && !pattern->is_text("optimised")) {
            pattern->fail("unknown word " + pattern->quoted(), "use one of faithful, optimised");
        }
        out.typhonio_optimised = pattern->is_text("optimised");
    }
    return out;
}

std::string read_table_name(const Node& node) {
    const std::string& name = node.text();
    const bool plain = !name.empty() && name.size() <= limits::name_length && name != "." && name != ".." &&
                       name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
    if (!plain) node.fail("must be the name of a file in the folder of the plan, is " + node.quoted());
    return name;
}

Stream read_stream(const Node& node, std::int64_t ranks) {
    node.allow_only({"ranks", "direction", "pattern", "collective", "base", "entries", "mixed", "stride",
                     "pieces", "table", "rows"});
    Stream out;
    out.ranks = ranks_or_all(node, "ranks", ranks);
    out.direction = node.at("direction").word<Direction>();
    out.pattern = node.at("pattern").word<Pattern>();
    out.collective = node.boolean("collective", false);
    out.base = node.integer("base", 0, large, 0);
    const Node entries = node.at("entries");
    out.entries.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Node item = entries[i];
        if (item.size() != 2) item.fail("must be [operations, size]");
        out.entries.push_back(
            {item[0].integer(0, limits::operations), item[1].integer(0, limits::operation_bytes)});
    }
    out.mixed = node.boolean("mixed", false);
    out.stride = node.integer("stride", 0, limits::operation_bytes, 0);
    out.pieces = node.integer("pieces", 1, limits::pieces, 1);
    if (const auto table = node.find("table")) out.table = read_table_name(*table);
    if (const auto rows = node.find("rows")) {
        if (rows->size() != 2) rows->fail("must be [first row, rows]");
        out.first_row = (*rows)[0].integer(0, limits::operations);
        out.row_count = (*rows)[1].integer(0, limits::operations);
    }
    return out;
}

std::vector<std::int64_t> read_extents(const Node& node, std::size_t rank) {
    std::vector<std::int64_t> out;
    if (rank != 0 && node.size() != rank)
        node.fail(fmt::format("must have {} numbers, one per dimension", rank));
    if (node.size() == 0 || node.size() > limits::dimensions) {
        node.fail(fmt::format("must have 1 to {} dimensions", limits::dimensions));
    }
    for (std::size_t i = 0; i < node.size(); ++i) out.push_back(node[i].integer(1, limits::operation_bytes));
    return out;
}

/// Refuses the value at `node` if the product of positive numbers exceeds `most`.
void bounded_product(const Node& node, std::int64_t first, const std::vector<std::int64_t>& factors,
                     std::int64_t most, std::string_view what) {
    std::int64_t product = first;
    for (const std::int64_t factor : factors) {
        if (__builtin_mul_overflow(product, factor, &product) || product > most) {
            node.fail(fmt::format("{} is larger than {} bytes", what, most));
        }
    }
}

Access read_access(const Node& node, std::int64_t ranks, const Array& array) {
    node.allow_only({"ranks", "direction", "collective", "nonblocking", "entries"});
    Access out;
    out.ranks = ranks_or_all(node, "ranks", ranks);
    out.direction = node.at("direction").word<Direction>();
    out.collective = node.boolean("collective", false);
    out.nonblocking = node.boolean("nonblocking", false);
    const Node entries = node.at("entries");
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Node item = entries[i];
        if (item.size() != 3) item.fail("must be [operations, [counts], [strides]]");
        Slab slab;
        slab.operations = item[0].integer(0, limits::operations);
        slab.count = read_extents(item[1], array.dims.size());
        slab.stride = read_extents(item[2], array.dims.size());
        for (std::size_t d = 0; d < array.dims.size(); ++d) {
            std::int64_t span = 0;
            if (__builtin_mul_overflow(slab.count[d] - 1, slab.stride[d], &span) ||
                span + 1 > array.dims[d]) {
                item.fail(fmt::format("the selection is larger than the dataset in dimension {}", d));
            }
        }
        out.slabs.push_back(std::move(slab));
    }
    return out;
}

/// A call on several datasets writes one slab of each.
void check_multi(const Node& node, const Access& access, std::int64_t datasets) {
    if (access.direction != Direction::write)
        node.at("direction").fail("a call on several datasets must write");
    for (const Slab& slab : access.slabs) {
        if (slab.operations % datasets != 0)
            node.at("entries").fail(fmt::format("operations must be multiples of the {} datasets", datasets));
    }
}

Array read_array(const Node& node, std::int64_t ranks) {
    node.allow_only(
        {"datasets", "element", "members", "dims", "chunk", "extendible", "fill_values", "multi", "access"});
    Array out;
    out.datasets = node.at("datasets").integer(1, limits::datasets);
    out.element = node.at("element").integer(1, limits::element_bytes);
    const Node dims = node.at("dims");
    out.dims = read_extents(dims, 0);
    bounded_product(dims, out.element, out.dims, limits::operation_bytes, "the dataset");
    if (const auto chunk = node.find("chunk")) {
        out.chunk = read_extents(*chunk, out.dims.size());
        bounded_product(*chunk, out.element, out.chunk, (std::int64_t{1} << 32) - 1, "a chunk");
    }
    out.extendible = node.boolean("extendible", false);
    out.fill_values = node.boolean("fill_values", false);
    out.members = node.integer("members", 1, limits::members, 1);
    if (out.element % out.members != 0)
        node.at("members").fail(
            fmt::format("{} bytes cannot be divided into this many equal members", out.element));
    out.multi = node.boolean("multi", false);
    const Node access = node.at("access");
    for (std::size_t i = 0; i < access.size(); ++i) {
        const Access parsed = read_access(access[i], ranks, out);
        if (out.multi) check_multi(access[i], parsed, out.datasets);
        out.access.push_back(parsed);
    }
    return out;
}

Fit read_fit(const Node& node) {
    node.allow_only({"bytes", "datasets", "element", "collective", "ops"});
    Fit out;
    out.bytes = node.at("bytes").integer(0, large);
    out.datasets = node.at("datasets").integer(1, limits::datasets);
    out.element = node.integer("element", 1, limits::element_bytes, 1);
    out.collective = node.boolean("collective", false);
    if (const auto ops = node.find("ops")) out.operations = ops->integer(out.datasets, limits::operations);
    return out;
}

VariableRun read_variables(const Node& node) {
    if (node.size() != 3) node.fail("must be [count, centring, type]");
    VariableRun out;
    out.count = node[0].integer(1, limits::datasets);
    out.centring = node[1].word<Centring>();
    out.type = node[2].word<ValueType>();
    return out;
}

Mesh read_mesh(const Node& node) {
    node.allow_only({"type", "dimensions", "parts", "nodes", "bytes", "part_dims", "variables",
                     "shared_nodes", "wide_ids", "materials", "mixed", "ghost", "globals", "geometry",
                     "direction", "collective"});
    Mesh out;
    out.type = node.at("type").word<MeshType>();
    out.dimensions = static_cast<int>(node.at("dimensions").integer(1, 3));
    out.parts = node.at("parts").integer(1, limits::parts);
    out.nodes = node.integer("nodes", 0, limits::operation_bytes, 0);
    if (const auto bytes = node.find("bytes")) out.bytes = bytes->integer(0, limits::operation_bytes);
    if (const auto dims = node.find("part_dims")) {
        out.part_dims = read_extents(*dims, static_cast<std::size_t>(out.dimensions));
        bounded_product(*dims, 8, out.part_dims, limits::operation_bytes, "a part");
        for (std::size_t d = 0; d < out.part_dims.size(); ++d)
            (void)(*dims)[d].integer(2, limits::operation_bytes);
    }
    const Node variables = node.at("variables");
    for (std::size_t i = 0; i < variables.size(); ++i) out.variables.push_back(read_variables(variables[i]));
    if (out.variables.empty()) variables.fail("must name at least one variable");
    if (out.variable_count() > limits::datasets)
        variables.fail(fmt::format("are more than {} variables", limits::datasets));
    out.shared_nodes = node.boolean("shared_nodes", false);
    out.wide_ids = node.boolean("wide_ids", false);
    out.materials = node.integer("materials", 0, limits::materials, 0);
    out.mixed = node.number("mixed", 0, 1, 0);
    out.ghost = node.integer("ghost", 0, limits::ghost_layers, 0);
    out.globals = node.integer("globals", 0, limits::datasets, 0);
    out.geometry = node.boolean("geometry", true);
    out.direction = node.at("direction").word<Direction>();
    out.collective = node.boolean("collective", false);
    return out;
}

AmidWrites read_amid_writes(const Node& content, std::string_view key) {
    AmidWrites out;
    const auto node = content.find(key);
    if (!node) return out;
    if (node->size() != 2) node->fail("must be [writes, calls]");
    out.writes = (*node)[0].integer(1, limits::operations);
    out.calls = (*node)[1].integer(1, limits::calls_of_write);
    return out;
}

Dataset read_dataset(const Node& node) {
    node.allow_only({"files", "samples", "bytes", "deviation", "header", "transfer", "file_order",
                     "sample_order", "deal", "readers", "batch", "prefetch", "opens", "stats", "seeks"});
    Dataset out;
    out.files = node.at("files").integer(1, limits::number);
    out.samples = node.integer("samples", 1, limits::number, 1);
    out.bytes = node.at("bytes").integer(0, limits::offset);
    out.deviation = node.integer("deviation", 0, limits::operation_bytes, 0);
    out.header = node.integer("header", 0, limits::operation_bytes, 0);
    out.transfer = node.integer("transfer", 0, limits::operation_bytes, 0);
    out.file_order = node.word("file_order", SampleOrder::sequential);
    out.sample_order = node.word("sample_order", SampleOrder::sequential);
    out.deal = node.integer("deal", 0, limits::operations, 0);
    out.readers = node.integer("readers", 0, limits::ranks, 0);
    out.batch = node.integer("batch", 1, limits::operations, 1);
    out.prefetch = node.integer("prefetch", 0, limits::operations, 0);
    out.opens = node.integer("opens", 1, limits::number, 1);
    out.stats = node.integer("stats", 0, limits::number, 0);
    out.seeks = node.integer("seeks", 0, limits::number, 0);
    const std::int64_t samples = out.files * out.samples;  // at most 1e18
    if (samples > limits::operations)
        node.at("files").fail("have too many samples", "lower files or samples");
    // A sample must be a single operation, whatever its deviation.
    if (out.bytes / samples > limits::operation_bytes / 2)
        node.at("bytes").fail("give samples that are too large", "lower them");
    return out;
}

Content read_content(const Node& node, std::int64_t ranks) {
    node.allow_only({"opens", "stats", "seeks", "fsyncs", "flushes", "seek_each", "sync", "flush", "streams",
                     "arrays", "fit", "mesh", "dataset"});
    Content out;
    out.opens = node.integer("opens", 0, limits::operations, 0);
    out.stats = node.integer("stats", 0, limits::operations, 0);
    out.seeks = node.integer("seeks", 0, limits::operations, 0);
    out.fsyncs = node.integer("fsyncs", 0, limits::operations, 0);
    out.flushes = node.integer("flushes", 0, limits::operations, 0);
    out.seek_each = node.boolean("seek_each", false);
    if (out.seek_each && out.seeks > 0) node.at("seeks").fail("leave it out where seek_each is true");
    out.sync = read_amid_writes(node, "sync");
    out.flush = read_amid_writes(node, "flush");
    if (const auto streams = node.find("streams")) {
        for (std::size_t i = 0; i < streams->size(); ++i)
            out.streams.push_back(read_stream((*streams)[i], ranks));
    }
    if (const auto arrays = node.find("arrays")) {
        for (std::size_t i = 0; i < arrays->size(); ++i)
            out.arrays.push_back(read_array((*arrays)[i], ranks));
    }
    if (const auto fit = node.find("fit")) {
        out.fit = read_fit(*fit);
        if (!out.streams.empty() || !out.arrays.empty())
            fit->fail("replaces streams and arrays", "leave them out");
    }
    if (const auto mesh = node.find("mesh")) {
        out.mesh = read_mesh(*mesh);
        if (!out.streams.empty() || !out.arrays.empty() || out.fit)
            mesh->fail("replaces streams, arrays and fit", "leave them out");
    }
    if (const auto dataset = node.find("dataset")) {
        out.dataset = read_dataset(*dataset);
        const bool other = !out.streams.empty() || !out.arrays.empty() || out.fit || out.mesh;
        if (other || out.opens + out.stats + out.seeks + out.fsyncs + out.flushes > 0)
            dataset->fail("has its own calls and replaces all other content", "leave that out");
    }
    return out;
}

/// [first, last, busy] in seconds after the dump's start.
std::optional<Window> read_window(const Node& dump, const char* key) {
    const std::optional<Node> node = dump.find(key);
    if (!node || node->raw().is_null()) return std::nullopt;
    if (node->size() != 3) node->fail("needs three numbers: first, last, busy");
    Window out;
    out.first = (*node)[0].number(0, limits::seconds);
    out.last = (*node)[1].number(out.first, limits::seconds);
    out.busy = std::min((*node)[2].number(0, limits::seconds), out.last - out.first);
    return out;
}

Dump read_dump(const Node& node, const std::unordered_map<std::int64_t, std::size_t>& families,
               std::size_t contents) {
    node.allow_only({"family", "index", "file", "content", "base", "start_s", "end_s", "compute_s", "writes",
                     "reads", "metadata_s", "barrier", "prepare"});
    Dump out;
    const Node family = node.at("family");
    const auto found = families.find(family.integer(0, limits::number));
    if (found == families.end()) family.fail("no family has this id");
    out.family = found->second;
    out.index = node.at("index").integer(0, limits::number);
    out.file = node.at("file").integer(0, limits::number);
    const Node content = node.at("content");
    if (contents == 0) content.fail("the plan has no contents");
    out.content = static_cast<std::size_t>(content.integer(0, static_cast<std::int64_t>(contents) - 1));
    out.base = node.integer("base", 0, large, 0);
    out.start_s = node.number("start_s", 0, limits::seconds, 0);
    out.end_s = node.number("end_s", 0, limits::seconds, 0);
    out.compute_s = node.number("compute_s", 0, limits::seconds, 0);
    out.writes = read_window(node, "writes");
    out.reads = read_window(node, "reads");
    out.metadata_s = node.number("metadata_s", 0, limits::seconds, 0);
    out.barrier = node.boolean("barrier", false);
    out.prepare = node.boolean("prepare", false);
    return out;
}

Compute read_compute(const Node& node) {
    node.allow_only({"level", "units"});
    Compute out;
    out.level = node.at("level").integer(1, limits::compute_levels);
    out.units = node.at("units").integer(1, limits::compute_units);
    return out;
}

std::vector<Processes> read_processes(const Node& node, std::int64_t ranks) {
    const std::size_t count = node.size();
    if (count > limits::processes)
        node.fail(fmt::format("more than {} groups", limits::processes), "merge them");
    std::vector<Processes> out;
    NamedGroups groups;
    for (std::size_t i = 0; i < count; ++i) {
        const Node item = node[i];
        item.allow_only({"ranks", "start_s", "end_s"});
        Processes group;
        group.ranks = read_ranks(item.at("ranks"), ranks).set;
        if (group.ranks.empty()) group.ranks = RankSet::all(ranks);
        group.life.start_s = item.number("start_s", 0, limits::seconds, 0);
        if (const auto end = item.find("end_s")) {
            group.life.end_s = end->number(0, limits::seconds);
            if (group.life.end_s < group.life.start_s)
                end->fail("is before start_s", "state an end after the start");
        }
        groups.add(i, group.ranks);
        out.push_back(std::move(group));
    }
    check_named_once(node, groups, ranks);
    return out;
}

/// An identifier of the content, independent of how the text is formatted.
std::string id_of(const nlohmann::json& document) {
    std::uint64_t hash = 0;
    for (const char c : document.dump()) hash = mix(hash, static_cast<unsigned char>(c));
    return fmt::format("{:08x}", hash & 0xFFFFFFFFU);
}

}  // namespace

std::string read_plan_text(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))  // opening a pipe would block
        throw UsageError(path + ": is not a regular file", "--plan must name one");
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file)
        throw UsageError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)), "check --plan");
    const auto size = static_cast<std::int64_t>(file.tellg());
    if (size < 0) throw UsageError(path + ": cannot be read", "--plan must name a regular file");
    if (size > limits::plan_bytes) {
        throw PlanError("", fmt::format("is larger than {} bytes", limits::plan_bytes),
                        "state rules instead of lists");
    }
    std::string text(static_cast<std::size_t>(size), '\0');
    file.seekg(0);
    if (!file.read(text.data(), size))
        throw UsageError(path + ": cannot be read", "--plan must name a regular file");
    return text;
}

Plan parse_plan(const std::string& text) {
    nlohmann::json document = parse_json(text);
    upgrade(document);
    const Node root(document);
    root.allow_only({"format", "version", "ranks", "seed", "clock", "time_scale", "gap_fill", "cpu_share",
                     "compute", "processes", "payload", "scale", "families", "contents", "dumps"});
    if (!root.at("format").is_text("workalike-plan")) root.at("format").fail("must be \"workalike-plan\"");
    if (const Node version = root.at("version"); version.integer(1, INT64_MAX) != plan_version) {
        version.fail(fmt::format("this engine reads versions up to {}", plan_version), "use a newer engine");
    }
    Plan plan;
    plan.id = id_of(document);
    plan.ranks = root.at("ranks").integer(1, limits::ranks);
    plan.seed = static_cast<std::uint64_t>(root.integer("seed", 0, INT64_MAX, 1));
    plan.clock = root.word("clock", ClockKind::gap);
    plan.time_scale = root.number("time_scale", 0, 1e6, 0);
    plan.gap_fill = root.word("gap_fill", GapFill::sleep);
    plan.cpu_share = root.number("cpu_share", 0, 1, 1);
    if (const auto compute = root.find("compute")) plan.compute = read_compute(*compute);
    if (const auto processes = root.find("processes"))
        plan.processes = read_processes(*processes, plan.ranks);
    if (const auto payload = root.find("payload")) {
        payload->allow_only({"compressibility"});
        plan.compressibility = payload->number("compressibility", 0, 1, 0);
    }
    if (const auto scale = root.find("scale")) {
        scale->allow_only({"ranks", "bytes", "time", "scaling"});
        plan.scale_weak = scale->find("scaling") && scale->at("scaling").is_text("weak");
        plan.scale_ranks = scale->number("ranks", 0, 1e15, 1);
        plan.scale_bytes = scale->number("bytes", 0, 1e15, 1);
        plan.scale_time = scale->number("time", 0, 1e15, 0);
    }
    const Node families = root.at("families");
    std::unordered_map<std::int64_t, std::size_t> position;
    for (std::size_t i = 0; i < families.size(); ++i) {
        const Node node = families[i];
        plan.families.push_back(read_family(node, plan.ranks));
        if (!position.emplace(plan.families.back().id, i).second)
            node.at("id").fail("another family has this id");
    }
    const Node contents = root.at("contents");
    for (std::size_t i = 0; i < contents.size(); ++i)
        plan.contents.push_back(read_content(contents[i], plan.ranks));
    const Node dumps = root.at("dumps");
    plan.dumps.reserve(dumps.size());
    for (std::size_t i = 0; i < dumps.size(); ++i) {
        plan.dumps.push_back(read_dump(dumps[i], position, plan.contents.size()));
    }
    return plan;
}

}  // namespace wa
