// The shape of one part of a mesh: the numbers of cells, edges and faces follow from the number of nodes.
// Dimensions are near square or cubic for every size. An unstructured part may end in a partial row.
#pragma once

#include <array>
#include <cstdint>

#include "plan/plan.hpp"

namespace wa {

class PartShape {
  public:
    /// A part of about `nodes` nodes: exactly so many if its last row may be partial, otherwise whole rows.
    PartShape(const Mesh& mesh, std::int64_t nodes);

    [[nodiscard]] std::int64_t nodes() const { return nodes_; }
    [[nodiscard]] std::int64_t cells() const;
    /// The number of values of a variable: on nodes, on cells, on edges along the first dimension, or on
    /// faces across it.
    [[nodiscard]] std::int64_t count(Centring centring) const;
    /// The number of nodes in each dimension. The last one is rounded up if its row or plane is partial;
    /// unused ones are 1.
    [[nodiscard]] const std::array<std::int64_t, 3>& dims() const { return dims_; }
    /// The nodes of a row, and of the layer that is shared with a neighbour in the last dimension.
    [[nodiscard]] std::int64_t row() const { return dims_[0]; }
    [[nodiscard]] std::int64_t layer() const;
    /// The numbers of nodes and cells with `ghost` layers around the part.
    [[nodiscard]] std::int64_t nodes_with(std::int64_t ghost) const;
    [[nodiscard]] std::int64_t cells_with(std::int64_t ghost) const;
    /// The same shape as a box that includes its ghost layers. Structured meshes keep ghosts in place.
    [[nodiscard]] PartShape grown(std::int64_t ghost) const;

    /// The smallest number of nodes of a part that has a cell.
    [[nodiscard]] static std::int64_t least_nodes(int dimensions) { return std::int64_t{1} << dimensions; }

  private:
    PartShape() = default;
    int dimensions_ = 1;
    std::int64_t nodes_ = 1;
    std::array<std::int64_t, 3> dims_{1, 1, 1};
};

/// Whether the parts of a mesh are boxes of nodes.
[[nodiscard]] constexpr bool structured(MeshType type) {
    return type == MeshType::uniform || type == MeshType::rectilinear || type == MeshType::curvilinear;
}

/// Arranges `parts` in `dimensions`, as close to a square or cube as their divisors allow.
[[nodiscard]] std::array<std::int64_t, 3> arrange_parts(std::int64_t parts, int dimensions);

}  // namespace wa
