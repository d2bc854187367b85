#include "mesh/shape.hpp"

#include <algorithm>
#include <cmath>

namespace wa {
namespace {

std::int64_t nearest_root(std::int64_t value, int degree) {
    const auto root =
        degree == 2 ? std::sqrt(static_cast<double>(value)) : std::cbrt(static_cast<double>(value));
    return std::max<std::int64_t>(2, std::llround(root));
}

std::int64_t quotient(std::int64_t value, std::int64_t by) {
    return std::max<std::int64_t>(2, (value + by / 2) / by);
}

std::int64_t divided_up(std::int64_t value, std::int64_t by) {
    return (value + by - 1) / by;
}

/// The number of cells between `nodes` nodes in rows of `row`; the last row may be partial.
std::int64_t cells_of_plane(std::int64_t nodes, std::int64_t row) {
    const std::int64_t rows = nodes / row;
    if (rows == 0) return 0;
    return (rows - 1) * (row - 1) + std::max<std::int64_t>(0, nodes % row - 1);
}

/// The largest divisor of `value` that is at most `most`.
std::int64_t divisor_below(std::int64_t value, std::int64_t most) {
    for (std::int64_t d = most; d > 1; --d) {
        if (value % d == 0) return d;
    }
    return 1;
}

}  // namespace

PartShape::PartShape(const Mesh& mesh, std::int64_t nodes)
    : dimensions_(mesh.dimensions), nodes_(std::max(nodes, least_nodes(mesh.dimensions))) {
    if (!mesh.part_dims.empty()) {
        std::copy(mesh.part_dims.begin(), mesh.part_dims.end(), dims_.begin());
        nodes_ = dims_[0] * dims_[1] * dims_[2];
        return;
    }
    if (dimensions_ == 1) {
        dims_[0] = nodes_;
        return;
    }
    dims_[0] = nearest_root(nodes_, dimensions_);
    if (dimensions_ == 3) dims_[1] = nearest_root(nodes_ / dims_[0], 2);
    auto& last = dims_[static_cast<std::size_t>(dimensions_ - 1)];
    if (structured(mesh.type) || mesh.shared_nodes) {
        last = quotient(nodes_, layer());
        nodes_ = layer() * last;
    } else {
        last = std::max<std::int64_t>(2, divided_up(nodes_, layer()));
    }
}

std::int64_t PartShape::layer() const {
    if (dimensions_ == 1) return 1;
    return dimensions_ == 2 ? dims_[0] : dims_[0] * dims_[1];
}

std::int64_t PartShape::cells() const {
    if (dimensions_ == 1) return nodes_ - 1;
    if (dimensions_ == 2) return cells_of_plane(nodes_, dims_[0]);
    const std::int64_t planes = nodes_ / layer();
    return (planes - 1) * (dims_[0] - 1) * (dims_[1] - 1) + cells_of_plane(nodes_ % layer(), dims_[0]);
}

std::int64_t PartShape::count(Centring centring) const {
    switch (centring) {
        case Centring::zone:
            return cells();
        case Centring::edge: {
            const std::int64_t rest = std::max<std::int64_t>(0, nodes_ % row() - 1);
            return nodes_ / row() * (row() - 1) + rest;
        }
        case Centring::face: {
            if (dimensions_ == 1) return nodes_;
            if (dimensions_ == 2) return nodes_ - row();
            const std::int64_t rest = std::max<std::int64_t>(0, nodes_ % layer() - row());
            return (nodes_ / layer() - 1) * row() * (dims_[1] - 1) + rest;
        }
        default:
            return nodes_;
    }
}

PartShape PartShape::grown(std::int64_t ghost) const {
    PartShape out = *this;
    out.nodes_ = 1;
    for (int d = 0; d < dimensions_; ++d) {
        out.dims_[static_cast<std::size_t>(d)] += 2 * ghost;
        out.nodes_ *= out.dims_[static_cast<std::size_t>(d)];
    }
    return out;
}

std::int64_t PartShape::nodes_with(std::int64_t ghost) const {
    return ghost == 0 ? nodes_ : nodes_ + grown(ghost).nodes_ - grown(0).nodes_;
}

std::int64_t PartShape::cells_with(std::int64_t ghost) const {
    return ghost == 0 ? cells() : cells() + grown(ghost).cells() - grown(0).cells();
}

std::array<std::int64_t, 3> arrange_parts(std::int64_t parts, int dimensions) {
    std::array<std::int64_t, 3> out{1, 1, 1};
    if (dimensions == 3) {
        out[0] =
            divisor_below(parts, static_cast<std::int64_t>(std::cbrt(static_cast<double>(parts)) + 1e-9));
        parts /= out[0];
    }
    if (dimensions >= 2) {
        const auto at = static_cast<std::size_t>(dimensions - 2);
        out[at] =
            divisor_below(parts, static_cast<std::int64_t>(std::sqrt(static_cast<double>(parts)) + 1e-9));
        parts /= out[at];
    }
    out[static_cast<std::size_t>(dimensions - 1)] = parts;
    return out;
}

}  // namespace wa
