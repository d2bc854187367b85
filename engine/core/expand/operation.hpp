// One operation of one rank: what every backend is given, whether it counts, prints or performs.
#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace wa {

struct Operation {
    Direction direction = Direction::write;
    bool collective = false;
    /// True for a rank that only joins a collective call: size is 0 and the offset means nothing.
    bool joins = false;
    std::int64_t offset =
        0;  // in the file; of an array, the place that the tile takes when laid out linearly
    std::int64_t size = 0;
    std::int64_t pieces = 1;  // equal pieces, piece_stride apart, from offset on; with a slab: one a dataset
    std::int64_t piece_stride = 0;
    std::int64_t tile =
        0;  // arrays: the tile's number in its grid; meshes: the part's among those of the file
    const Slab* slab = nullptr;
};

/// A part of a dump that all members of a file enter and leave together, whether or not they have operations
/// in it: a stream (one entry of it, where entries need views of their own) or one dataset.
struct Section {
    enum class Kind { stream, array, fit, mesh };
    Kind kind = Kind::stream;
    std::size_t part = 0;      // which stream or array of the content, or table of the mesh
    std::size_t entry = 0;     // of a stream with views
    std::int64_t dataset = 0;  // of an array or a fit; the first of `pieces` that a call moves together
    std::int64_t base = 0;     // where the dataset starts in a linear file
    std::int64_t bytes = 0;    // of the dataset in this file
    // A stream with views: where the file view starts and how it repeats.
    bool view = false;
    std::int64_t view_base = 0;
    std::int64_t piece_size = 0;
    std::int64_t piece_stride = 0;
    std::int64_t pieces = 1;
};

}  // namespace wa
