// The shape of one part of a mesh: how many nodes, cells, edges and faces follow from its nodes. Dimensions
// are near square or cubic for every size; an unstructured part may end in a partial row.
#pragma once

#include <array>
#include <cstdint>

#include "plan/plan.hpp"

namespace wa {

class PartShape {
  public:
    /// A part of about `nodes` nodes: as many where its last row may be partial, else of whole rows.
    PartShape(const Mesh& mesh, std::int64_t nodes);

    [[nodiscard]] std::int64_t nodes() const { return nodes_; }
    [[nodiscard]] std::int64_t cells() const;
    /// Values of a variable: those of nodes, of cells, of edges along the first dimension, or of faces across
    /// it.
    [[nodiscard]] std::int64_t count(Centring centring) const;
    /// Nodes of each dimension; the last one rounded up where its row (or plane) is partial, unused ones 1.
    [[nodiscard]] const std::array<std::int64_t, 3>& dims() const { return dims_; }
    /// Nodes of a row, and of a plane of rows (what is shared with a neighbour in the last dimension).
    [[nodiscard]] std::int64_t row() const { return dims_[0]; }
    [[nodiscard]] std::int64_t layer() const;
    /// Node and cell counts with `ghost` layers around the part.
    [[nodiscard]] std::int64_t nodes_with(std::int64_t ghost) const;
    [[nodiscard]] std::int64_t cells_with(std::int64_t ghost) const;
    /// The same shape, as a box, with ghost layers in it (structured meshes keep theirs in place).
    [[nodiscard]] PartShape grown(std::int64_t ghost) const;

    /// Least nodes of a part that has a cell.
    [[nodiscard]] static std::int64_t least(int dimensions) { return std::int64_t{1} << dimensions; }

  private:
    PartShape() = default;
    int dimensions_ = 1;
    std::int64_t nodes_ = 1;
    std::array<std::int64_t, 3> dims_{1, 1, 1};
};

/// Whether a mesh's parts are boxes of nodes.
[[nodiscard]] constexpr bool structured(MeshType type) {
    return type == MeshType::uniform || type == MeshType::rectilinear || type == MeshType::curvilinear;
}

/// `parts` laid out in `dimensions`, as near to a square or cube as their divisors allow.
[[nodiscard]] std::array<std::int64_t, 3> arrange_parts(std::int64_t parts, int dimensions);

}  // namespace wa
