#include "record/environment.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "io/file_system.hpp"
#include "io/mpi.hpp"
#include "io/mpi_file.hpp"
#ifdef WORKALIKE_HAVE_HDF5
#include "io/hdf5_features.hpp"
#endif
#ifdef WORKALIKE_HAVE_ADIOS2
#include "io/adios2.hpp"
#endif
#ifdef WORKALIKE_HAVE_PNETCDF
#include "io/pnetcdf.hpp"
#endif

namespace wa {
namespace {

std::string mpi_library() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    mpi::check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
    std::string line(text.data(), static_cast<std::size_t>(length));
    // Some libraries add pages of build options. The name of the build host must not get into a record.
    line = line.substr(0, line.find('\n'));
    line = line.substr(0, line.find(','));
    // MPICH names itself as a field of its build options.
    constexpr std::string_view mpich = "MPICH Version:";
    const std::size_t version = line.find_first_not_of(" \t", mpich.size());
    if (line.starts_with(mpich) && version != std::string::npos) line = "MPICH " + line.substr(version);
    return line;
}

std::string hdf5_library() {
#ifdef WORKALIKE_HAVE_HDF5
    return "HDF5 " + h5::features().version;
#else
    return "";
#endif
}

}  // namespace

std::vector<std::string> library_features() {
    std::vector<std::string> out{"mpi " + mpi_library()};
#ifdef WORKALIKE_HAVE_HDF5
    const h5::Features hdf5 = h5::features();
    const auto yes_or_no = [](bool value) { return value ? "yes" : "no"; };
    out.push_back("hdf5 " + hdf5.version);
    out.push_back(fmt::format("hdf5.multi {}", yes_or_no(hdf5.multi)));
    out.push_back(fmt::format("hdf5.deflate {}", yes_or_no(hdf5.deflate)));
    out.push_back(fmt::format("hdf5.filtered_writes {}", yes_or_no(hdf5.filtered_writes)));
    out.push_back(fmt::format("hdf5.subfiling {}", yes_or_no(hdf5.subfiling)));
#endif
#ifdef WORKALIKE_HAVE_ADIOS2
    out.push_back("adios2 " + bp::version());
#endif
#ifdef WORKALIKE_HAVE_PNETCDF
    out.push_back("pnetcdf " + pnetcdf::version());
#endif
    return out;
}

bool library_has_subfiling() {
#ifdef WORKALIKE_HAVE_HDF5
    return h5::has_subfiling();
#else
    return false;
#endif
}

Environment find_environment(const std::vector<NamedFolder>& folders, bool mpi_io) {
    Environment out;
    out.engine = WORKALIKE_VERSION;
    out.mpi = mpi_library();
    out.hdf5 = hdf5_library();
#ifdef __clang__
    out.compiler = fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    out.compiler = fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
    const bool asks_mpi_io = mpi_io && mpi::rank(MPI_COMM_WORLD) == 0;
    for (const auto& [name, path] : folders) {
        out.directories.push_back(
            {name, file_system_of(path), asks_mpi_io ? mpi::io_component(path) : std::string()});
    }

    MPI_Comm host = MPI_COMM_NULL;
    mpi::check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
               "MPI_Comm_split_type");
    const bool first = mpi::rank(host) == 0;
    MPI_Comm_free(&host);
    const std::int64_t memory =
        static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE);
    const std::int64_t own = first ? memory : 0;
    const bool gathers = mpi::rank(MPI_COMM_WORLD) == 0;
    std::vector<std::int64_t> each(gathers ? static_cast<std::size_t>(mpi::size(MPI_COMM_WORLD)) : 0);
    mpi::check(MPI_Gather(&own, 1, MPI_INT64_T, each.data(), 1, MPI_INT64_T, 0, MPI_COMM_WORLD),
               "MPI_Gather");
    std::copy_if(each.begin(), each.end(), std::back_inserter(out.host_memory_bytes),
                 [](std::int64_t bytes) { return bytes > 0; });
    return out;
}

}  // namespace wa
