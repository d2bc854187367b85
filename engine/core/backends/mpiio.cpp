#include "backends/traits.hpp"

namespace wa {

extern const Traits mpiio_traits;
const Traits mpiio_traits{.name = "mpiio",
                          .help = "MPI-IO with explicit offsets, collective or independent",
                          .level = Level::mpiio,
                          .collective_files = true,
                          .lone_opens = true,
                          .whole_pieces = true,
                          .over_mpiio = true};

}  // namespace wa
