#include "backends/traits.hpp"

namespace wa {

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
                         .most_bytes = std::int64_t{16} << 30};

}  // namespace wa
