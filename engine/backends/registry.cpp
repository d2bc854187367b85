#include <array>

#include "backends/all.hpp"
#include "backends/backend.hpp"

namespace wa {
namespace {

// clang-format off
constexpr std::array registrations{
    Registration{{"null", "counts operations, touches nothing", BackendKind::null, false, true, false, true, true}, make_null},
    Registration{{"record", "writes the operations as text to --operations", BackendKind::record, false, true, false, true, true}, make_record},
    Registration{{"posix", "open, pwrite, pread, fsync, close", BackendKind::posix}, make_posix},
    Registration{{"stdio", "fopen, fseek, fwrite, fread, fflush, fclose", BackendKind::stdio}, make_stdio},
    Registration{{"mpiio", "MPI_File_write_at and the like, collective or not", BackendKind::mpiio, true, true, true}, make_mpiio},
#ifdef WORKALIKE_HAVE_HDF5
    Registration{{"hdf5", "datasets through parallel HDF5", BackendKind::hdf5, true, true, true, false, true}, make_hdf5},
    Registration{{"typhonio", "meshes in files of the TyphonIO library", BackendKind::typhonio, true, true, true, false}, make_typhonio},
#endif
#ifdef WORKALIKE_HAVE_ADIOS2
    Registration{{"adios2", "steps of BP5 files through ADIOS2", BackendKind::adios2, true, true, false, false}, make_adios2},
#endif
#ifdef WORKALIKE_HAVE_PNETCDF
    Registration{{"pnetcdf", "variables through PnetCDF", BackendKind::pnetcdf, true, true, true, false}, make_pnetcdf},
#endif
};
// clang-format on

}  // namespace

std::span<const Registration> registry() {
    return registrations;
}

const Registration* find_backend(BackendKind kind) {
    for (const Registration& registration : registrations) {
        if (registration.traits.kind == kind) return &registration;
    }
    return nullptr;
}

}  // namespace wa
