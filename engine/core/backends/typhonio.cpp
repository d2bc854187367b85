#include "backends/traits.hpp"
#include "errors.hpp"

namespace wa {
namespace {

/// The TyphonIO pattern decides how the library below it works. A setting without effect would be a silent
/// error, so it is refused.
void refuse(const Family& family, const Layout& /*layout*/, const Content& content,
            const std::string& place) {
    if (!content.mesh) {
        throw PlanError(place, "a TyphonIO file holds only meshes, and this content has none",
                        "use the backend hdf5, or describe the dump as a mesh");
    }
    const Hdf5Settings& set = family.hdf5;
    const bool other = set.chunked || set.filters() || set.subfiling || set.collective_metadata ||
                       set.individual_io || set.metadata_block || set.sieve_buffer || set.page_bytes ||
                       set.file_space != FileSpace::standard || set.libver != LibraryBounds::earliest ||
                       set.driver != FileDriver::mpi;
    if (other) {
        throw PlanError(place, "a TyphonIO file takes alignment, threshold and MPI-IO hints",
                        "leave out the other settings of HDF5, or say `typhonio: optimised`");
    }
}

}  // namespace

extern const Traits typhonio_traits;
const Traits typhonio_traits{.name = "typhonio",
                             .help = "meshes in files of the TyphonIO library",
                             .library = "parallel HDF5",
                             .extension = "h5",
                             .level = Level::h5d,
                             .collective_files = true,
                             .whole_pieces = true,
                             .over_mpiio = true,
                             .plain_bytes = false,
                             .only_meshes = true,
                             .hdf5_settings = true,
                             .whole_operations = true,
                             .most_bytes = std::int64_t{16} << 30,
                             .refuse = refuse};

}  // namespace wa
