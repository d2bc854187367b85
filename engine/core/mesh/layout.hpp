// What a file of mesh parts holds, table by table: the mesh itself, its material, its variables. In every
// table the parts lie one behind the other, in the order of their numbers.
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
    axes,  // of a rectilinear mesh: those of the whole file, one behind the other
    icoord,
    jcoord,
    kcoord,
    node_ids,
    cell_ids,
    shapes,           // one a part
    cells_per_shape,  // one a part
    connectivity,
    material,    // of each cell, then of each component of a mixed cell
    components,  // of each mixed cell
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

/// Some of the parts of a dump or a file.
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
    /// Elements of a part in a table, and of all parts before it.
    [[nodiscard]] std::int64_t elements(const MeshTable& table, std::int64_t part) const;
    [[nodiscard]] std::int64_t before(const MeshTable& table, std::int64_t part) const;
    [[nodiscard]] std::int64_t elements(const MeshTable& table) const { return before(table, parts_); }
    [[nodiscard]] std::int64_t bytes() const;
    /// Some of the parts as a mesh of their own, divided up as here.
    [[nodiscard]] MeshParts nominal(const PartRange& range) const;

    /// Nodes of all parts before one, and mixed cells of a part.
    [[nodiscard]] std::int64_t nodes_before(std::int64_t part) const;
    /// Number of a part's first node in the whole mesh, from 1 on: neighbours may share a layer of nodes.
    [[nodiscard]] std::int64_t first_node(std::int64_t part) const;
    [[nodiscard]] std::int64_t cells_before(std::int64_t part) const;
    [[nodiscard]] std::int64_t mixed_cells(std::int64_t part) const;
    /// How the parts of a structured mesh lie, and the nodes of the whole in each dimension.
    [[nodiscard]] const std::array<std::int64_t, 3>& arrangement() const { return arrangement_; }
    [[nodiscard]] std::array<std::int64_t, 3> global_dims() const;

  private:
    [[nodiscard]] std::size_t kind_of(std::int64_t part) const { return part < large_ ? 0 : 1; }
    [[nodiscard]] std::int64_t of_shape(const MeshTable& table, const PartShape& shape) const;
    [[nodiscard]] std::int64_t mixed_of(const PartShape& shape) const;

    const Mesh& mesh_;
    std::int64_t nodes_;
    std::int64_t parts_;
    std::int64_t large_;  // parts that have one node more than the others
    std::array<PartShape, 2> shapes_;
    std::array<std::int64_t, 3> arrangement_;
    std::vector<MeshTable> tables_;
};

[[nodiscard]] std::int64_t bytes_of(ValueType type);
/// Nodes of all parts with the ghost layers around them, at most.
[[nodiscard]] Wide nodes_of(const Mesh& mesh, std::int64_t parts, std::int64_t nodes);
/// Whether a mesh's tables can be counted: no product leaves 64 bits.
[[nodiscard]] bool countable(const Mesh& mesh, std::int64_t parts, std::int64_t nodes);
/// Nodes of a cell.
[[nodiscard]] std::int64_t corners(const Mesh& mesh);
[[nodiscard]] std::int64_t tables_of(const Mesh& mesh);
/// TyphonIO's code of a cell's shape: bar, quadrilateral, hexahedron, or so many corners
/// (docs/reference/typhonio-format.md#types).
[[nodiscard]] std::int32_t shape_code(const Mesh& mesh);

/// Bytes of a file of such parts, in closed form: variables of one kind are counted, not listed.
[[nodiscard]] std::int64_t mesh_bytes(const Mesh& mesh, const MeshParts& parts);

/// Nodes for which a file of `parts` parts comes as near to `bytes` as it can.
[[nodiscard]] std::int64_t nodes_for(const Mesh& mesh, std::int64_t parts, std::int64_t bytes);

/// The parts of `count` ranks from rank `first` on, of `all`.
[[nodiscard]] PartRange parts_of(const Mesh& mesh, std::int64_t all, std::int64_t first, std::int64_t count);
/// What a file with these parts holds, as the plan has it.
[[nodiscard]] MeshParts planned_parts(const Mesh& mesh, const PartRange& range);
/// Bytes of such a file: the plan's where it states them.
[[nodiscard]] std::int64_t planned_bytes(const Mesh& mesh, const PartRange& range);

}  // namespace wa
