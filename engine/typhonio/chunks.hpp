// How a mesh is divided into chunks, and where the block of a chunk is in each array. No file is touched.
// Source: docs/reference/typhonio-format.md#chunk-table and #quant.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "typhonio/types.hpp"

namespace wa::typhonio {

/// One part of a mesh; the type of the mesh decides which members are used.
struct ChunkInfo {
    // Quad: the first and last node of the global mesh, inclusive, in each dimension. Point: element 0 only.
    std::array<std::int64_t, 3> low{};
    std::array<std::int64_t, 3> high{};
    // Unstructured.
    std::int64_t nodes = 0;
    std::int64_t cells = 0;
    std::int64_t shapes = 0;
    std::int64_t connectivity = 0;
    // Unstructured; for a point mesh, only the nodes.
    std::int64_t ghost_nodes = 0;
    std::int64_t ghost_cells = 0;
    std::int64_t ghost_shapes = 0;
    std::int64_t ghost_connectivity = 0;
    // Quad and unstructured.
    std::int64_t mixed_cells = 0;
    std::int64_t mixed_components = 0;
};

/// A rule instead of a list, because the chunks of a large job would need too much memory. The rule must be
/// pure and equal on all ranks.
struct Chunks {
    std::int64_t count = 0;
    std::function<ChunkInfo(std::int64_t)> info;
};

/// Sizes are those of the whole mesh and are stored as given.
struct MeshDescription {
    MeshType type = MeshType::colinear;
    CoordType coordinates = CoordType::cartesian;
    bool amr = false;
    std::string group;
    std::uint64_t order = 1;
    Datatype graph_type = Datatype::none;
    Datatype coord_type = Datatype::double_;
    int dimensions = 2;
    /// Quad: nodes in i, j, k and ghost layers. Unstructured: nodes, cells, shapes, connectivity. Point:
    /// nodes.
    std::array<std::int64_t, 4> sizes{};
    std::array<std::string, 3> units;
    std::array<std::string, 3> labels;
};

/// Raises CallFailed for what the library refuses, and for impossible sizes.
void check_mesh(const MeshDescription& mesh);

/// What an array holds of each chunk.
struct Block {
    enum class Kind { centred, shapes, connectivity, mixed_cells, mixed_components };
    Kind kind = Kind::centred;
    Centring centring = Centring::node;
    std::uint64_t ghosts = 0;
    bool operator<(const Block& other) const {
        return std::tie(kind, centring, ghosts) < std::tie(other.kind, other.centring, other.ghosts);
    }
};

struct Span {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

/// The number of elements of `block` in a chunk. Raises CallFailed if they exceed 63 bits.
[[nodiscard]] std::int64_t length_of(const MeshDescription& mesh, const ChunkInfo& chunk, const Block& block);

/// The twelve words of a chunk in TIO_MESH_CHUNKINFO; words that the library leaves undefined are 0.
[[nodiscard]] std::array<std::uint64_t, 12> words_of(const MeshDescription& mesh, const ChunkInfo& chunk);

class Layout {
  public:
    Layout() = default;
    /// Raises CallFailed for a chunk outside the mesh, negative sizes, or sums beyond those of the mesh.
    Layout(MeshDescription mesh, Chunks chunks);

    [[nodiscard]] std::int64_t chunks() const { return chunks_.count; }
    [[nodiscard]] ChunkInfo info(std::int64_t chunk) const { return chunks_.info(chunk); }
    [[nodiscard]] std::int64_t total(const Block& block);
    /// Blocks are contiguous in the order of the chunks. Raises CallFailed for a chunk that does not exist.
    [[nodiscard]] Span span(const Block& block, std::int64_t chunk);
    /// The words of all chunks of the mesh, 96 bytes each.
    [[nodiscard]] std::vector<std::uint64_t> words() const;

  private:
    /// The position of a walk over the chunks is kept, because ranks ask for the same chunk repeatedly.
    struct Walk {
        std::int64_t total = 0;
        std::int64_t chunk = 0;
        std::int64_t first = 0;
    };
    Walk& walk_of(const Block& block);
    void check_quad(std::int64_t index, const ChunkInfo& chunk) const;
    void check_counted(std::int64_t index, const ChunkInfo& chunk) const;
    void check_sums();

    MeshDescription mesh_;
    Chunks chunks_;
    std::map<Block, Walk> walks_;
};

}  // namespace wa::typhonio
