/* Known HDF5 operations, parallel when compiled with -DPARALLEL; test_hdf5.py has the expected counters. */
#ifdef PARALLEL
#include <mpi.h>
#endif
#include <hdf5.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static double memory[4096];

static void must(long result) {
    if (result < 0) abort();
}

int main(int argument_count, char** arguments) {
    int rank = 0, ranks = 1;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
#ifdef PARALLEL
    MPI_Init(&argument_count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
#else
    (void)argument_count;
    (void)arguments;
#endif
    hid_t file = H5Fcreate("data.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t group = H5Gcreate2(file, "/step", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

    /* Each rank writes a plane of 8 x 16 doubles of a dataset in a group, in two halves. */
    hsize_t extent[3] = {(hsize_t)ranks, 8, 16}, chunk[3] = {1, 4, 16};
    hid_t space = H5Screate_simple(3, extent, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 3, chunk);
    hid_t set = H5Dcreate2(group, "field", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    for (hsize_t half = 0; half < 2; ++half) {
        hsize_t start[3] = {(hsize_t)rank, half * 4, 0}, count[3] = {1, 4, 16}, here[1] = {64};
        hid_t inside = H5Screate_simple(1, here, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
        must(H5Dwrite(set, H5T_NATIVE_DOUBLE, inside, space, transfer, memory));
        H5Sclose(inside);
    }
    must(H5Fflush(file, H5F_SCOPE_GLOBAL));
    must(H5Dclose(set));

    /* A small dataset is read back as a whole and by points. */
    hsize_t line[1] = {10};
    hid_t small = H5Screate_simple(1, line, NULL);
    set = H5Dcreate2(file, "/line", H5T_NATIVE_INT, small, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    must(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory));
    must(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory));
    hsize_t points[3] = {1, 4, 7}, three[1] = {3};
    hid_t few = H5Screate_simple(1, three, NULL);
    H5Sselect_elements(small, H5S_SELECT_SET, 3, points);
    must(H5Dread(set, H5T_NATIVE_INT, few, small, H5P_DEFAULT, memory));
    must(H5Dclose(set));
    hid_t scalar = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(group, "time", H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT);
    must(H5Awrite(attribute, H5T_NATIVE_DOUBLE, memory));
    must(H5Aclose(attribute));
    attribute = H5Aopen(group, "time", H5P_DEFAULT);
    must(H5Aread(attribute, H5T_NATIVE_DOUBLE, memory));
    must(H5Aclose(attribute));
    H5Gclose(group);
    must(H5Fclose(file));
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (H5Fopen("missing.h5", H5F_ACC_RDONLY, H5P_DEFAULT) >= 0) abort();
#ifdef PARALLEL
    if (getenv("KILL")) kill(getpid(), SIGKILL);
    H5Pclose(access);
    MPI_Finalize();
#endif
    return 0;
}
