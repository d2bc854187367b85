// One operation of one rank. Every backend receives it, whether it counts, prints or performs.
#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace wa {

struct Operation {
    Direction direction = Direction::write;
    bool collective = false;
    /// Posted, and completed at the end of its section where the backend has such calls.
    bool nonblocking = false;
    /// True for a rank that only joins a collective call: size is 0 and the offset means nothing.
    bool joins = false;
    /// In the file. For an array, the place of the tile when the dataset is laid out linearly.
    std::int64_t offset = 0;
    std::int64_t size = 0;
    /// Equal pieces, piece_stride apart, from offset on; with a slab there is one per dataset.
    std::int64_t pieces = 1;
    std::int64_t piece_stride = 0;
    /// For arrays the number of the tile in its grid, for meshes the number of the part in the file.
    std::int64_t tile = 0;
    const Slab* slab = nullptr;
    /// The operation's place among the `own_turns` of its section.
    std::int64_t turn = 0;
};

/// Operations that follow the present one and differ from it in their offsets alone, `step` apart.
struct EqualRun {
    std::int64_t count = 0;
    std::int64_t step = 0;
};

/// A part of a dump that all members of a file enter and leave together, even without operations in it. It is
/// a stream, an entry of a stream whose entries need their own file views, a dataset, or a table of a mesh.
struct Section {
    enum class Kind { stream, array, fit, mesh };
    Kind kind = Kind::stream;
    std::size_t part = 0;      // index of a stream or array of the content, or of a table of the mesh
    std::size_t entry = 0;     // for a stream with views
    std::int64_t dataset = 0;  // of an array or a fit; the first of `pieces` that a call moves together
    std::int64_t base = 0;     // where the dataset starts in a linear file
    std::int64_t bytes = 0;    // of the dataset in this file
    Direction direction = Direction::write;
    /// The operations of the busiest member of the file, the same on all members.
    std::int64_t turns = 0;
    /// The share of time that such an operation takes, of one of the dump's largest.
    double weight = 1;
    /// Into how many turns this rank divides the time of the section. All members have as many where they
    /// call together; 0 if all its operations come at once.
    std::int64_t own_turns = 0;
    // For a stream that writes; where members sync together, the operations of the busiest of them.
    bool writes = false;
    std::int64_t most_writes = 0;
    // For a stream with views: where the file view starts and how it repeats.
    bool view = false;
    std::int64_t view_base = 0;
    std::int64_t piece_size = 0;
    std::int64_t piece_stride = 0;
    std::int64_t pieces = 1;
    std::int64_t round = 0;  // from one operation of a rank to its next
    // For a buffered stream: this rank's own seeks and flushes of it.
    Buffered buffered = Buffered::none;
    std::int64_t buffer_seeks = 0;
    std::int64_t buffer_flushes = 0;
};

}  // namespace wa
