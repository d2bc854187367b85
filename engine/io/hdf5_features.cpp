#include "io/hdf5_features.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "errors.hpp"
#include "io/mpi.hpp"

namespace wa::h5 {

Features features() {
    Features out;
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    if (H5get_libversion(&major, &minor, &release) < 0) return out;
    out.version = fmt::format("{}.{}.{}", major, minor, release);
    out.deflate = H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0;
#if H5_VERSION_GE(1, 10, 2)
    out.filtered_writes = true;
#endif
#if H5_VERSION_GE(1, 14, 0)
    out.multi = true;
#endif
    out.subfiling = has_subfiling();
    return out;
}

bool has_subfiling() {
#ifdef H5_HAVE_SUBFILING_VFD
    return true;
#else
    return false;
#endif
}

void write_multi(const std::vector<hid_t>& datasets, const Local& type, const Local& memory,
                 const Local& file, const Local& list, const std::vector<const void*>& data) {
#if H5_VERSION_GE(1, 14, 0)
    std::vector<hid_t> ids(datasets);
    std::vector<hid_t> types(datasets.size(), type.get());
    std::vector<hid_t> memories(datasets.size(), memory.get());
    std::vector<hid_t> files(datasets.size(), file.get());
    std::vector<const void*> buffers(data);
    errno = 0;
    if (H5Dwrite_multi(ids.size(), ids.data(), types.data(), memories.data(), files.data(), list.get(),
                       buffers.data()) < 0)
        fail("write");
#else
    (void)datasets, (void)type, (void)memory, (void)file, (void)list, (void)data;
    throw CallFailed("write", "one call over several datasets needs HDF5 1.14");
#endif
}

void set_subfiling(const Local& list, MPI_Comm comm, MPI_Info info) {
#ifdef H5_HAVE_SUBFILING_VFD
    int level = 0;
    mpi::check(MPI_Query_thread(&level), "open");
    if (level < MPI_THREAD_MULTIPLE)
        throw CallFailed("open", "HDF5's subfiling needs an MPI with MPI_THREAD_MULTIPLE");
    if (H5Pset_mpi_params(list.get(), comm, info) < 0 || H5Pset_fapl_subfiling(list.get(), nullptr) < 0)
        fail("open");
#else
    (void)list, (void)comm, (void)info;
    throw CallFailed("open", "subfiling is not in this HDF5");
#endif
}

}  // namespace wa::h5
