// Checks settings of HDF5 as the library reports them, since some leave no trace in a file.
#include <doctest/doctest.h>

#include "io/hdf5.hpp"
#include "io/hdf5_features.hpp"
#include "io/hdf5_lists.hpp"

using namespace wa;

namespace {

h5::FileOptions with(const Hdf5Settings& settings) {
    h5::FileOptions options;
    options.settings = settings;
    return options;
}

}  // namespace

TEST_CASE("settings reach the list with which a file is opened") {
    Hdf5Settings settings;
    settings.alignment = 65536;
    settings.threshold = 1000;
    settings.metadata_block = 1048576;
    settings.sieve_buffer = 4194304;
    settings.collective_metadata = true;
    settings.libver = LibraryBounds::v18;
    const h5::Local list = h5::access_list(with(settings));
    hsize_t threshold = 0;
    hsize_t alignment = 0;
    hsize_t block = 0;
    std::size_t sieve = 0;
    hbool_t reads = false;
    hbool_t writes = false;
    H5F_libver_t low = H5F_LIBVER_EARLIEST;
    H5F_libver_t high = H5F_LIBVER_EARLIEST;
    REQUIRE(H5Pget_alignment(list.get(), &threshold, &alignment) >= 0);
    REQUIRE(H5Pget_meta_block_size(list.get(), &block) >= 0);
    REQUIRE(H5Pget_sieve_buf_size(list.get(), &sieve) >= 0);
    REQUIRE(H5Pget_all_coll_metadata_ops(list.get(), &reads) >= 0);
    REQUIRE(H5Pget_coll_metadata_write(list.get(), &writes) >= 0);
    REQUIRE(H5Pget_libver_bounds(list.get(), &low, &high) >= 0);
    CHECK(alignment == 65536);
    CHECK(threshold == 1000);
    CHECK(block == 1048576);
    CHECK(sieve == 4194304);
    CHECK(reads);
    CHECK(writes);
    CHECK(low == H5F_LIBVER_V18);
    CHECK(high == H5F_LIBVER_LATEST);
}

TEST_CASE("metadata is not read collectively by ranks that work alone") {
    Hdf5Settings settings;
    settings.collective_metadata = true;
    h5::FileOptions options = with(settings);
    options.reads_together = false;
    const h5::Local list = h5::access_list(options);
    hbool_t reads = true;
    hbool_t writes = false;
    REQUIRE(H5Pget_all_coll_metadata_ops(list.get(), &reads) >= 0);
    REQUIRE(H5Pget_coll_metadata_write(list.get(), &writes) >= 0);
    CHECK(!reads);
    CHECK(writes);
}

TEST_CASE("collective and individual I/O below HDF5") {
    for (const bool individual : {false, true}) {
        const h5::Local list = h5::transfer_list(true, individual);
        H5FD_mpio_xfer_t kind = H5FD_MPIO_INDEPENDENT;
        REQUIRE(H5Pget_dxpl_mpio(list.get(), &kind) >= 0);
        CHECK(kind == H5FD_MPIO_COLLECTIVE);
    }
}

TEST_CASE("unset properties keep the library's default") {
    const h5::Local list = h5::access_list(with({}));
    const h5::Local own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    hsize_t blocks[2] = {0, 1};
    std::size_t sieves[2] = {0, 1};
    REQUIRE(H5Pget_meta_block_size(list.get(), &blocks[0]) >= 0);
    REQUIRE(H5Pget_meta_block_size(own.get(), &blocks[1]) >= 0);
    REQUIRE(H5Pget_sieve_buf_size(list.get(), &sieves[0]) >= 0);
    REQUIRE(H5Pget_sieve_buf_size(own.get(), &sieves[1]) >= 0);
    CHECK(blocks[0] == blocks[1]);
    CHECK(sieves[0] == sieves[1]);
    const h5::Local made = h5::creation_list(with({}));
    const h5::Local own_made(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    CHECK(H5Pequal(made.get(), own_made.get()) > 0);
}

TEST_CASE("the members of a compound are adjacent") {
    const h5::Local type = h5::compound_type(72, 9);
    CHECK(H5Tget_class(type.get()) == H5T_COMPOUND);
    CHECK(H5Tget_size(type.get()) == 72);
    REQUIRE(H5Tget_nmembers(type.get()) == 9);
    for (unsigned m = 0; m < 9; ++m) {
        CHECK(H5Tget_member_offset(type.get(), m) == 8 * m);
        const h5::Local member(H5Tget_member_type(type.get(), m), H5Tclose);
        CHECK(H5Tequal(member.get(), H5T_NATIVE_DOUBLE) > 0);
    }
}

TEST_CASE("features are those of the linked library") {
    const h5::Features features = h5::features();
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    REQUIRE(H5get_libversion(&major, &minor, &release) >= 0);
    CHECK(features.version.starts_with(std::to_string(major) + "." + std::to_string(minor) + "."));
    CHECK(features.multi == (major > 1 || minor >= 14));
}
