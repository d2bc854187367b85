#include "mesh/layout.hpp"

#include <algorithm>
#include <cmath>

#include "expand/split.hpp"
#include "expand/stream.hpp"
#include "plan/limits.hpp"

namespace wa {
namespace {

/// The share of `total` that parts [first, first + count) of `all` have, rounded so that all shares add up.
std::int64_t proportion(std::int64_t total, std::int64_t first, std::int64_t count, std::int64_t all) {
    const auto until = [&](std::int64_t part) {
        return static_cast<std::int64_t>(Wide{total} * part / std::max<std::int64_t>(1, all));
    };
    return until(first + count) - until(first);
}

std::vector<MeshTable> make_tables(const Mesh& mesh) {
    std::vector<MeshTable> out;
    const auto add = [&out](TableKind kind, ValueType type) {
        out.push_back({kind, 0, type, Centring::node});
    };
    if (mesh.geometry) {
        if (mesh.type == MeshType::uniform || mesh.type == MeshType::rectilinear) {
            add(TableKind::axes, ValueType::float64);
        } else {
            constexpr std::array coordinates{TableKind::icoord, TableKind::jcoord, TableKind::kcoord};
            for (int d = 0; d < mesh.dimensions; ++d)
                add(coordinates.at(static_cast<std::size_t>(d)), ValueType::float64);
        }
        if (mesh.type == MeshType::unstructured || mesh.type == MeshType::arbitrary) {
            const ValueType ids = mesh.wide_ids ? ValueType::int64 : ValueType::int32;
            add(TableKind::node_ids, ids);
            add(TableKind::cell_ids, ids);
            add(TableKind::shapes, ValueType::int32);
            add(TableKind::cells_per_shape, ids);
            add(TableKind::connectivity, ids);
        }
    }
    if (mesh.materials > 0) {
        add(TableKind::material, ValueType::int32);
        if (mesh.mixed > 0) {
            add(TableKind::components, ValueType::int32);
            add(TableKind::first_component, ValueType::int32);
            add(TableKind::volume_fraction, ValueType::float64);
        }
    }
    std::int64_t variable = 0;
    for (const VariableRun& run : mesh.variables) {
        const Centring centring = mesh.type == MeshType::point ? Centring::node : run.centring;
        for (std::int64_t i = 0; i < run.count; ++i) {
            out.push_back({TableKind::variable, variable++, run.type, centring});
        }
    }
    return out;
}

}  // namespace

std::int64_t bytes_of(ValueType type) {
    return type == ValueType::float32 || type == ValueType::int32 ? 4 : 8;
}

std::int64_t corners(const Mesh& mesh) {
    return std::int64_t{1} << mesh.dimensions;
}

std::int32_t shape_code(const Mesh& mesh) {
    if (mesh.type == MeshType::arbitrary) return static_cast<std::int32_t>(corners(mesh));
    constexpr std::array<std::int32_t, 3> codes{-11, -13, -16};
    return codes.at(static_cast<std::size_t>(mesh.dimensions - 1));
}

std::int64_t tables_of(const Mesh& mesh) {
    Mesh fixed = mesh;
    fixed.variables.clear();  // there may be a million variables
    auto count = static_cast<std::int64_t>(make_tables(fixed).size());
    for (const VariableRun& run : mesh.variables) count += run.count;
    return count;
}

MeshLayout::MeshLayout(const Mesh& mesh, const MeshParts& parts)
    : mesh_(mesh),
      nodes_(parts.nodes),
      parts_(std::max<std::int64_t>(1, parts.parts)),
      large_(parts.nodes % parts_),
      shapes_{PartShape(mesh, parts.nodes / parts_ + 1), PartShape(mesh, parts.nodes / parts_)},
      arrangement_(arrange_parts(parts_, mesh.dimensions)),
      tables_(make_tables(mesh)) {
    // Parts of whole rows all have the same size, because the boxes of a mesh must fit together.
    if (structured(mesh.type) || mesh.shared_nodes || !mesh.part_dims.empty()) large_ = 0;
}

std::int64_t MeshLayout::mixed_of(const PartShape& shape) const {
    if (mesh_.materials == 0) return 0;
    return static_cast<std::int64_t>(std::floor(static_cast<double>(shape.cells()) * mesh_.mixed));
}

std::int64_t MeshLayout::mixed_cells(std::int64_t part) const {
    return mixed_of(shape(part));
}

std::int64_t MeshLayout::elements_of_shape(const MeshTable& table, const PartShape& shape) const {
    const std::int64_t ghost = mesh_.ghost;
    const auto values = [&](Centring centring) {
        if (ghost == 0) return shape.count(centring);
        if (structured(mesh_.type)) return shape.grown(ghost).count(centring);
        return centring == Centring::zone ? shape.cells_with(ghost) : shape.nodes_with(ghost);
    };
    switch (table.kind) {
        case TableKind::axes:
            return 0;  // belongs to no part
        case TableKind::icoord:
        case TableKind::jcoord:
        case TableKind::kcoord:
        case TableKind::node_ids:
            return values(Centring::node);
        case TableKind::cell_ids:
            return values(Centring::zone);
        case TableKind::shapes:
        case TableKind::cells_per_shape:
            return ghost > 0 ? 2 : 1;  // ghost cells have a shape of their own
        case TableKind::connectivity:
            return values(Centring::zone) * corners(mesh_);
        case TableKind::material:
            return values(mesh_.type == MeshType::point ? Centring::node : Centring::zone) +
                   2 * mixed_of(shape);
        case TableKind::components:
        case TableKind::first_component:
            return mixed_of(shape);
        case TableKind::volume_fraction:
            return 2 * mixed_of(shape);
        default:
            return values(table.centring);
    }
}

std::int64_t MeshLayout::elements(const MeshTable& table, std::int64_t part) const {
    if (table.kind != TableKind::axes) return elements_of_shape(table, shape(part));
    if (part != 0) return 0;
    const auto dims = global_dims();
    std::int64_t sum = 0;
    for (int d = 0; d < mesh_.dimensions; ++d) sum += dims[static_cast<std::size_t>(d)];
    return sum;
}

std::int64_t MeshLayout::before(const MeshTable& table, std::int64_t part) const {
    if (table.kind == TableKind::axes) return part > 0 ? elements(table, 0) : 0;
    const std::int64_t large = std::min(part, large_);
    return large * elements_of_shape(table, shapes_[0]) +
           (part - large) * elements_of_shape(table, shapes_[1]);
}

std::int64_t MeshLayout::bytes() const {
    std::int64_t sum = 0;
    for (const MeshTable& table : tables_) sum += elements(table) * bytes_of(table.type);
    return sum;
}

MeshParts MeshLayout::nominal(const PartRange& range) const {
    const auto until = [this](std::int64_t part) { return shares_before(nodes_, parts_, part); };
    return {until(range.first + range.count) - until(range.first), range.count};
}

std::int64_t MeshLayout::nodes_before(std::int64_t part) const {
    const std::int64_t large = std::min(part, large_);
    return large * shapes_[0].nodes() + (part - large) * shapes_[1].nodes();
}

std::int64_t MeshLayout::first_node(std::int64_t part) const {
    const std::int64_t shared = mesh_.shared_nodes ? part * shapes_[1].layer() : 0;
    return nodes_before(part) - shared + 1;
}

std::int64_t MeshLayout::cells_before(std::int64_t part) const {
    const std::int64_t large = std::min(part, large_);
    return large * shapes_[0].cells() + (part - large) * shapes_[1].cells();
}

std::array<std::int64_t, 3> MeshLayout::global_dims() const {
    std::array<std::int64_t, 3> out{1, 1, 1};
    for (std::size_t d = 0; d < static_cast<std::size_t>(mesh_.dimensions); ++d) {
        const std::int64_t nodes = shapes_[1].dims().at(d);
        out.at(d) = mesh_.shared_nodes ? arrangement_.at(d) * (nodes - 1) + 1 : arrangement_.at(d) * nodes;
    }
    return out;
}

Wide nodes_of(const Mesh& mesh, std::int64_t parts, std::int64_t nodes) {
    Wide part = 1;
    for (const std::int64_t d : mesh.part_dims) part *= d;
    Wide halo = 1;
    for (int d = 0; d < mesh.dimensions; ++d) halo *= 1 + mesh.ghost;
    return halo * std::max({Wide{nodes}, Wide{parts} * PartShape::least_nodes(mesh.dimensions),
                            mesh.part_dims.empty() ? Wide{0} : part * parts});
}

bool countable(const Mesh& mesh, std::int64_t parts, std::int64_t nodes) {
    constexpr std::int64_t words_of_mesh = 16;  // the share of a node and a cell in the mesh itself
    return nodes_of(mesh, parts, nodes) * (mesh.variable_count() + words_of_mesh) * 8 <= limits::offset;
}

std::int64_t mesh_bytes(const Mesh& mesh, const MeshParts& parts) {
    Mesh kinds = mesh;
    for (VariableRun& run : kinds.variables) run.count = 1;
    const MeshLayout layout(kinds, parts);
    std::int64_t sum = 0;
    for (const MeshTable& table : layout.tables()) {
        const bool variable = table.kind == TableKind::variable;
        const std::int64_t count =
            variable ? mesh.variables[static_cast<std::size_t>(table.variable)].count : 1;
        sum += count * layout.elements(table) * bytes_of(table.type);
    }
    return sum;
}

std::int64_t nodes_for(const Mesh& mesh, std::int64_t parts, std::int64_t bytes) {
    parts = std::max<std::int64_t>(1, parts);
    const auto size = [&](std::int64_t nodes) { return mesh_bytes(mesh, {nodes, parts}); };
    std::int64_t low = parts * PartShape::least_nodes(mesh.dimensions);
    if (size(low) >= bytes) return low;
    std::int64_t high = 2 * low;
    for (; size(high) <= bytes; high *= 2) low = high;
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (size(middle) <= bytes ? low : high) = middle;
    }
    // The size may fall slightly where rows become longer, so nearby values are tried too.
    std::int64_t best = low;
    const auto off = [&](std::int64_t nodes) { return std::abs(size(nodes) - bytes); };
    for (std::int64_t nodes =
             std::max<std::int64_t>(parts * PartShape::least_nodes(mesh.dimensions), low - 2);
         nodes <= low + 2; ++nodes) {
        if (off(nodes) < off(best)) best = nodes;
    }
    return best;
}

PartRange parts_of(const Mesh& mesh, std::int64_t all, std::int64_t first, std::int64_t count) {
    const std::int64_t from = shares_before(mesh.parts, all, first);
    return {from, shares_before(mesh.parts, all, first + count) - from};
}

std::int64_t planned_bytes(const Mesh& mesh, const PartRange& range) {
    if (mesh.bytes) return proportion(*mesh.bytes, range.first, range.count, mesh.parts);
    return mesh_bytes(mesh, planned_parts(mesh, range));
}

MeshParts planned_parts(const Mesh& mesh, const PartRange& range) {
    if (mesh.bytes) return {nodes_for(mesh, range.count, planned_bytes(mesh, range)), range.count};
    return {shares_before(mesh.nodes, mesh.parts, range.first + range.count) -
                shares_before(mesh.nodes, mesh.parts, range.first),
            range.count};
}

}  // namespace wa
