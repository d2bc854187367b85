/* FLASH's checkpoints: a shared HDF5 file for each step, with one dataset for each of 24 unknowns of the
   mesh's blocks. As found: each unknown's minimum and maximum are attributes of its dataset, created, closed,
   opened again and closed in each step. As advised: one small dataset has all of them.
   SPDX-License-Identifier: BSD-3-Clause */
#include "hdf5_shared.h"

enum { STEPS = 12, UNKNOWNS = 24, BLOCKS = 40, CELLS = 8 };

static double block_data[BLOCKS][CELLS][CELLS][CELLS];

static void set_attribute(hid_t set, const char* name, double value) {
    hid_t scalar = H5Screate(H5S_SCALAR);
    hid_t made = H5Acreate2(set, name, H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Aclose(made));
    made = H5Aopen(set, name, H5P_DEFAULT);
    CHECK(H5Awrite(made, H5T_NATIVE_DOUBLE, &value));
    CHECK(H5Aclose(made));
    H5Sclose(scalar);
}

/* What of the mesh each block has: its level, its neighbours, its place. */
static void write_mesh(hid_t file, hsize_t all, hsize_t mine, hid_t transfer) {
    static const struct {
        const char* name;
        hsize_t columns;
    } parts[] = {{"refine level", 1}, {"node type", 1}, {"gid", 15}, {"coordinates", 3}, {"block size", 3}};
    static double rows[BLOCKS * 15];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        hsize_t sizes[2] = {all, parts[i].columns};
        hid_t set = create_set(file, parts[i].name, H5T_NATIVE_DOUBLE, 2, sizes);
        write_rows(set, mine, BLOCKS, H5T_NATIVE_DOUBLE, transfer, rows);
        CHECK(H5Dclose(set));
    }
}

static void write_checkpoint(int step) {
    char name[40];
    snprintf(name, sizeof name, "flash_hdf5_chk_%04d", step);
    hid_t file = create_shared(name), transfer = transfer_of(H5FD_MPIO_COLLECTIVE);
    hsize_t all = (hsize_t)BLOCKS * (hsize_t)ranks, mine = (hsize_t)BLOCKS * (hsize_t)rank;
    write_mesh(file, all, mine, transfer);
    for (int i = 0; i < UNKNOWNS; ++i) {
        hsize_t sizes[4] = {all, CELLS, CELLS, CELLS};
        snprintf(name, sizeof name, "un%02d", i);
        hid_t set = create_set(file, name, H5T_NATIVE_DOUBLE, 4, sizes);
        write_rows(set, mine, BLOCKS, H5T_NATIVE_DOUBLE, transfer, block_data);
        if (!advised) {
            set_attribute(set, "minimum", -1.0);
            set_attribute(set, "maximum", 1.0);
        }
        CHECK(H5Dclose(set));
    }
    if (advised) {
        static double limits[UNKNOWNS][2];
        hsize_t sizes[2] = {UNKNOWNS, 2};
        hid_t set = create_set(file, "limits of unknowns", H5T_NATIVE_DOUBLE, 2, sizes);
        write_rows(set, 0, rank == 0 ? UNKNOWNS : 0, H5T_NATIVE_DOUBLE, transfer, limits);
        CHECK(H5Dclose(set));
    }
    H5Pclose(transfer);
    CHECK(H5Fclose(file));
}

int main(int count, char** arguments) {
    start(&count, &arguments);
    for (int step = 0; step < STEPS; ++step) {
        compute(&block_data[0][0][0][0], sizeof block_data / sizeof(double));
        write_checkpoint(step);
    }
    MPI_Finalize();
    return 0;
}
