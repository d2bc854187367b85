"""HDF5 of several ranks through MPI-IO, in C."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import hdf5

BEGIN = """
        static hid_t made(const char *path, int existing)
        {
            hid_t access = H5Pcreate(H5P_FILE_ACCESS);
            H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
            hid_t file = existing ? H5Fopen(path, H5F_ACC_RDWR, access)
                                  : H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
            H5Pclose(access);
            return NEED(file);
        }

        static hid_t transfer(int collective)
        {
            hid_t list = H5Pcreate(H5P_DATASET_XFER);
            H5Pset_dxpl_mpio(list, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
            return list;
        }
"""


@kind("hdf5")
def fields_together(rng: random.Random) -> Program:
    """Each state is a file of several 2D fields; ranks write bands of rows, together or each for itself."""
    return hdf5(
        rng,
        BEGIN
        + """
        static void run(void)
        {
            hsize_t mine[2] = {(hsize_t)get("rows"), (hsize_t)get("columns")}, start[2] = {rank * mine[0], 0};
            hsize_t whole[2] = {mine[0] * ranks, mine[1]};
            double *data = (double *)block((long)(mine[0] * mine[1] * 8));
            hid_t list = transfer((int)get("collective"));
            for (long state = 0; state < get("states"); state++) {
                hid_t file = made(name("state-%ld.h5", state), 0);
                hid_t space = H5Screate_simple(2, whole, 0), memory = H5Screate_simple(2, mine, 0);
                H5Sselect_hyperslab(space, H5S_SELECT_SET, start, 0, mine, 0);
                for (long i = 0; i < get("fields"); i++) {
                    hid_t field = NEED(H5Dcreate(file, name("field%ld", i), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                        H5P_DEFAULT, H5P_DEFAULT));
                    NEED(H5Dwrite(field, H5T_NATIVE_DOUBLE, memory, space, list, data));
                    H5Dclose(field);
                }
                H5Sclose(space);
                H5Sclose(memory);
                NEED(H5Fclose(file));
                compute(20);
            }
        }
        """,
        rows=rng.randint(1, 60),
        columns=rng.randint(10, 1500),
        fields=rng.randint(1, 8),
        states=rng.randint(1, 5),
        collective=rng.randint(0, 1),
    )


@kind("hdf5")
def chunked_growth(rng: random.Random) -> Program:
    """A chunked dataset with an unlimited dimension is extended by a step at a time, flushed if asked for."""
    return hdf5(
        rng,
        BEGIN
        + """
        static void run(void)
        {
            hsize_t cells = (hsize_t)get("cells"), size[2] = {0, cells * ranks}, most[2] = {H5S_UNLIMITED, cells * ranks};
            hsize_t chunk[2] = {(hsize_t)get("chunk"), cells}, one[2] = {1, cells};
            float *data = (float *)block((long)(cells * 4));
            hid_t file = made("series.h5", 0), list = transfer(1), layout = H5Pcreate(H5P_DATASET_CREATE);
            hid_t space = H5Screate_simple(2, size, most), memory = H5Screate_simple(2, one, 0);
            H5Pset_chunk(layout, 2, chunk);
            hid_t set = NEED(H5Dcreate(file, "series", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, layout, H5P_DEFAULT));
            for (hsize_t step = 0; step < (hsize_t)get("steps"); step++) {
                hsize_t start[2] = {step, rank * cells};
                size[0] = step + 1;
                NEED(H5Dset_extent(set, size));
                hid_t now = H5Dget_space(set);
                H5Sselect_hyperslab(now, H5S_SELECT_SET, start, 0, one, 0);
                NEED(H5Dwrite(set, H5T_NATIVE_FLOAT, memory, now, list, data));
                H5Sclose(now);
                if (get("flush"))
                    NEED(H5Fflush(file, H5F_SCOPE_GLOBAL));
                compute(10);
            }
            H5Dclose(set);
            NEED(H5Fclose(file));
        }
        """,
        cells=rng.randint(10, 8000),
        chunk=rng.randint(1, 8),
        steps=rng.randint(2, 20),
        flush=rng.randint(0, 1),
    )


@kind("hdf5")
def strided_hyperslabs(rng: random.Random) -> Program:
    """Particles of several properties: each rank writes every n-th element, then reads its neighbour's back."""
    return hdf5(
        rng,
        BEGIN
        + """
        static void run(void)
        {
            hsize_t count = (hsize_t)get("count"), whole = count * ranks, stride = (hsize_t)ranks, start = (hsize_t)rank;
            long *data = (long *)block((long)count * 8);
            hid_t file = made("particles.h5", 0), list = transfer((int)get("collective"));
            hid_t space = H5Screate_simple(1, &whole, 0), memory = H5Screate_simple(1, &count, 0);
            for (long i = 0; i < get("properties"); i++) {
                hid_t set = NEED(H5Dcreate(file, name("p%ld", i), H5T_NATIVE_LONG, space, H5P_DEFAULT, H5P_DEFAULT,
                    H5P_DEFAULT));
                if (get("strided")) {
                    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, 0);
                } else {
                    hsize_t place = count * rank;
                    H5Sselect_hyperslab(space, H5S_SELECT_SET, &place, 0, &count, 0);
                }
                NEED(H5Dwrite(set, H5T_NATIVE_LONG, memory, space, list, data));
                hid_t unit = NEED(H5Acreate(set, "unit", H5T_NATIVE_LONG, H5Screate(H5S_SCALAR), H5P_DEFAULT,
                    H5P_DEFAULT));
                NEED(H5Awrite(unit, H5T_NATIVE_LONG, data));
                H5Aclose(unit);
                if (get("back"))
                    NEED(H5Dread(set, H5T_NATIVE_LONG, memory, space, list, data));
                H5Dclose(set);
            }
            NEED(H5Fclose(file));
        }
        """,
        count=rng.randint(50, 3000),
        properties=rng.randint(1, 7),
        strided=rng.randint(0, 1),
        collective=1,
        back=rng.randint(0, 1),
    )


@kind("hdf5")
def unequal_parts(rng: random.Random) -> Program:
    """Adaptive meshes: ranks own different numbers of cells, written one by one into groups of levels."""
    return hdf5(
        rng,
        BEGIN
        + """
        static void run(void)
        {
            hid_t file = made("mesh.h5", 0), list = transfer(0);
            for (long level = 0; level < get("levels"); level++) {
                hsize_t mine = (hsize_t)(get("cells") * (1 + (rank + level) % 3)), whole = 0, start = 0;
                MPI_Allreduce(&mine, &whole, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
                MPI_Exscan(&mine, &start, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
                if (!rank)
                    start = 0;
                double *data = (double *)block((long)mine * 8);
                hid_t group = NEED(H5Gcreate(file, name("level%ld", level), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
                hid_t space = H5Screate_simple(1, &whole, 0), memory = H5Screate_simple(1, &mine, 0);
                hid_t set = NEED(H5Dcreate(group, "cells", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                    H5P_DEFAULT));
                H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, 0, &mine, 0);
                NEED(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, list, data));
                H5Dclose(set);
                H5Gclose(group);
                free(data);
            }
            NEED(H5Fclose(file));
            if (get("again")) {
                file = made("mesh.h5", 1);
                hid_t set = NEED(H5Dopen(file, "level0/cells", H5P_DEFAULT));
                double *data = (double *)block(get("cells") * 9 * 4 * 8);
                NEED(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, list, data));
                H5Dclose(set);
                NEED(H5Fclose(file));
            }
        }
        """,
        cells=rng.randint(10, 20_000),
        levels=rng.randint(1, 6),
        again=rng.randint(0, 1),
    )


@kind("hdf5")
def file_of_each_rank(rng: random.Random) -> Program:
    """Each rank has an HDF5 file of its own through the default driver, with many small datasets."""
    return hdf5(
        rng,
        """
        static void run(void)
        {
            hsize_t size = (hsize_t)get("size");
            int *data = (int *)block((long)size * 4);
            for (long dump = 0; dump < get("dumps"); dump++) {
                hid_t file = NEED(H5Fcreate(name("part-%ld-%d.h5", dump, rank), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
                hid_t space = H5Screate_simple(1, &size, 0);
                for (long i = 0; i < get("sets"); i++) {
                    hid_t set = NEED(H5Dcreate(file, name("d%ld", i), H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT,
                        H5P_DEFAULT));
                    NEED(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
                    H5Dclose(set);
                }
                H5Sclose(space);
                NEED(H5Fclose(file));
                compute(20);
            }
        }
        """,
        size=rng.choice([10, 1000, 30_000]),
        sets=rng.randint(1, 30),
        dumps=rng.randint(1, 4),
    )
