#include <algorithm>

#include "backends/traits.hpp"
#include "errors.hpp"
#include "expand/dump.hpp"
#include "sharing/layout.hpp"

namespace wa {
namespace {

bool writes_independently(const Content& content) {
    const auto alone = [](const auto& part) {
        return part.direction == Direction::write && !part.collective;
    };
    const auto any_alone = [&](const Array& array) {
        return std::any_of(array.access.begin(), array.access.end(), alone);
    };
    const auto& mesh = content.mesh;
    return (content.fit && !content.fit->collective) ||
           (mesh && mesh->direction == Direction::write && !mesh->collective) ||
           std::any_of(content.streams.begin(), content.streams.end(), alone) ||
           std::any_of(content.arrays.begin(), content.arrays.end(), any_alone);
}

void refuse(const Family& family, const Layout& layout, const Content& content, const std::string& place) {
    const auto no = [&](const std::string& reason, const std::string& hint = "") {
        throw PlanError(place, reason, hint);
    };
    const Hdf5Settings& settings = family.hdf5;
    const bool renames = family.rename || family.backup || content.renames > 0;
    if (settings.subfiling && (family.keep > 0 || renames || family.removed))
        no("HDF5 chooses the names of subfiles",
           "leave out `keep`, `rename`, `renames`, `backup` and `removed`, or subfiling");
    const bool ranks_share = layout.slot(0).members > 1 && !family.sharing.baton;
    if (settings.driver == FileDriver::serial) {
        if (family.level != Level::h5d)
            no("without MPI-IO nothing is counted at level mpiio", "say `level: h5d` or `driver: mpi`");
        if (ranks_share && moves(content, Direction::write))
            no("ranks that write to one file need MPI-IO", "say `driver: mpi`, or give each rank a file");
    }
    if (!settings.filters()) return;
    if (content.sized() && family.level != Level::h5d)
        no("filters change the bytes of a dump, so they cannot be stated", "leave out deflate and shuffle");
    if (ranks_share && writes_independently(content))
        no("filters in a file of several ranks need collective writes",
           "say `collective: true` or leave out deflate and shuffle");
}

}  // namespace

extern const Traits hdf5_traits;
const Traits hdf5_traits{.name = "hdf5",
                         .help = "datasets through parallel HDF5",
                         .library = "parallel HDF5",
                         .extension = "h5",
                         .level = Level::h5d,
                         .collective_files = true,
                         .whole_pieces = true,
                         .whole_slabs = true,
                         .over_mpiio = true,
                         .plain_bytes = false,
                         .hdf5_settings = true,
                         .whole_operations = true,
                         .most_bytes = std::int64_t{16} << 30,
                         .refuse = refuse};

}  // namespace wa
