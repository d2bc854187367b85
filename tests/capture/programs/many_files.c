/* Many files, as many as argument 1 says, each used a little and differently. With -DWITH_MPI, -DWITH_HDF5 or
   -DWITH_PNETCDF by that library on all ranks, otherwise by POSIX and STDIO; then a child of a fork writes, or, with
   a second argument, the process is killed. */
#if defined WITH_MPI || defined WITH_HDF5 || defined WITH_PNETCDF
#include <mpi.h>
#endif
#ifdef WITH_HDF5
#include <hdf5.h>
#endif
#ifdef WITH_PNETCDF
#include <pnetcdf.h>
#endif
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char memory[4096];
static char name[64], other[64];

static void need(int done) {
    if (!done) abort();
}

#ifdef WITH_MPI
static void use(int i, int rank) {
    MPI_File file;
    snprintf(name, sizeof name, "mpi.%d", i);
    need(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_write_at(file, 100 * rank, memory, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_write_at_all(file, 1000 + i % 7 * rank, memory, i % 7, MPI_BYTE, MPI_STATUS_IGNORE);
    if (i % 3 == 0) MPI_File_sync(file);
    MPI_File_read_at(file, 100 * rank, memory, 50, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}
#elif defined WITH_HDF5
static void use(int i, int rank) {
    const hsize_t lengths[3] = {1 + i % 3, 4, 1 + i % 5}, two = 2;
    snprintf(name, sizeof name, "hdf5.%d.%d", rank, i);
    const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1 + i % 3, lengths, NULL);
    const hid_t type = i % 2 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT;
    const hid_t wide = H5Dcreate2(file, "wide", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t narrow_space = H5Screate_simple(1, &two, NULL);
    const hid_t narrow =
        H5Dcreate2(file, "narrow", H5T_NATIVE_CHAR, narrow_space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    need(H5Dwrite(wide, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory) >= 0);
    need(H5Dwrite(narrow, H5T_NATIVE_CHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory) >= 0);
    need(H5Dread(wide, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory) >= 0);
    H5Dclose(narrow);
    H5Sclose(narrow_space);
    H5Dclose(wide);
    H5Sclose(space);
    H5Fclose(file);
}
#elif defined WITH_PNETCDF
static void use(int i, int rank) {
    int file, dimensions[3], variable[2];
    const MPI_Offset start[3] = {0}, count[3] = {1, 1, 1};
    snprintf(name, sizeof name, "pnetcdf.%d", i);
    need(ncmpi_create(MPI_COMM_WORLD, name, NC_CLOBBER, MPI_INFO_NULL, &file) == NC_NOERR);
    for (int d = 0; d < 3; ++d) {
        snprintf(other, sizeof other, "d%d", d);
        ncmpi_def_dim(file, other, 2 + (i + d) % 4, &dimensions[d]);
    }
    ncmpi_def_var(file, "narrow", NC_SHORT, 1, dimensions, &variable[0]);
    ncmpi_def_var(file, "wide", NC_DOUBLE, 3, dimensions, &variable[1]);
    ncmpi_enddef(file);
    need(ncmpi_put_var_double_all(file, variable[1], (double*)memory) == NC_NOERR);
    need(ncmpi_put_var_short_all(file, variable[0], (short*)memory) == NC_NOERR);
    need(ncmpi_get_vara_double_all(file, variable[1], start, count, (double*)memory) == NC_NOERR);
    need(ncmpi_get_vara_short_all(file, variable[0], start, count, (short*)memory) == NC_NOERR);
    need(ncmpi_close(file) == NC_NOERR);
    (void)rank;
}
#else
static int last;

static void use(int i, int rank) {
    struct stat status;
    snprintf(name, sizeof name, "posix.%d", i);
    if (last) close(last);
    last = open(name, O_CREAT | O_RDWR, 0600);
    need(write(last, memory, 1000) == 1000 && pwrite(last, memory, i % 9, 5000) == i % 9);
    need(lseek(last, 0, SEEK_SET) == 0 && read(last, memory, 30) == 30 && fsync(last) == 0);
    need(stat(name, &status) == 0);
    snprintf(name, sizeof name, "stdio.%d", i);
    FILE* stream = fopen(name, "w+");
    need(fwrite(memory, 1, 100 + i % 9, stream) == (size_t)(100 + i % 9) && fflush(stream) == 0);
    if (i % 2) need(write(fileno(stream), memory, 10) == 10);
    fclose(stream);
    snprintf(name, sizeof name, "both.%d", i);
    stream = fdopen(open(name, O_CREAT | O_WRONLY, 0600), "w");
    need(fputs("seven..", stream) >= 0);
    fclose(stream);
    snprintf(other, sizeof other, "renamed.%d", i);
    need(rename(name, other) == 0);
    (void)rank;
}

static void use_in_child(void) {
    const pid_t child = fork();
    if (!child) {
        need(write(last, memory, 77) == 77);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}
#endif

int main(int count, char** arguments) {
    const int files = count > 1 ? atoi(arguments[1]) : 1;
    int rank = 0;
#ifdef MPI_VERSION
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    for (int i = 0; i < files; ++i) use(i, rank);
#ifdef MPI_VERSION
    MPI_Finalize();
#else
    if (count > 2) raise(SIGKILL);
    use_in_child();
#endif
    return 0;
}
