#include "backends/typhonio_mesh.hpp"

#include <fmt/format.h>

#include <array>

#include "expand/dump.hpp"
#include "mesh/values.hpp"

namespace wa {
namespace {

typhonio::MeshType type_of(MeshType type) {
    switch (type) {
        case MeshType::uniform:
        case MeshType::rectilinear:
            return typhonio::MeshType::colinear;
        case MeshType::curvilinear:
            return typhonio::MeshType::noncolinear;
        case MeshType::point:
            return typhonio::MeshType::point;
        default:
            return typhonio::MeshType::unstructured;
    }
}

/// The box of a part's nodes in the whole mesh.
typhonio::ChunkInfo box(const MeshLayout& layout, std::int64_t part) {
    typhonio::ChunkInfo out;
    std::int64_t left = part;
    for (std::size_t d = 0; d < static_cast<std::size_t>(layout.mesh().dimensions); ++d) {
        const std::int64_t nodes = layout.shape(part).dims().at(d);
        const std::int64_t index = left % layout.arrangement().at(d);
        left /= layout.arrangement().at(d);
        out.low.at(d) = index * (layout.mesh().shared_nodes ? nodes - 1 : nodes);
        out.high.at(d) = out.low.at(d) + nodes - 1;
    }
    return out;
}

typhonio::ChunkInfo counted(const MeshLayout& layout, std::int64_t part) {
    const Mesh& mesh = layout.mesh();
    const PartShape& shape = layout.shape(part);
    typhonio::ChunkInfo out;
    out.nodes = shape.nodes();
    out.cells = shape.cells();
    out.shapes = 1;
    out.connectivity = out.cells * corners(mesh);
    if (mesh.ghost == 0) return out;
    out.ghost_nodes = shape.nodes_with(mesh.ghost) - out.nodes;
    out.ghost_cells = shape.cells_with(mesh.ghost) - out.cells;
    out.ghost_shapes = 1;
    out.ghost_connectivity = out.ghost_cells * corners(mesh);
    return out;
}

/// The dump that wrote a state. For a load it is the last one before it, or the load itself if the file was
/// prepared for it.
std::int64_t dump_of_state(const FileContext& context) {
    if (moves(*context.content, Direction::write)) return context.dump->index;
    std::int64_t out = context.dump->index;
    for (std::size_t d = 0; d < context.position; ++d) {
        const Dump& dump = context.plan->dumps[d];
        const bool same = dump.family == context.dump->family && dump.file == context.dump->file;
        if (same && moves(context.plan->contents[dump.content], Direction::write)) out = dump.index;
    }
    return out;
}

}  // namespace

typhonio::MeshDescription describe(const MeshLayout& layout) {
    const Mesh& mesh = layout.mesh();
    typhonio::MeshDescription out;
    out.type = type_of(mesh.type);
    out.group = "mesh_group";
    out.dimensions = mesh.dimensions;
    const std::int64_t parts = layout.parts();
    if (out.type == typhonio::MeshType::unstructured) {
        out.graph_type = mesh.wide_ids ? typhonio::Datatype::llong_int : typhonio::Datatype::int_;
        const std::int64_t last = parts - 1;
        const std::int64_t cells = layout.cells_before(parts);
        out.sizes = {layout.first_node(last) + layout.shape(last).nodes() - 1, cells, parts,
                     cells * corners(mesh)};
    } else if (out.type == typhonio::MeshType::point) {
        out.sizes = {layout.nodes_before(parts), 0, 0, 0};
    } else {
        const auto dims = layout.global_dims();
        out.sizes = {dims[0], dims[1], dims[2], structured(mesh.type) ? mesh.ghost : 0};
    }
    return out;
}

typhonio::Chunks chunks_of(const MeshLayout& layout) {
    return {layout.parts(), [&layout](std::int64_t part) {
                const Mesh& mesh = layout.mesh();
                typhonio::ChunkInfo out;
                if (structured(mesh.type)) {
                    out = box(layout, part);
                } else if (mesh.type == MeshType::point) {
                    out.low[0] = layout.nodes_before(part);
                    out.high[0] = layout.nodes_before(part + 1) - 1;
                    out.ghost_nodes = layout.shape(part).nodes_with(mesh.ghost) - layout.shape(part).nodes();
                } else {
                    out = counted(layout, part);
                }
                out.mixed_cells = layout.mixed_cells(part);
                out.mixed_components = 2 * out.mixed_cells;
                return out;
            }};
}

typhonio::Datatype datatype_of(ValueType type) {
    switch (type) {
        case ValueType::float32:
            return typhonio::Datatype::float_;
        case ValueType::float64:
            return typhonio::Datatype::double_;
        case ValueType::int32:
            return typhonio::Datatype::int_;
        default:
            return typhonio::Datatype::llong_int;
    }
}

typhonio::Centring centring_of(Centring centring) {
    switch (centring) {
        case Centring::zone:
            return typhonio::Centring::cell;
        case Centring::edge:
            return typhonio::Centring::edge_i;
        case Centring::face:
            return typhonio::Centring::face_i;
        default:
            return typhonio::Centring::node;
    }
}

std::uint64_t ghosts_of(const Mesh& mesh) {
    if (mesh.ghost == 0) return typhonio::no_ghosts;
    return structured(mesh.type) ? static_cast<std::uint64_t>(mesh.ghost) : typhonio::all_ghosts;
}

std::string state_name(const FileContext& context) {
    const bool one_state = context.family->lifetime == Lifetime::per_dump;
    std::string state = fmt::format("state{}", one_state ? 0 : dump_of_state(context));
    if (!context.family->sharing.baton) return state;
    return fmt::format("{}_domain{:07d}", state, context.place.index);
}

std::string dataset_path(const MeshTable& table, int axis) {
    constexpr std::array coordinates{"ICOORD", "JCOORD", "KCOORD"};
    const std::string mesh = std::string(mesh_name) + "/";
    switch (table.kind) {
        case TableKind::axes:
            return mesh + "TIO_MESH_" + coordinates.at(static_cast<std::size_t>(axis));
        case TableKind::icoord:
        case TableKind::jcoord:
        case TableKind::kcoord:
            return mesh + "TIO_MESH_" +
                   coordinates.at(static_cast<std::size_t>(table.kind) -
                                  static_cast<std::size_t>(TableKind::icoord));
        case TableKind::node_ids:
            return mesh + "TIO_MESH_NODEIDS";
        case TableKind::cell_ids:
            return mesh + "TIO_MESH_CELLIDS";
        case TableKind::shapes:
            return mesh + "TIO_MESH_SHAPES";
        case TableKind::cells_per_shape:
            return mesh + "TIO_MESH_CELLS_PER_SHAPE";
        case TableKind::connectivity:
            return mesh + "TIO_MESH_CONNECTIVITY";
        case TableKind::material:
            return mesh + material_name + "/TIO_DATA";
        case TableKind::components:
            return mesh + material_name + "/TIO_NCOMP";
        case TableKind::first_component:
            return mesh + material_name + "/TIO_PTR";
        case TableKind::volume_fraction:
            return mesh + material_name + "/TIO_VOLFRAC";
        default:
            return mesh + name_of(table) + "/TIO_DATA";
    }
}

MeshShare share_of_state(const FileContext& context) {
    MeshShare out = *context.mesh;
    if (!context.family->sharing.baton || out.own.count == 0) return out;
    const MeshParts own = out.layout->nominal(out.own);
    out.layout = std::make_shared<const MeshLayout>(out.layout->mesh(), own);
    out.own.first = 0;
    return out;
}

}  // namespace wa
