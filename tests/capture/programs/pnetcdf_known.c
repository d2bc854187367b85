/* Known PnetCDF operations; test_pnetcdf.py has the expected counters. */
#include <mpi.h>
#include <pnetcdf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WIDTH = 10 };

static double numbers[4096];
static int whole[4096];

static void must(int result) {
    if (result == NC_NOERR) return;
    fprintf(stderr, "%s\n", ncmpi_strerror(result));
    abort();
}

/* The blocking calls of every kind, on the variable "grid" (ranks x 10 doubles). */
static void blocking(int file, int grid, MPI_Offset rank) {
    MPI_Offset start[2] = {rank, 0}, row[2] = {1, WIDTH}, odd_columns[2] = {1, 5}, every[2] = {1, 2}, map[2] = {5, 1};
    MPI_Offset ones[2][2] = {{rank, 0}, {rank, 3}}, twos[2][2] = {{1, 2}, {1, 4}};
    MPI_Offset *starts[2] = {ones[0], ones[1]}, *counts[2] = {twos[0], twos[1]};
    must(ncmpi_put_vara_double_all(file, grid, start, row, numbers));
    must(ncmpi_put_vara_all(file, grid, start, row, numbers, WIDTH, MPI_DOUBLE));
    must(ncmpi_put_vars_double_all(file, grid, start, odd_columns, every, numbers));
    must(ncmpi_put_varm_double_all(file, grid, start, odd_columns, every, map, numbers));
    must(ncmpi_put_varn_double_all(file, grid, 2, starts, counts, numbers));
    must(ncmpi_get_vara_double_all(file, grid, start, row, numbers));
    must(ncmpi_begin_indep_data(file));
    must(ncmpi_put_var1_double(file, grid, start, numbers));
    must(ncmpi_put_vara(file, grid, start, row, numbers, WIDTH, MPI_DOUBLE));
    must(ncmpi_get_var1_double(file, grid, start, numbers));
    must(ncmpi_get_vars_float(file, grid, start, odd_columns, every, (float*)numbers));
    must(ncmpi_end_indep_data(file));
}

/* Nonblocking calls on the records of a variable that grows. */
static void later(int file, int series, MPI_Offset rank) {
    int request[3], status[3];
    MPI_Offset start[2] = {2 * rank, 0}, count[2] = {2, 4}, first[2] = {2 * rank, 1};
    must(ncmpi_iput_vara_int(file, series, start, count, whole, &request[0]));
    must(ncmpi_iput_var1_int(file, series, first, whole, &request[1]));
    must(ncmpi_wait_all(file, 2, request, status));
    must(ncmpi_buffer_attach(file, 1024));
    must(ncmpi_bput_vara_int(file, series, start, count, whole, &request[0]));
    must(ncmpi_wait_all(file, 1, request, status));
    must(ncmpi_buffer_detach(file));
    must(ncmpi_iget_vara_int(file, series, start, count, whole + 64, &request[0]));
    must(ncmpi_iget_vara(file, series, start, count, whole + 128, 8, MPI_INT, &request[1]));
    must(ncmpi_wait_all(file, 2, request, status));
}

/* Calls on two variables at once: "left" and "right", ranks x 4 floats. */
static void several(int file, int* both, MPI_Offset rank) {
    MPI_Offset start[2] = {rank, 0}, row[2] = {1, 4}, two[2] = {1, 2}, every[2] = {1, 2}, map[2] = {2, 1};
    MPI_Offset *starts[2] = {start, start}, *rows[2] = {row, two}, *twos[2] = {two, two}, *steps[2] = {every, every};
    MPI_Offset* maps[2] = {map, map};
    MPI_Offset amounts[2] = {4, 2};
    MPI_Datatype types[2] = {MPI_FLOAT, MPI_FLOAT};
    float left[64] = {0}, right[64] = {0};
    float* typed[2] = {left, right};
    void* untyped[2] = {left, right};
    must(ncmpi_mput_vara_float_all(file, 2, both, starts, rows, typed));
    must(ncmpi_mput_vara_all(file, 2, both, starts, rows, untyped, amounts, types));
    must(ncmpi_mput_vars_float_all(file, 2, both, starts, twos, steps, typed));
    must(ncmpi_mput_varm_float_all(file, 2, both, starts, twos, steps, maps, typed));
    must(ncmpi_mget_vara_float_all(file, 2, both, starts, rows, typed));
    must(ncmpi_mget_var_float_all(file, 2, both, typed));
    must(ncmpi_begin_indep_data(file));
    must(ncmpi_mput_var1_float(file, 1, both, starts, typed));
    must(ncmpi_mget_var1_float(file, 2, both, starts, typed));
    must(ncmpi_end_indep_data(file));
}

static void write_and_read(int rank, int ranks) {
    int file, dimension[3], grid, series, line, both[2];
    must(ncmpi_create(MPI_COMM_WORLD, "data.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
    must(ncmpi_def_dim(file, "rank", ranks, &dimension[0]));
    must(ncmpi_def_dim(file, "width", WIDTH, &dimension[1]));
    must(ncmpi_def_var(file, "grid", NC_DOUBLE, 2, dimension, &grid));
    must(ncmpi_def_var(file, "line", NC_SHORT, 1, &dimension[1], &line));
    must(ncmpi_enddef(file));
    must(ncmpi_redef(file));
    must(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dimension[0]));
    must(ncmpi_def_dim(file, "four", 4, &dimension[1]));
    must(ncmpi_def_var(file, "series", NC_INT, 2, dimension, &series));
    dimension[0] = 0;
    must(ncmpi_def_var(file, "left", NC_FLOAT, 2, dimension, &both[0]));
    must(ncmpi_def_var(file, "right", NC_FLOAT, 2, dimension, &both[1]));
    must(ncmpi_enddef(file));
    several(file, both, rank);
    blocking(file, grid, rank);
    later(file, series, rank);
    must(ncmpi_put_var_int_all(file, line, whole));
    must(ncmpi_get_var_int_all(file, series, whole));
    must(ncmpi_sync(file));
    if (getenv("KILL")) kill(getpid(), SIGKILL);
    must(ncmpi_close(file));
}

/* The file is opened again; one variable is asked for by name, another is used by its number. */
static void read_again(MPI_Offset rank) {
    int file, grid;
    short memory[WIDTH];
    MPI_Offset start[2] = {rank, 0}, count[2] = {1, WIDTH}, none[2] = {0, 0};
    must(ncmpi_open(MPI_COMM_WORLD, "./data.nc", NC_NOWRITE, MPI_INFO_NULL, &file));
    must(ncmpi_inq_varid(file, "grid", &grid));
    must(ncmpi_get_vara_double_all(file, grid, start, rank ? count : none, numbers));
    must(ncmpi_get_var_short_all(file, 1, memory));
    if (ncmpi_put_var_short_all(file, 1, memory) == NC_NOERR) abort();
    must(ncmpi_close(file));
    if (ncmpi_open(MPI_COMM_WORLD, "missing.nc", NC_NOWRITE, MPI_INFO_NULL, &file) == NC_NOERR) abort();
}

int main(int argument_count, char** arguments) {
    int rank, ranks;
    MPI_Init(&argument_count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    write_and_read(rank, ranks);
    read_again(rank);
    MPI_Finalize();
    return 0;
}
