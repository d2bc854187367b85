// The content of a file of mesh parts, table by table: the mesh itself, its material, its variables. Every
// table holds the parts in the order of their numbers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "expand/stream.hpp"
#include "mesh/shape.hpp"
#include "plan/plan.hpp"

namespace wa {

enum class TableKind {
    axes,  // of a rectilinear mesh: the axes of the whole file, one after the other
    icoord,
    jcoord,
    kcoord,
    node_ids,
    cell_ids,
    shapes,           // one per part
    cells_per_shape,  // one per part
    connectivity,
    material,    // of each cell, then of each component of a mixed cell
    components,  // the components of each mixed cell
    first_component,
    volume_fraction,
    variable,
};

struct MeshTable {
    TableKind kind = TableKind::variable;
    std::int64_t variable = 0;
    ValueType type = ValueType::float64;
    Centring centring = Centring::node;
};

/// The parts of one file.
struct MeshParts {
    std::int64_t nodes = 0;  // of all parts together
    std::int64_t parts = 1;
    friend bool operator==(const MeshParts&, const MeshParts&) = default;
};

/// A range of the parts of a dump or a file.
struct PartRange {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

class MeshLayout {
  public:
    MeshLayout(const Mesh& mesh, const MeshParts& parts);

    [[nodiscard]] const Mesh& mesh() const { return mesh_; }
    [[nodiscard]] std::int64_t parts() const { return parts_; }
    [[nodiscard]] const std::vector<MeshTable>& tables() const { return tables_; }
    [[nodiscard]] const PartShape& shape(std::int64_t part) const { return shapes_[kind_of(part)]; }
    /// The number of elements of a part in a table, and of all parts before it.
    [[nodiscard]] std::int64_t elements(const MeshTable& table, std::int64_t part) const;
    [[nodiscard]] std::int64_t before(const MeshTable& table, std::int64_t part) const;
    [[nodiscard]] std::int64_t elements(const MeshTable& table) const { return before(table, parts_); }
    [[nodiscard]] std::int64_t bytes() const;
    /// A range of parts as a mesh of its own, divided in the same way.
    [[nodiscard]] MeshParts nominal(const PartRange& range) const;

    /// The nodes of all parts before a part, and the mixed cells of a part.
    [[nodiscard]] std::int64_t nodes_before(std::int64_t part) const;
    /// The number of a part's first node in the whole mesh, counted from 1. Neighbouring parts may share a
    /// layer of nodes.
    [[nodiscard]] std::int64_t first_node(std::int64_t part) const;
    [[nodiscard]] std::int64_t cells_before(std::int64_t part) const;
    [[nodiscard]] std::int64_t mixed_cells(std::int64_t part) const;
    /// How the parts of a structured mesh are arranged, and the number of nodes of the whole mesh in each
    /// dimension.
    [[nodiscard]] const std::array<std::int64_t, 3>& arrangement() const { return arrangement_; }
    [[nodiscard]] std::array<std::int64_t, 3> global_dims() const;

  private:
    [[nodiscard]] std::size_t kind_of(std::int64_t part) const { return part < large_ ? 0 : 1; }
    [[nodiscard]] std::int64_t elements_of_shape(const MeshTable& table, const PartShape& shape) const;
    [[nodiscard]] std::int64_t mixed_of(const PartShape& shape) const;

    const Mesh& mesh_;
    std::int64_t nodes_;
    std::int64_t parts_;
    std::int64_t large_;  // how many parts have one more node than the others
    std::array<PartShape, 2> shapes_;
    std::array<std::int64_t, 3> arrangement_;
    std::vector<MeshTable> tables_;
};

[[nodiscard]] std::int64_t bytes_of(ValueType type);
/// An upper bound for the nodes of all parts, including ghost layers.
[[nodiscard]] Wide nodes_of(const Mesh& mesh, std::int64_t parts, std::int64_t nodes);
/// Whether the tables of a mesh can be counted: every product fits into 64 bits.
[[nodiscard]] bool countable(const Mesh& mesh, std::int64_t parts, std::int64_t nodes);
/// The number of nodes of a cell.
[[nodiscard]] std::int64_t corners(const Mesh& mesh);
[[nodiscard]] std::int64_t tables_of(const Mesh& mesh);
/// TyphonIO's code for the shape of a cell: bar, quadrilateral, hexahedron, or the number of corners
/// (docs/reference/typhonio-format.md#types).
[[nodiscard]] std::int32_t shape_code(const Mesh& mesh);

/// The bytes of a file with such parts, in closed form: variables of a kind are counted, not listed.
[[nodiscard]] std::int64_t mesh_bytes(const Mesh& mesh, const MeshParts& parts);

/// The number of nodes that brings a file of `parts` parts closest to `bytes`.
[[nodiscard]] std::int64_t nodes_for(const Mesh& mesh, std::int64_t parts, std::int64_t bytes);

/// The parts of `count` ranks, from rank `first` on, of `all` ranks.
[[nodiscard]] PartRange parts_of(const Mesh& mesh, std::int64_t all, std::int64_t first, std::int64_t count);
/// The content of a file with these parts, as planned.
[[nodiscard]] MeshParts planned_parts(const Mesh& mesh, const PartRange& range);
/// The bytes of such a file; where the plan states bytes, those.
[[nodiscard]] std::int64_t planned_bytes(const Mesh& mesh, const PartRange& range);

}  // namespace wa
