/* QMCPACK's checkpoints: after each section the walkers of all ranks are gathered to rank 0, which writes
   them to an HDF5 file, beside a line of averages. As found: each section overwrites the same file. As
   advised: the file is written under another name, and takes the place of the old one when it is complete.
   SPDX-License-Identifier: BSD-3-Clause */
#include <hdf5.h>

#include "common.h"

enum { SECTIONS = 6, WALKERS = 512, ELECTRONS = 256 };

static double walkers[WALKERS][ELECTRONS][3];

static void write_checkpoint(const char* name, const double* all) {
    hsize_t sizes[3] = {(hsize_t)WALKERS * (hsize_t)ranks, ELECTRONS, 3};
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(file);
    hid_t state = H5Gcreate2(file, "state_0", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(3, sizes, NULL);
    hid_t set = H5Dcreate2(state, "walkers", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all));
    H5Dclose(set);
    H5Sclose(space);
    H5Gclose(state);
    CHECK(H5Fclose(file));
}

int main(int count, char** arguments) {
    start(&count, &arguments);
    int here = (int)(sizeof walkers / sizeof(double));
    double* all = rank == 0 ? malloc(sizeof walkers * (size_t)ranks) : NULL;
    FILE* averages = rank == 0 ? fopen("he.s000.scalar.dat", "w") : NULL;
    if (rank == 0 && (all == NULL || averages == NULL)) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int section = 0; section < SECTIONS; ++section) {
        compute(&walkers[0][0][0], (size_t)here);
        MPI_Gather(walkers, here, MPI_DOUBLE, all, here, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (rank != 0) continue;
        fprintf(averages, "%d %g\n", section, all[0]);
        if (advised) {
            write_checkpoint("he.s000.config.h5.new", all);
            CHECK(rename("he.s000.config.h5.new", "he.s000.config.h5"));
        } else {
            write_checkpoint("he.s000.config.h5", all);
        }
    }
    if (averages != NULL) fclose(averages);
    free(all);
    MPI_Finalize();
    return 0;
}
