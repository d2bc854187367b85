#include <algorithm>

#include "backends/traits.hpp"
#include "errors.hpp"
#include "expand/dump.hpp"

namespace wa {
namespace {

void refuse(const Family& family, const Layout& /*layout*/, const Content& content,
            const std::string& place) {
    const auto no = [&](const std::string& reason, const std::string& hint = "") {
        throw PlanError(place, reason, hint);
    };
    if (content.mesh) no("a mesh is not written through ADIOS2", "use hdf5, mpiio, posix or stdio");
    if (family.sharing.baton) no("all ranks write an ADIOS2 file together", "leave out `turns: baton`");
    if (family.shift > 0 && family.lifetime == Lifetime::appended)
        no("a file that stays open cannot be read by the neighbour", "leave out `reader: neighbour`");
    if (moves(content, Direction::read) && moves(content, Direction::write))
        no("a step of ADIOS2 either writes or reads", "put the reads into a family or content of their own");
    if (content.flushes > 0 || content.fsyncs > 0 || content.flush.writes > 0 || content.sync.writes > 0)
        no("ADIOS2 writes at the end of a step and has no sync",
           "leave out `flushes`, `fsyncs` and the like");
    for (const Array& array : content.arrays) {
        if (array.multi) no("only HDF5 has one call for several datasets", "leave out `multi` or use hdf5");
        for (const Access& access : array.access) {
            for (const Slab& slab : access.slabs) {
                if (std::any_of(slab.stride.begin(), slab.stride.end(), [](std::int64_t s) { return s > 1; }))
                    no("ADIOS2 moves blocks without strides", "leave out `stride` or use hdf5");
            }
        }
    }
}

}  // namespace

extern const Traits adios2_traits;
const Traits adios2_traits{.name = "adios2",
                           .help = "steps of BP5 files through ADIOS2",
                           .library = "ADIOS2",
                           .extension = "bp",
                           .collective_files = true,
                           .whole_pieces = true,
                           .plain_bytes = false,
                           .whole_operations = true,
                           .most_bytes = std::int64_t{16} << 30,
                           .refuse = refuse};

}  // namespace wa
