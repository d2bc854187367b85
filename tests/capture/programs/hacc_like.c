/* HACC-IO's kernel HDF5 Individual, small: see test_ecp_applications.py.
   usage: hacc_like default|aligned */
#include <hdf5.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks, aligned;
static double data[1 << 17]; /* 1 MiB */

static void must(long result) {
    if (result < 0) abort();
}

static hid_t create_shared(const char* name) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    must(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    if (aligned) must(H5Pset_alignment(access, sizeof data, sizeof data));
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    must(file);
    H5Pclose(access);
    return file;
}

/* `count` elements of this rank, from `start` on, of a dataset in one dimension. */
static void write_part(hid_t set, hsize_t start, hsize_t count, hid_t transfer) {
    hid_t space = H5Dget_space(set), inside = H5Screate_simple(1, &count, NULL);
    must(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL));
    must(H5Dwrite(set, H5T_NATIVE_DOUBLE, inside, space, transfer, data));
    H5Sclose(inside);
    H5Sclose(space);
}

static hid_t create_set(hid_t file, const char* name, hsize_t count) {
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    must(set);
    H5Sclose(space);
    return set;
}

/* HACC-IO, HDF5 Individual: nine variables; the header moves each block off its boundary. */
static void hacc(void) {
    enum { VARIABLES = 9, COUNT = 1 << 17 };
    static const char* const names[VARIABLES] = {"xx", "yy", "zz", "vx", "vy", "vz", "phi", "pid", "mask"};
    hid_t file = create_shared("particles.h5");
    for (int i = 0; i < VARIABLES; ++i) {
        hid_t set = create_set(file, names[i], (hsize_t)COUNT * (hsize_t)ranks);
        write_part(set, (hsize_t)rank * COUNT, COUNT, H5P_DEFAULT);
        must(H5Dclose(set));
    }
    must(H5Fclose(file));
}

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    aligned = count == 2 && !strcmp(arguments[1], "aligned");
    hacc();
    usleep(100000); /* a shorter run is too short to weigh anything */
    MPI_Finalize();
    return 0;
}
