#include "mesh/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "expand/permutation.hpp"

namespace wa {
namespace {

/// Above this size, the parts of a rank are made one at a time.
constexpr std::int64_t held_at_most = std::int64_t{256} << 20;

/// Writes consecutive elements of a given type.
template <typename T>
class Writer {
  public:
    explicit Writer(std::byte* out) : out_(out) {}
    template <typename V>
    void add(V value) {
        const T converted = static_cast<T>(value);
        std::memcpy(out_, &converted, sizeof(T));
        out_ += sizeof(T);
    }

  private:
    std::byte* out_;
};

/// Where the first node of a part lies in the whole mesh; parts are boxes side by side.
std::array<double, 3> origin(const MeshLayout& layout, std::int64_t part) {
    const auto& grid = layout.arrangement();
    std::array<double, 3> out{};
    for (std::size_t d = 0; d < 3; ++d) {
        const std::int64_t index = part % grid[d];
        part /= grid[d];
        const std::int64_t nodes = layout.shape(0).dims()[d];
        out[d] = static_cast<double>(index * (layout.mesh().shared_nodes ? nodes - 1 : nodes));
    }
    return out;
}

/// A pseudo-random number in [0, 1) for every key.
double noise(std::uint64_t key) {
    constexpr double unit = 1.0 / 9007199254740992.0;
    return static_cast<double>(mix(key, 0x9e3779b97f4a7c15ULL) >> 11U) * unit;
}

/// A field of the simulation: eight kinds that alternate.
double field(std::int64_t kind, const std::array<double, 3>& x, double scale, double time,
             std::uint64_t key) {
    const double u = x[0] / scale + 0.01 * time;
    const double v = x[1] / scale;
    const double w = x[2] / scale;
    switch (kind) {
        case 0:
            return 1.0 + time;
        case 1:
            return noise(key);
        case 2:
            return std::sqrt(u * u + v * v + w * w);
        case 3:
            return u;
        case 4:
            return std::sin(6.283185307179586 * (v + u));
        case 5:
            return std::sin(6.283185307179586 * u) * std::cos(6.283185307179586 * v) + 0.01 * noise(key);
        case 6:
            return u + v + w + 0.1 * noise(key);
        default:
            return std::floor(8.0 * (v + w + 0.1 * u));
    }
}

/// Writes the values of a field at `count` places in boxes of `dims`.
template <typename T>
void fill_field(const MeshLayout& layout, const MeshTable& table, std::int64_t part, std::int64_t dump,
                std::int64_t count, std::byte* out) {
    const bool zones = table.centring == Centring::zone;
    const PartShape& shape = layout.shape(part);
    const std::int64_t ghost = structured(layout.mesh().type) ? 2 * layout.mesh().ghost : 0;
    const std::int64_t less = zones || table.centring == Centring::edge ? 1 : 0;
    const std::int64_t row = std::max<std::int64_t>(1, shape.dims()[0] + ghost - less);
    const std::int64_t rows =
        std::max<std::int64_t>(1, shape.dims()[1] + (layout.mesh().dimensions > 1 ? ghost : 0) -
                                      (zones && layout.mesh().dimensions > 1 ? 1 : 0));
    const auto base = origin(layout, part);
    const double scale = static_cast<double>(shape.dims()[0]) * static_cast<double>(layout.arrangement()[0]);
    const std::int64_t kind = table.variable % 8;
    const std::int64_t cycle = table.variable / 8;
    const double time = static_cast<double>(dump) + 0.125 * static_cast<double>(cycle);
    const std::uint64_t seed = mix(mix(static_cast<std::uint64_t>(part), static_cast<std::uint64_t>(dump)),
                                   static_cast<std::uint64_t>(table.variable));
    Writer<T> writer(out);
    std::array<std::int64_t, 3> at{};
    for (std::int64_t i = 0; i < count; ++i) {
        const std::array<double, 3> x{base[0] + static_cast<double>(at[0]),
                                      base[1] + static_cast<double>(at[1]),
                                      base[2] + static_cast<double>(at[2])};
        writer.add(field(kind, x, scale, time, seed + static_cast<std::uint64_t>(i)) *
                   (std::is_integral_v<T> && kind != 7 ? 1000.0 : 1.0));
        if (++at[0] < row) continue;
        at[0] = 0;
        if (++at[1] < rows) continue;
        at[1] = 0;
        ++at[2];
    }
}

/// The coordinates of a part's nodes in one dimension. Ghost nodes follow at the end, or surround the part.
void fill_coordinates(const MeshLayout& layout, const MeshTable& table, std::int64_t part, std::byte* out) {
    const auto dimension = static_cast<std::size_t>(table.kind) - static_cast<std::size_t>(TableKind::icoord);
    const bool boxes = structured(layout.mesh().type);
    const PartShape& shape = layout.shape(part);
    const std::int64_t ghost = boxes ? layout.mesh().ghost : 0;
    const std::int64_t row = shape.dims()[0] + 2 * ghost;
    const std::int64_t rows = shape.dims()[1] + (layout.mesh().dimensions > 1 ? 2 * ghost : 0);
    const auto base = origin(layout, part);
    const std::int64_t count = layout.elements(table, part);
    Writer<double> writer(out);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::array<std::int64_t, 3> at{i % row, i / row % rows, i / row / rows};
        // Rows are slightly bent, so that curvilinear and unstructured meshes are really not rectangular.
        const double bend = 0.1 * std::sin(0.3 * static_cast<double>(at[(dimension + 1) % 3]));
        writer.add(base[dimension] + static_cast<double>(at[dimension] - ghost) + bend);
    }
}

/// The axes of the whole mesh, one after the other.
void fill_axes(const MeshLayout& layout, std::byte* out) {
    Writer<double> writer(out);
    const auto dims = layout.global_dims();
    for (std::size_t d = 0; d < static_cast<std::size_t>(layout.mesh().dimensions); ++d) {
        for (std::int64_t i = 0; i < dims[d]; ++i) writer.add(static_cast<double>(i));
    }
}

/// The nodes of each cell, counted from 1 within the part. Ghost cells repeat the last real cell.
template <typename T>
void fill_connectivity(const MeshLayout& layout, std::int64_t part, std::byte* out) {
    const PartShape& shape = layout.shape(part);
    const int dimensions = layout.mesh().dimensions;
    const std::int64_t row = shape.row();
    const std::int64_t layer = shape.layer();
    const std::int64_t columns = row - 1;
    const std::int64_t cells = shape.cells();
    const std::int64_t layers = dimensions == 3 ? shape.nodes() / layer - 1 : 0;
    const std::int64_t cells_per_layer = dimensions == 3 ? columns * (shape.dims()[1] - 1) : cells;
    const std::int64_t all = layout.mesh().ghost == 0 ? cells : shape.cells_with(layout.mesh().ghost);
    Writer<T> writer(out);
    for (std::int64_t i = 0; i < all; ++i) {
        std::int64_t cell = std::min(i, cells - 1);
        std::int64_t plane = 0;
        if (dimensions == 3) {
            plane = std::min(cell / cells_per_layer, layers);
            cell -= plane * cells_per_layer;
        }
        const std::int64_t first =
            1 + (dimensions == 1 ? cell : plane * layer + cell / columns * row + cell % columns);
        writer.add(first);
        writer.add(first + 1);
        if (dimensions == 1) continue;
        writer.add(first + row + 1);
        writer.add(first + row);
        if (dimensions == 2) continue;
        for (const std::int64_t step : {std::int64_t{0}, std::int64_t{1}, row + 1, row})
            writer.add(first + layer + step);
    }
}

/// Materials come in layers. At regular distances there is a mixed cell, whose negative value points at its
/// components, counted from 1.
void fill_material(const MeshLayout& layout, const MeshTable& table, std::int64_t part, std::byte* out) {
    const std::int64_t mixed = layout.mixed_cells(part);
    const std::int64_t materials = layout.mesh().materials;
    const std::int64_t count = layout.elements(table, part);
    const std::int64_t cells = count - 2 * mixed;
    const auto material_of = [&](std::int64_t i) {
        return (i * 4 / std::max<std::int64_t>(1, cells) + part) % materials + 1;
    };
    if (table.kind == TableKind::volume_fraction) {
        Writer<double> writer(out);
        for (std::int64_t i = 0; i < mixed; ++i) {
            writer.add(0.25);
            writer.add(0.75);
        }
        return;
    }
    Writer<std::int32_t> writer(out);
    if (table.kind == TableKind::components) {
        for (std::int64_t i = 0; i < mixed; ++i) writer.add(2);
        return;
    }
    if (table.kind == TableKind::first_component) {
        for (std::int64_t i = 0; i < mixed; ++i) writer.add(2 * i + 1);
        return;
    }
    for (std::int64_t i = 0; i < cells; ++i) {
        if (i < mixed) {
            writer.add(-(i + 1));
        } else {
            writer.add(material_of(i));
        }
    }
    for (std::int64_t i = 0; i < 2 * mixed; ++i) writer.add(material_of(i / 2) % materials + 1);
}

void fill_variable(const MeshLayout& layout, const MeshTable& table, std::int64_t part, std::int64_t dump,
                   std::byte* out) {
    const std::int64_t count = layout.elements(table, part);
    switch (table.type) {
        case ValueType::float32:
            return fill_field<float>(layout, table, part, dump, count, out);
        case ValueType::float64:
            return fill_field<double>(layout, table, part, dump, count, out);
        case ValueType::int32:
            return fill_field<std::int32_t>(layout, table, part, dump, count, out);
        default:
            return fill_field<std::int64_t>(layout, table, part, dump, count, out);
    }
}

/// Nodes and cells are numbered from 1 in the whole mesh; ghosts repeat the last real number of the part.
template <typename T>
void fill_graph(const MeshLayout& layout, const MeshTable& table, std::int64_t part, std::byte* out) {
    if (table.kind == TableKind::connectivity) return fill_connectivity<T>(layout, part, out);
    const PartShape& shape = layout.shape(part);
    const std::int64_t count = layout.elements(table, part);
    Writer<T> writer(out);
    if (table.kind == TableKind::shapes) {
        for (std::int64_t i = 0; i < count; ++i) writer.add(shape_code(layout.mesh()));
    } else if (table.kind == TableKind::cells_per_shape) {
        writer.add(shape.cells());
        if (count > 1) writer.add(shape.cells_with(layout.mesh().ghost) - shape.cells());
    } else {
        const bool nodes = table.kind == TableKind::node_ids;
        const std::int64_t first = nodes ? layout.first_node(part) : layout.cells_before(part) + 1;
        const std::int64_t last = (nodes ? shape.nodes() : shape.cells()) - 1;
        for (std::int64_t i = 0; i < count; ++i) writer.add(first + std::min(i, last));
    }
}

}  // namespace

void fill_part(const MeshLayout& layout, const MeshTable& table, std::int64_t part, std::int64_t dump,
               std::byte* out) {
    if (layout.elements(table, part) == 0) return;  // the axes are stored with the first part
    switch (table.kind) {
        case TableKind::axes:
            return fill_axes(layout, out);
        case TableKind::icoord:
        case TableKind::jcoord:
        case TableKind::kcoord:
            return fill_coordinates(layout, table, part, out);
        case TableKind::node_ids:
        case TableKind::cell_ids:
        case TableKind::shapes:
        case TableKind::cells_per_shape:
        case TableKind::connectivity:
            if (table.type == ValueType::int64) return fill_graph<std::int64_t>(layout, table, part, out);
            return fill_graph<std::int32_t>(layout, table, part, out);
        case TableKind::variable:
            return fill_variable(layout, table, part, dump, out);
        default:
            return fill_material(layout, table, part, out);
    }
}

std::string name_of(const MeshTable& table) {
    constexpr std::array variables{"constant", "random", "spherical", "xramp",
                                   "ysin",     "noise",  "noise_sum", "xlayers"};
    constexpr std::array words{"axes",
                               "icoord",
                               "jcoord",
                               "kcoord",
                               "node_ids",
                               "cell_ids",
                               "shapes",
                               "cells_per_shape",
                               "connectivity",
                               "material",
                               "material_components",
                               "material_first",
                               "material_fraction"};
    if (table.kind != TableKind::variable) return words.at(static_cast<std::size_t>(table.kind));
    const auto number = static_cast<std::size_t>(table.variable);
    const char* word = variables.at(number % variables.size());
    return number < variables.size() ? word : fmt::format("{}_{:03d}", word, number / variables.size());
}

std::int64_t MeshBuffer::bytes(std::int64_t part) const {
    const MeshTable& table = share_.layout->tables()[table_];
    return share_.layout->elements(table, part) * bytes_of(table.type);
}

void MeshBuffer::begin(const MeshShare& share, std::size_t table, std::int64_t dump) {
    share_ = share;
    table_ = table;
    dump_ = dump;
    held_first_ = held_end_ = share.own.first;
    std::int64_t sum = 0;
    for (std::int64_t p = 0; p < share.own.count && sum <= held_at_most; ++p)
        sum += bytes(share.own.first + p);
    if (share.own.count == 0 || sum > held_at_most) return;
    values_.resize(static_cast<std::size_t>(sum));
    std::byte* out = values_.data();
    for (; held_end_ < share.own.first + share.own.count; ++held_end_) {
        fill_part(*share.layout, share.layout->tables()[table], held_end_, dump, out);
        out += bytes(held_end_);
    }
}

const std::byte* MeshBuffer::part(std::int64_t number) {
    if (number < held_first_ || number >= held_end_) {
        values_.resize(static_cast<std::size_t>(bytes(number)));
        fill_part(*share_.layout, share_.layout->tables()[table_], number, dump_, values_.data());
        held_first_ = number;
        held_end_ = number + 1;
    }
    const std::byte* at = values_.data();
    for (std::int64_t p = held_first_; p < number; ++p) at += bytes(p);
    return at;
}

}  // namespace wa
