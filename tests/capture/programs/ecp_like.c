/* What five applications of the ECP I/O study do wrong, small: see test_ecp_applications.py.
   usage: ecp_like flash|nwchem|chombo|qmcpack|hacc|hacc_aligned */
#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
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

/* FLASH: attributes are created, opened and closed at every checkpoint; the metadata is written in small
 * pieces. */
static void flash(void) {
    enum { STEPS = 15, BLOCKS = 60, COUNT = 1 << 17 };
    char name[32];
    hid_t scalar = H5Screate(H5S_SCALAR), transfer = H5Pcreate(H5P_DATASET_XFER);
    must(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
    for (int step = 0; step < STEPS; ++step) {
        snprintf(name, sizeof name, "flash_chk_%04d", step);
        hid_t file = create_shared(name);
        hid_t set = create_set(file, "unknown", (hsize_t)COUNT * (hsize_t)ranks);
        write_part(set, (hsize_t)rank * COUNT, COUNT, transfer);
        must(H5Dclose(set));
        for (int i = 0; i < BLOCKS; ++i) {
            snprintf(name, sizeof name, "block_%d", i);
            hid_t block = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            hid_t made = H5Acreate2(block, "minimum", H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT);
            must(H5Awrite(made, H5T_NATIVE_DOUBLE, data));
            must(H5Aclose(made));
            made = H5Aopen(block, "minimum", H5P_DEFAULT);
            must(H5Aclose(made));
            H5Gclose(block);
        }
        must(H5Fclose(file));
    }
}

/* NWChem: a scratch file for each process; a database that rank 0 writes while the others read it. */
static void nwchem(void) {
    enum { FILES = 20, PARTS = 4 };
    char name[64];
    for (int i = 0; i < FILES; ++i) {
        snprintf(name, sizeof name, "scratch/aoints.%d.%d", i, rank);
        int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
        must(fd);
        for (int part = 0; part < PARTS; ++part) must(write(fd, data, sizeof data));
        must(close(fd));
        must(unlink(name));
    }
    int fd = open("molecule.db", O_CREAT | O_RDWR, 0600);
    must(fd);
    for (int i = 0; i < 4; ++i) {
        if (rank == 0) must(pwrite(fd, data, 4096, 4096L * i));
        MPI_Barrier(MPI_COMM_WORLD);
        must(pread(fd, data, 4096, 4096L * i));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    must(close(fd));
}

/* Chombo: a shared HDF5 file whose boxes each rank writes independently. */
static void chombo(void) {
    enum { BOXES = 1500, BOX = 512 };
    hid_t file = create_shared("plot.hdf5");
    hid_t set = create_set(file, "data", (hsize_t)BOXES * BOX * (hsize_t)ranks);
    for (int i = 0; i < BOXES; ++i) {
        write_part(set, ((hsize_t)i * (hsize_t)ranks + (hsize_t)rank) * BOX, BOX, H5P_DEFAULT);
    }
    must(H5Dclose(set));
    must(H5Fclose(file));
}

/* QMCPACK: one checkpoint file, written anew in place at the end of each section. */
static void qmcpack(void) {
    enum { SECTIONS = 5, PARTS = 8 };
    for (int section = 0; section < SECTIONS; ++section) {
        usleep(100000);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank) continue;
        int fd = open("qmc.checkpoint", O_CREAT | O_WRONLY, 0600);
        must(fd);
        for (int i = 0; i < PARTS; ++i) must(write(fd, data, sizeof data));
        must(close(fd));
    }
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

/* The same with what the study advises. */
static void hacc_aligned(void) {
    aligned = 1;
    hacc();
}

int main(int count, char** arguments) {
    static const struct {
        const char* name;
        void (*run)(void);
    } all[] = {
        {"flash", flash},     {"nwchem", nwchem}, {"chombo", chombo},
               {"qmcpack", qmcpack}, {"hacc", hacc},     {"hacc_aligned", hacc_aligned}};
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        if (!strcmp(all[i].name, arguments[1])) all[i].run();
    }
    MPI_Finalize();
    return 0;
}
