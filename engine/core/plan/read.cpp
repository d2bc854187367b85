#include "plan/read.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "backends/traits.hpp"
#include "errors.hpp"
#include "expand/permutation.hpp"
#include "folder/directories.hpp"
#include "plan/json.hpp"
#include "plan/limits.hpp"
#include "plan/read_content.hpp"
#include "plan/read_ranks.hpp"
#include "plan/upgrade.hpp"

namespace wa {
namespace {

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

/// A name becomes part of no path: the user says which directory it stands for.
std::string read_directory(const Node& family) {
    const auto node = family.find("directory");
    if (!node) return "";
    if (!is_directory_name(node->text()))
        node->fail("must be a letter, then at most 31 letters, digits and -, is " + node->quoted());
    return node->text();
}

Folders read_folders(const Node& family, const Sharing& sharing) {
    Folders out;
    const auto node = family.find("folders");
    if (!node) return out;
    node->allow_only({"files", "per_rank"});
    out.files = node->integer("files", 1, limits::number, 0);
    out.per_rank = node->boolean("per_rank", false);
    if (!out.used()) node->fail("needs files or per_rank");
    if (out.per_rank && sharing.mode != SharingMode::per_rank)
        node->at("per_rank").fail("goes with files of each rank: sharing per-rank");
    return out;
}

Hdf5Settings read_hdf5(const Node& family) {
    Hdf5Settings out;
    const auto node = family.find("hdf5");
    if (!node) return out;
    node->allow_only({"layout", "chunk_bytes", "alignment", "threshold", "metadata_block", "sieve_buffer",
                      "collective_metadata", "individual_io", "file_space", "page_bytes", "libver", "deflate",
                      "shuffle", "subfiling", "driver"});
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
    out.driver = node->word("driver", FileDriver::mpi);
    if (out.driver == FileDriver::serial && (out.subfiling || out.collective_metadata || out.individual_io))
        node->fail("subfiling, collective_metadata and individual_io go with driver mpi only");
    if (out.filters() && !out.chunked) node->fail("filters go with layout chunked only");
    if (out.page_bytes && out.file_space != FileSpace::page)
        node->fail("page_bytes goes with file_space page");
    return out;
}

Family read_family(const Node& node, std::int64_t ranks) {
    node.allow_only({"id",      "role",     "number",      "interface", "backend",          "level",
                     "sharing", "lifetime", "keep",        "rename",    "backup",           "truncate",
                     "reader",  "shift",    "sparse",      "removed",   "drop_caches",      "hints",
                     "hdf5",    "typhonio", "aggregators", "skew",      "buffer_alignment", "directory",
                     "direct",  "folders"});
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
    out.directory = read_directory(node);
    out.folders = read_folders(node, out.sharing);
    out.direct = node.boolean("direct", false);
    if (out.direct && out.interface != Interface::posix)
        node.at("direct").fail("opens files with O_DIRECT, which goes with interface posix");
    out.hints = read_hints(node);
    out.hdf5 = read_hdf5(node);
    out.aggregators = node.integer("aggregators", 0, limits::number, 0);
    out.buffer_alignment = node.integer("buffer_alignment", 0, limits::buffer_alignment, 0);
    if ((out.buffer_alignment & (out.buffer_alignment - 1)) != 0)
        node.at("buffer_alignment").fail("must be a power of two");
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
    out.base = node.integer("base", 0, limits::offset, 0);
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
