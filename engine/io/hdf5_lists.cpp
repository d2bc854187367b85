#include "io/hdf5_lists.hpp"

#include "io/hdf5_features.hpp"

namespace wa::h5 {
namespace {

void set(herr_t code) {
    if (code < 0) fail("open");
}

class Info {
  public:
    explicit Info(const mpi::Hints* hints) {
        if (hints == nullptr || hints->empty()) return;
        mpi::check(MPI_Info_create(&info_), "open");
        for (const auto& [key, value] : *hints)
            mpi::check(MPI_Info_set(info_, key.c_str(), value.c_str()), "open");
    }
    ~Info() {
        if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
    }
    Info(const Info&) = delete;
    Info& operator=(const Info&) = delete;
    Info(Info&&) = delete;
    Info& operator=(Info&&) = delete;
    [[nodiscard]] MPI_Info get() const { return info_; }

  private:
    MPI_Info info_ = MPI_INFO_NULL;
};

H5F_libver_t bound_of(LibraryBounds bounds) {
    switch (bounds) {
        case LibraryBounds::v18:
            return H5F_LIBVER_V18;
        case LibraryBounds::v110:  // NOLINT(bugprone-branch-clone): the newest of HDF5 1.10
            return H5F_LIBVER_V110;
        case LibraryBounds::latest:
            return H5F_LIBVER_LATEST;
        default:
            return H5F_LIBVER_EARLIEST;
    }
}

H5F_fspace_strategy_t strategy_of(FileSpace space) {
    switch (space) {
        case FileSpace::page:
            return H5F_FSPACE_STRATEGY_PAGE;
        case FileSpace::aggr:
            return H5F_FSPACE_STRATEGY_AGGR;
        case FileSpace::none:
            return H5F_FSPACE_STRATEGY_NONE;
        default:
            return H5F_FSPACE_STRATEGY_FSM_AGGR;
    }
}

}  // namespace

Local access_list(const FileOptions& options) {
    Local list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    if (list.get() < 0) fail("open");
    const Info info(options.hints);
    const Hdf5Settings& s = options.settings;
    if (s.subfiling) {
        set_subfiling(list, options.comm, info.get());
    } else if (s.driver == FileDriver::serial) {
        set(H5Pset_fapl_sec2(list.get()));
    } else {
        set(H5Pset_fapl_mpio(list.get(), options.comm, info.get()));
    }
    if (s.alignment > 0) {
        set(H5Pset_alignment(list.get(), static_cast<hsize_t>(s.threshold),
                             static_cast<hsize_t>(s.alignment)));
    }
    if (s.metadata_block) set(H5Pset_meta_block_size(list.get(), static_cast<hsize_t>(*s.metadata_block)));
    if (s.sieve_buffer) set(H5Pset_sieve_buf_size(list.get(), static_cast<std::size_t>(*s.sieve_buffer)));
    if (s.collective_metadata) {
        set(H5Pset_all_coll_metadata_ops(list.get(), options.reads_together));
        set(H5Pset_coll_metadata_write(list.get(), true));
    }
    if (options.bounds != Bounds::library_default) {
        const H5F_libver_t version = options.bounds == Bounds::v18 ? H5F_LIBVER_V18 : H5F_LIBVER_LATEST;
        set(H5Pset_libver_bounds(list.get(), version, version));
    } else if (s.libver != LibraryBounds::earliest) {
        set(H5Pset_libver_bounds(list.get(), bound_of(s.libver), H5F_LIBVER_LATEST));
    }
    return list;
}

Local creation_list(const FileOptions& options) {
    Local list(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    if (list.get() < 0) fail("open");
    const Hdf5Settings& s = options.settings;
    if (s.file_space == FileSpace::standard) return list;
    // The library's defaults: free space is not kept after the close, and sections of any size count.
    set(H5Pset_file_space_strategy(list.get(), strategy_of(s.file_space), false, 1));
    if (s.page_bytes) set(H5Pset_file_space_page_size(list.get(), static_cast<hsize_t>(*s.page_bytes)));
    return list;
}

void add_filters(const Local& list, const Hdf5Settings& settings) {
    if (settings.shuffle && H5Pset_shuffle(list.get()) < 0) fail("create dataset");
    if (settings.deflate > 0 && H5Pset_deflate(list.get(), static_cast<unsigned>(settings.deflate)) < 0)
        fail("create dataset");
}

}  // namespace wa::h5
