/* A shared HDF5 file, written by all ranks.
   SPDX-License-Identifier: BSD-3-Clause */
#ifndef ECP_HDF5_SHARED_H
#define ECP_HDF5_SHARED_H

#include <hdf5.h>

#include "common.h"

/* As advised, the library writes its metadata in large blocks, from one rank. */
static hid_t create_shared(const char* name) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    CHECK(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    if (advised) {
        CHECK(H5Pset_coll_metadata_write(access, 1));
        CHECK(H5Pset_meta_block_size(access, 1 << 20));
    }
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    CHECK(file);
    H5Pclose(access);
    return file;
}

static hid_t create_set(hid_t place, const char* name, hid_t type, int dimensions, const hsize_t* sizes) {
    hid_t space = H5Screate_simple(dimensions, sizes, NULL);
    hid_t set = H5Dcreate2(place, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(set);
    H5Sclose(space);
    return set;
}

static hid_t transfer_of(H5FD_mpio_xfer_t kind) {
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    CHECK(H5Pset_dxpl_mpio(transfer, kind));
    return transfer;
}

/* The part [first, first + count) of the first dimension. */
static void write_rows(hid_t set, hsize_t first, hsize_t count, hid_t type, hid_t transfer,
                       const void* data) {
    hsize_t start[4] = {first}, sizes[4] = {0};
    hid_t space = H5Dget_space(set);
    int dimensions = H5Sget_simple_extent_dims(space, sizes, NULL);
    sizes[0] = count;
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, sizes, NULL));
    hid_t memory = H5Screate_simple(dimensions, sizes, NULL);
    CHECK(H5Dwrite(set, type, memory, space, transfer, data));
    H5Sclose(memory);
    H5Sclose(space);
}

#endif
