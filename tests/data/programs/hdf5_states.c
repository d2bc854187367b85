/* Four states in one HDF5 file that stays open, flushed after each: two datasets of doubles, 16 x 4,096 a rank, by
   collective calls. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STATES = 4, ROWS = 16, COLUMNS = 4096, COMPUTE_US = 200000 };

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double* values = calloc(ROWS * COLUMNS, sizeof *values);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    hid_t file = H5Fcreate("states.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hsize_t whole[2] = {(hsize_t)ranks * ROWS, COLUMNS}, part[2] = {ROWS, COLUMNS}, start[2] = {(hsize_t)rank * ROWS, 0};
    for (int state = 0; state < STATES; state++) {
        usleep(COMPUTE_US);
        for (int field = 0; field < 2; field++) {
            char name[32];
            snprintf(name, sizeof name, "state%d-field%d", state, field);
            hid_t in_file = H5Screate_simple(2, whole, NULL), in_memory = H5Screate_simple(2, part, NULL);
            hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, in_file, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, part, NULL);
            if (H5Dwrite(dataset, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, values) < 0) MPI_Abort(MPI_COMM_WORLD, 1);
            H5Dclose(dataset);
            H5Sclose(in_memory);
            H5Sclose(in_file);
        }
        H5Fflush(file, H5F_SCOPE_GLOBAL);
    }
    H5Fclose(file);
    H5Pclose(transfer);
    H5Pclose(access);
    free(values);
    MPI_Finalize();
    return 0;
}
