#include "mesh/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "expand/permutation.hpp"

namespace wa {
namespace {

constexpr std::int64_t kept_at_most = std::int64_t{256} << 20;
constexpr std::int64_t page = 4096;
/// The pages of a ring are a prime number, so that data misplaced by a power of two do not match. Data that
/// are misplaced by whole rings within a part do.
constexpr std::int64_t pages = 61;  // eight fields stay in a near cache, as the payload of other files does
constexpr std::int64_t many_pages = 4093;  // of long parts, since a process may map memory only so many times
constexpr std::int64_t long_part = std::int64_t{64} << 20;
constexpr std::int64_t grain = 64;  // a part's field begins at a cache line
constexpr std::int64_t kinds_of_fields = 8;

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

/// Place `i` of `count` in a field of the simulation: smooth along rows, and different in each of `steps`, so
/// that other places have other values.
double field_at(std::int64_t kind, std::int64_t i, std::int64_t count, std::int64_t steps) {
    constexpr std::int64_t row = 512;
    constexpr double full_turn = 6.283185307179586;
    const double x = static_cast<double>(i % row) / static_cast<double>(row);
    const double y = static_cast<double>(i) / static_cast<double>(count);
    const std::int64_t step = i * steps / count;
    const double random = noise(static_cast<std::uint64_t>(i));
    switch (kind) {
        case 0:
            return static_cast<double>(1 + step);
        case 1:
            return random;
        case 2:
            return std::sqrt(x * x + y * y);
        case 3:
            return y;
        case 4:
            return std::sin(full_turn * (x + y));
        case 5:
            return std::sin(full_turn * x) * std::cos(full_turn * y) + 0.01 * random;
        case 6:
            return x + y + 0.1 * random;
        default:
            return std::floor(static_cast<double>(steps) * (y + 0.1 * x));
    }
}

template <typename T>
void fill_field(std::int64_t kind, std::int64_t period, std::byte* out) {
    const std::int64_t count = period / static_cast<std::int64_t>(sizeof(T));
    const double unit = std::is_integral_v<T> && kind != kinds_of_fields - 1 ? 1000.0 : 1.0;
    Writer<T> writer(out);
    for (std::int64_t i = 0; i < count; ++i) writer.add(field_at(kind, i, count, period / grain) * unit);
}

void fill_field(std::int64_t kind, ValueType type, std::int64_t period, std::byte* out) {
    switch (type) {
        case ValueType::float32:
            return fill_field<float>(kind, period, out);
        case ValueType::float64:
            return fill_field<double>(kind, period, out);
        case ValueType::int32:
            return fill_field<std::int32_t>(kind, period, out);
        default:
            return fill_field<std::int64_t>(kind, period, out);
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

/// Fills a part of a table of the mesh itself.
void fill_part(const MeshLayout& layout, const MeshTable& table, std::int64_t part, std::byte* out) {
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
        default:
            return fill_material(layout, table, part, out);
    }
}

std::int64_t period_of(std::int64_t bytes) {
    return page * (bytes > long_part ? many_pages : pages);
}

/// Where a part of a dump begins in the ring of a field.
std::int64_t phase_of(std::int64_t variable, std::int64_t part, std::int64_t dump, std::int64_t period) {
    const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    const std::uint64_t hash = mix(mix(word(part), word(dump)), word(variable));
    return static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(period / grain)) * grain;
}

}  // namespace

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

bool MeshValues::room_for(std::int64_t bytes, const MeshKey& mesh) {
    if (bytes > kept_at_most) return false;
    if (kept_bytes_ + bytes > kept_at_most) {
        // Other meshes are those of earlier dumps, if a mesh grows.
        std::erase_if(kept_, [&](const auto& known) {
            const bool other = std::get<0>(known.first) != mesh;
            if (other) kept_bytes_ -= static_cast<std::int64_t>(known.second->size());
            return other;
        });
    }
    return kept_bytes_ + bytes <= kept_at_most;
}

std::shared_ptr<const std::byte> MeshValues::part(const MeshLayout& layout, const MeshTable& table,
                                                  std::int64_t part, std::int64_t dump) {
    const std::int64_t bytes = layout.elements(table, part) * bytes_of(table.type);
    if (table.kind == TableKind::variable) {
        const std::shared_ptr<const Ring>& ring = field(table, bytes);
        return {ring, ring->data() + phase_of(table.variable, part, dump, period_of(bytes))};
    }
    const std::int64_t parts = layout.parts();
    const MeshKey mesh{&layout.mesh(), layout.nominal({0, parts}).nodes, parts};
    const Key key{mesh, table.kind, part};
    const auto at = kept_.find(key);
    if (at != kept_.end()) return {at->second, at->second->data()};
    const auto made = std::make_shared<Bytes>(static_cast<std::size_t>(bytes));
    fill_part(layout, table, part, made->data());
    if (room_for(bytes, mesh)) {
        kept_.emplace(key, made);
        kept_bytes_ += bytes;
    }
    return {made, made->data()};
}

void MeshValues::prepare(const MeshTable& table, std::int64_t bytes) {
    (void)field(table, bytes);
}

const std::shared_ptr<const Ring>& MeshValues::field(const MeshTable& table, std::int64_t bytes) {
    const std::int64_t kind = table.variable % kinds_of_fields;
    const std::int64_t period = period_of(bytes);
    std::shared_ptr<const Ring>& ring = fields_[{kind, table.type, period}];
    if (ring == nullptr || ring->size() < bytes + period) {
        const auto made = std::make_shared<Ring>(period, bytes + period);
        fill_field(kind, table.type, period, made->data());
        ring = made;
    }
    return ring;
}

void MeshBuffer::begin(MeshValues& values, std::shared_ptr<const MeshLayout> layout, std::size_t table,
                       std::int64_t dump) {
    values_ = &values;
    layout_ = std::move(layout);
    table_ = table;
    dump_ = dump;
    number_ = -1;
    held_.reset();
}

const std::byte* MeshBuffer::part(std::int64_t number) {
    if (number != number_) {
        held_.reset();  // before the next is made, since both may be large
        held_ = values_->part(*layout_, layout_->tables()[table_], number, dump_);
        number_ = number;
    }
    return held_.get();
}

}  // namespace wa
