#include "plan/read_content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plan/limits.hpp"
#include "plan/read_ranks.hpp"

namespace wa {
namespace {

std::string read_table_name(const Node& node) {
    const std::string& name = node.text();
    const bool plain = !name.empty() && name.size() <= limits::name_length && name != "." && name != ".." &&
                       name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
    if (!plain) node.fail("must be the name of a file in the folder of the plan, is " + node.quoted());
    return name;
}

Stream read_stream(const Node& node, std::int64_t ranks) {
    node.allow_only({"ranks", "direction", "pattern", "collective", "nonblocking", "base", "entries", "mixed",
                     "stride", "pieces", "table", "rows", "buffered", "buffer_seeks", "buffer_flushes"});
    Stream out;
    out.ranks = ranks_or_all(node, "ranks", ranks);
    out.direction = node.at("direction").word<Direction>();
    out.pattern = node.at("pattern").word<Pattern>();
    out.collective = node.boolean("collective", false);
    out.nonblocking = node.boolean("nonblocking", false);
    out.base = node.integer("base", 0, limits::offset, 0);
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
    if (const auto buffered = node.find("buffered")) out.buffered = buffered->word<Buffered>();
    out.buffer_seeks = node.integer("buffer_seeks", 0, limits::operations, 0);
    out.buffer_flushes = node.integer("buffer_flushes", 0, limits::operations, 0);
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
    node.allow_only({"datasets", "element", "members", "dims", "chunk", "extendible", "unlimited",
                     "fill_values", "multi", "access"});
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
    const auto dimensions = static_cast<std::int64_t>(out.dims.size());
    out.unlimited = static_cast<std::size_t>(node.integer("unlimited", 0, dimensions - 1, 0));
    if (out.unlimited > 0 && !out.extendible)
        node.at("unlimited").fail("only an extendible dataset has an unlimited dimension");
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
    out.bytes = node.at("bytes").integer(0, limits::offset);
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

/// Ranks of all streams that are listed: a plan of many must not make reading it slow.
constexpr std::int64_t most_users = 1 << 20;

/// The ranks of all streams together; empty where one is for all members, or where they are too many to be
/// listed.
RankSet users_of(const std::vector<Stream>& streams) {
    std::int64_t listed = 0;
    for (const Stream& stream : streams) {
        if (stream.ranks.all || (listed += stream.ranks.set.size()) > most_users) return {};
    }
    std::vector<std::int64_t> ranks;
    for (const Stream& stream : streams) {
        for (std::int64_t i = 0; i < stream.ranks.set.size(); ++i) ranks.push_back(stream.ranks.set.at(i));
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    std::vector<RankSpan> spans;
    spans.reserve(ranks.size());
    for (const std::int64_t rank : ranks) spans.push_back({rank, rank, 1});
    return RankSet(spans);
}

}  // namespace

Content read_content(const Node& node, std::int64_t ranks) {
    node.allow_only({"opens", "stats", "seeks", "fsyncs", "flushes", "maps", "renames", "seek_each", "reopen",
                     "sync", "flush", "streams", "arrays", "fit", "mesh", "dataset"});
    Content out;
    out.opens = node.integer("opens", 0, limits::operations, 0);
    out.stats = node.integer("stats", 0, limits::operations, 0);
    out.seeks = node.integer("seeks", 0, limits::operations, 0);
    out.fsyncs = node.integer("fsyncs", 0, limits::operations, 0);
    out.flushes = node.integer("flushes", 0, limits::operations, 0);
    out.maps = node.integer("maps", 0, limits::operations, 0);
    out.renames = node.integer("renames", 0, limits::operations, 0);
    out.seek_each = node.boolean("seek_each", false);
    if (out.seek_each && out.seeks > 0) node.at("seeks").fail("leave it out where seek_each is true");
    out.reopen = node.boolean("reopen", false);
    if (out.reopen && !node.find("streams")) node.at("reopen").fail("goes with streams", "leave it out");
    out.sync = read_amid_writes(node, "sync");
    out.flush = read_amid_writes(node, "flush");
    if (const auto streams = node.find("streams")) {
        for (std::size_t i = 0; i < streams->size(); ++i)
            out.streams.push_back(read_stream((*streams)[i], ranks));
        out.users = users_of(out.streams);
        const bool buffered = std::any_of(out.streams.begin(), out.streams.end(), [](const Stream& stream) {
            return stream.buffered != Buffered::none;
        });
        if (out.reopen && buffered)
            node.at("reopen").fail("does not go with buffered streams", "leave it out");
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
        if (other ||
            out.opens + out.stats + out.seeks + out.fsyncs + out.flushes + out.maps + out.renames > 0)
            dataset->fail("has its own calls and replaces all other content", "leave that out");
    }
    return out;
}

}  // namespace wa
