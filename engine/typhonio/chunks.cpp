#include "typhonio/chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace wa::typhonio {
namespace {

constexpr const char* operation = "set chunks";

bool quad(MeshType type) {
    return type == MeshType::colinear || type == MeshType::noncolinear;
}

std::int64_t sum_of(std::int64_t a, std::int64_t b) {
    std::int64_t out = 0;
    if (__builtin_add_overflow(a, b, &out))
        refuse(operation, "the chunks hold more elements than 63 bits count");
    return out;
}

std::int64_t product_of(std::int64_t a, std::int64_t b) {
    std::int64_t out = 0;
    if (__builtin_mul_overflow(a, b, &out))
        refuse(operation, "the chunks hold more elements than 63 bits count");
    return out;
}

/// How many elements fewer than nodes a centring has in a dimension.
std::int64_t less_than_nodes(Centring centring, int dimension) {
    switch (centring) {
        case Centring::cell:
            return 1;
        case Centring::node:
            return 0;
        case Centring::edge_i:
        case Centring::edge_j:
        case Centring::edge_k:
            return static_cast<int>(centring) - static_cast<int>(Centring::edge_i) == dimension ? 1 : 0;
        case Centring::face_i:
        case Centring::face_j:
        case Centring::face_k:
            return static_cast<int>(centring) - static_cast<int>(Centring::face_i) == dimension ? 0 : 1;
    }
    return 0;
}

std::int64_t nodes_along(const ChunkInfo& chunk, std::size_t d) {
    return chunk.high[d] - chunk.low[d] + 1;
}

std::int64_t centred(const MeshDescription& mesh, const ChunkInfo& chunk, const Block& block) {
    const bool ghosts = block.ghosts != no_ghosts;
    if (mesh.type == MeshType::point) return sum_of(nodes_along(chunk, 0), ghosts ? chunk.ghost_nodes : 0);
    if (mesh.type == MeshType::unstructured) {
        return block.centring == Centring::cell ? sum_of(chunk.cells, ghosts ? chunk.ghost_cells : 0)
                                                : sum_of(chunk.nodes, ghosts ? chunk.ghost_nodes : 0);
    }
    std::int64_t out = 1;
    for (int d = 0; d < mesh.dimensions; ++d) {
        const std::int64_t layers = product_of(2, static_cast<std::int64_t>(block.ghosts));
        const std::int64_t along = nodes_along(chunk, static_cast<std::size_t>(d));
        out = product_of(out, sum_of(along, layers) - less_than_nodes(block.centring, d));
    }
    return out;
}

}  // namespace

void check_mesh(const MeshDescription& mesh) {
    constexpr const char* create = "create mesh";
    check_text(create, "mesh's group", mesh.group);
    for (const auto& texts : {mesh.units, mesh.labels}) {
        for (const std::string& text : texts) check_text(create, "unit or label of the mesh", text);
    }
    if (mesh.dimensions < 1 || mesh.dimensions > 3)
        refuse(create, fmt::format("{} dimensions; a mesh has 1 to 3", mesh.dimensions));
    if (mesh.coordinates == CoordType::axisymmetric && mesh.dimensions != 2)
        refuse(create, "axisymmetric coordinates are two-dimensional");
    if (mesh.coord_type == Datatype::none || class_of(mesh.coord_type) == TypeClass::text)
        refuse(create, "coordinates must be numbers");
    const bool graph = mesh.graph_type != Datatype::none;
    const bool integers = graph && (class_of(mesh.graph_type) == TypeClass::signed_integer ||
                                    class_of(mesh.graph_type) == TypeClass::unsigned_integer);
    if (mesh.type == MeshType::unstructured ? !integers : graph && !integers)
        refuse(create, "the graph of a mesh must be of integers");
    if (std::any_of(mesh.sizes.begin(), mesh.sizes.end(), [](std::int64_t n) { return n < 0; }))
        refuse(create, "a size of the mesh is negative");
    const int needed = quad(mesh.type) ? mesh.dimensions : 1;
    for (int d = 0; d < needed; ++d) {
        if (mesh.sizes[static_cast<std::size_t>(d)] < 1) refuse(create, "the mesh has no nodes");
    }
    if (mesh.type == MeshType::unstructured && mesh.sizes[2] < 1) refuse(create, "the mesh has no shapes");
}

std::int64_t length_of(const MeshDescription& mesh, const ChunkInfo& chunk, const Block& block) {
    const bool ghosts = block.ghosts != no_ghosts;
    switch (block.kind) {
        case Block::Kind::centred:
            return centred(mesh, chunk, block);
        case Block::Kind::shapes:
            return sum_of(chunk.shapes, ghosts ? chunk.ghost_shapes : 0);
        case Block::Kind::connectivity:
            return sum_of(chunk.connectivity, ghosts ? chunk.ghost_connectivity : 0);
        case Block::Kind::mixed_cells:
            return chunk.mixed_cells;
        case Block::Kind::mixed_components:
            return chunk.mixed_components;
    }
    return 0;
}

std::array<std::uint64_t, 12> words_of(const MeshDescription& mesh, const ChunkInfo& c) {
    std::array<std::int64_t, 12> words{};
    if (mesh.type == MeshType::point) {
        words = {nodes_along(c, 0), c.low[0], c.high[0], c.ghost_nodes};
    } else if (mesh.type == MeshType::unstructured) {
        words = {c.nodes,       c.cells,           c.shapes,       c.connectivity,
                 c.ghost_nodes, c.ghost_cells,     c.ghost_shapes, c.ghost_connectivity,
                 c.mixed_cells, c.mixed_components};
    } else {
        for (std::size_t d = 0; d < static_cast<std::size_t>(mesh.dimensions); ++d) {
            words[d] = nodes_along(c, d);
            words[3 + 2 * d] = c.low[d];
            words[4 + 2 * d] = c.high[d];
        }
        words[10] = c.mixed_cells;
        words[11] = c.mixed_components;
    }
    std::array<std::uint64_t, 12> out{};
    std::transform(words.begin(), words.end(), out.begin(),
                   [](std::int64_t w) { return static_cast<std::uint64_t>(w); });
    return out;
}

Layout::Layout(MeshDescription mesh, Chunks chunks) : mesh_(std::move(mesh)), chunks_(std::move(chunks)) {
    if (chunks_.count < 1 || !chunks_.info) refuse(operation, "a mesh has at least one chunk");
    for (std::int64_t i = 0; i < chunks_.count; ++i) {
        const ChunkInfo chunk = chunks_.info(i);
        quad(mesh_.type) ? check_quad(i, chunk) : check_counted(i, chunk);
        if (chunk.mixed_cells < 0 || chunk.mixed_components < 0)
            refuse(operation, fmt::format("chunk {} has a negative size", i));
    }
    check_sums();
}

void Layout::check_quad(std::int64_t index, const ChunkInfo& chunk) const {
    for (std::size_t d = 0; d < static_cast<std::size_t>(mesh_.dimensions); ++d) {
        if (chunk.low[d] < 0 || chunk.high[d] < chunk.low[d] || chunk.high[d] >= mesh_.sizes[d]) {
            refuse(operation, fmt::format("chunk {} spans nodes {} to {} of dimension {}, the mesh has {}",
                                          index, chunk.low[d], chunk.high[d], d, mesh_.sizes[d]));
        }
    }
}

void Layout::check_counted(std::int64_t index, const ChunkInfo& chunk) const {
    const auto own = {chunk.nodes,       chunk.cells,       chunk.shapes,       chunk.connectivity,
                      chunk.ghost_nodes, chunk.ghost_cells, chunk.ghost_shapes, chunk.ghost_connectivity};
    const bool point = mesh_.type == MeshType::point;
    if (std::any_of(own.begin(), own.end(), [](std::int64_t n) { return n < 0; }) ||
        (point && (chunk.low[0] < 0 || chunk.high[0] < chunk.low[0] - 1)))
        refuse(operation, fmt::format("chunk {} has a negative size", index));
    if (point && chunk.high[0] >= mesh_.sizes[0])
        refuse(operation, fmt::format("chunk {} ends at node {}, the mesh has {}", index, chunk.high[0],
                                      mesh_.sizes[0]));
    // The library's reader ends the process at such a chunk.
    if (!point && index > 0 && sum_of(chunk.nodes, chunk.ghost_nodes) == 0)
        refuse(operation, fmt::format("chunk {} has no nodes, which only chunk 0 may", index));
}

void Layout::check_sums() {
    if (mesh_.type != MeshType::unstructured) return;
    const std::array<std::pair<const char*, Block>, 3> sums{
        {{"cells", {Block::Kind::centred, Centring::cell, no_ghosts}},
         {"shapes", {Block::Kind::shapes, Centring::cell, no_ghosts}},
         {"entries of connectivity", {Block::Kind::connectivity, Centring::cell, no_ghosts}}}};
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::int64_t held = total(sums[i].second);
        if (held > mesh_.sizes[i + 1]) {
            refuse(operation, fmt::format("the chunks hold {} {}, the mesh {}; whole reads would fail", held,
                                          sums[i].first, mesh_.sizes[i + 1]));
        }
    }
}

Layout::Walk& Layout::walk_of(const Block& block) {
    const auto [at, made] = walks_.try_emplace(block);
    if (made) {
        for (std::int64_t i = 0; i < chunks_.count; ++i)
            at->second.total = sum_of(at->second.total, length_of(mesh_, chunks_.info(i), block));
    }
    return at->second;
}

std::int64_t Layout::total(const Block& block) {
    return walk_of(block).total;
}

Span Layout::span(const Block& block, std::int64_t chunk) {
    if (chunk < 0 || chunk >= chunks_.count)
        refuse("chunk", fmt::format("chunk {} of {}: count from 0", chunk, chunks_.count));
    Walk& walk = walk_of(block);
    if (chunk < walk.chunk) walk.chunk = walk.first = 0;
    for (; walk.chunk < chunk; ++walk.chunk) walk.first += length_of(mesh_, chunks_.info(walk.chunk), block);
    return {walk.first, length_of(mesh_, chunks_.info(chunk), block)};
}

std::vector<std::uint64_t> Layout::words() const {
    std::vector<std::uint64_t> out;
    out.reserve(static_cast<std::size_t>(chunks_.count) * 12);
    for (std::int64_t i = 0; i < chunks_.count; ++i) {
        const auto words = words_of(mesh_, chunks_.info(i));
        out.insert(out.end(), words.begin(), words.end());
    }
    return out;
}

}  // namespace wa::typhonio
