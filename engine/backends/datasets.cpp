#include "backends/datasets.hpp"

#include <algorithm>
#include <cstring>

#include "expand/dump.hpp"
#include "io/mpi.hpp"
#include "io/posix.hpp"

namespace wa {

bool exists_for_all(const FileContext& context) {
    int exists = 0;
    if (mpi::rank(context.comm) == 0) exists = posix::size_of(context.path).has_value() ? 1 : 0;
    mpi::check(MPI_Bcast(&exists, 1, MPI_INT, 0, context.comm), "open");
    return exists != 0;
}

std::int64_t end_of_file(const FileContext& context) {
    Wide end = 0;
    for (const Dump& dump : context.plan->dumps) {
        if (dump.family != context.dump->family || dump.file != context.dump->file) continue;
        end = std::max(end, dump_end(*context.plan, dump, *context.layout, context.slot, std::nullopt));
    }
    return static_cast<std::int64_t>(end);
}

std::int64_t rows_before(const FileContext& context, std::size_t part) {
    std::int64_t rows = 0;
    std::int64_t last = 0;
    for (std::size_t d = 0; d < context.position; ++d) {
        const Dump& dump = context.plan->dumps[d];
        const Content& content = context.plan->contents[dump.content];
        const bool same_file = dump.family == context.dump->family && dump.file == context.dump->file;
        if (!same_file || part >= content.arrays.size() || !moves(content, Direction::write)) continue;
        const Array& array = content.arrays[part];
        if (array.access.empty()) continue;
        last = array.dims[array.unlimited];
        rows += last;
    }
    return moves(*context.content, Direction::write) ? rows : rows - last;
}

StoredElement stored_element(std::int64_t bytes) {
    for (const std::int64_t type : {8, 4, 2, 1}) {
        if (bytes % type == 0) return {type, bytes / type};
    }
    return {1, bytes};
}

void WrittenGrids::add(const Array& array) {
    for (const Access& access : array.access) {
        if (access.direction != Direction::write) continue;
        for (const Slab& slab : access.slabs) grids_.emplace_back(&slab, TileGrid(array.dims, slab));
    }
}

void WrittenGrids::accept(const Slice& part, std::int64_t element, std::int64_t base, const Arena& arena,
                          std::int64_t phase, const std::byte* expected,
                          std::vector<std::byte>& found) const {
    if (grids_.size() < 2) return;
    const auto size = static_cast<std::size_t>(element);
    std::vector<std::int64_t> at(part.count.size());
    for (std::size_t i = 0; i * size < found.size(); ++i) {
        std::byte* value = found.data() + i * size;
        if (std::memcmp(value, expected + i * size, size) == 0) continue;
        auto left = static_cast<std::int64_t>(i);
        for (std::size_t d = at.size(); d-- > 0; left /= part.count[d]) {
            at[d] = part.start[d] + left % part.count[d] * (part.stride.empty() ? 1 : part.stride[d]);
        }
        for (const auto& [slab, grid] : grids_) {
            const auto spot = grid.spot_of(at);
            if (!spot) continue;
            const std::int64_t place = base + (spot->tile * slab->elements() + spot->element) * element;
            if (std::memcmp(value, arena.at(phase, place), size) != 0) continue;
            std::memcpy(value, expected + i * size, size);
            break;
        }
    }
}

}  // namespace wa
