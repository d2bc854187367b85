/* Chombo's result: a shared HDF5 file in which the boxes of a level lie one after the other in one dataset,
   dealt out to the ranks in turn; each rank also has a log of its own. As found: a rank writes each of its
   boxes independently. As advised: a rank writes all of its boxes in one collective call.
   SPDX-License-Identifier: BSD-3-Clause */
#include "hdf5_shared.h"

enum { LEVELS = 3, BOXES = 400, CELLS = 16 * 16 * 16, COMPONENTS = 1 };

static double boxes[BOXES][CELLS];

static void write_boxes(hid_t set, hid_t transfer) {
    hsize_t box = (hsize_t)CELLS * COMPONENTS, all = box * BOXES;
    hsize_t first = box * (hsize_t)rank, stride = box * (hsize_t)ranks, number = BOXES;
    if (!advised) {
        for (hsize_t i = 0; i < BOXES; ++i) {
            write_rows(set, first + i * stride, box, H5T_NATIVE_DOUBLE, transfer, boxes[i]);
        }
        return;
    }
    hid_t space = H5Dget_space(set), memory = H5Screate_simple(1, &all, NULL);
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, &stride, &number, &box));
    CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, boxes));
    H5Sclose(memory);
    H5Sclose(space);
}

/* Where each box lies in the index space, and where its data begin; rank 0 knows it of all. */
static void write_layout(hid_t level, hid_t transfer) {
    static int corners[6 * BOXES * 64];
    hsize_t sizes[2] = {(hsize_t)BOXES * (hsize_t)ranks, 6};
    hid_t set = create_set(level, "boxes", H5T_NATIVE_INT, 2, sizes);
    if (rank == 0) write_rows(set, 0, sizes[0], H5T_NATIVE_INT, transfer, corners);
    CHECK(H5Dclose(set));
}

int main(int count, char** arguments) {
    start(&count, &arguments);
    char name[40];
    snprintf(name, sizeof name, "pout.%d", rank);
    FILE* log = fopen(name, "w");
    if (log == NULL || ranks > 64) MPI_Abort(MPI_COMM_WORLD, 1);
    hid_t file = create_shared("plot000100.3d.hdf5");
    hid_t independent = transfer_of(H5FD_MPIO_INDEPENDENT);
    hid_t transfer = transfer_of(advised ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    for (int i = 0; i < LEVELS; ++i) {
        compute(&boxes[0][0], sizeof boxes / sizeof(double));
        fprintf(log, "level %d: %d boxes of this rank\n", i, BOXES);
        snprintf(name, sizeof name, "level_%d", i);
        hid_t level = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        CHECK(level);
        write_layout(level, independent);
        hsize_t size = (hsize_t)CELLS * COMPONENTS * BOXES * (hsize_t)ranks;
        hid_t set = create_set(level, "data:datatype=0", H5T_NATIVE_DOUBLE, 1, &size);
        write_boxes(set, transfer);
        CHECK(H5Dclose(set));
        CHECK(H5Gclose(level));
    }
    H5Pclose(transfer);
    H5Pclose(independent);
    CHECK(H5Fclose(file));
    fclose(log);
    MPI_Finalize();
    return 0;
}
