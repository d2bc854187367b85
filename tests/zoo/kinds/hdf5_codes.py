"""HDF5 files as known codes lay them out: FLASH, VPIC and its reader, Enzo, and groups of ranks with a baton."""

from __future__ import annotations

import random

from ..program import Program, kind
from .hdf5_parallel import BEGIN
from .making import hdf5


@kind("codes")
def flash_hdf5(rng: random.Random) -> Program:
    """FLASH-IO in HDF5: a checkpoint of all unknowns in double precision, then plotfiles of some in single precision.

    Each unknown is a dataset of blocks; in memory the blocks have guard cells around them. Scalars, lists of names and
    the tree come first. A plotfile has the values in the centres of cells, a second one those in their corners.
    """
    return hdf5(
        rng,
        BEGIN
        + """
        static hid_t file, list;
        static hsize_t mine, all, before;

        /* A dataset with a row for each block; rank 0 alone writes what has none. */
        static void put(const char *what, hid_t type, int rank_of, const hsize_t *rest, long guards, const char *data)
        {
            hsize_t whole[4] = {all}, own[4] = {mine}, start[4] = {before}, held[4] = {mine}, inside[4] = {0};
            for (int i = 1; i < rank_of; i++) {
                whole[i] = own[i] = rest[i - 1];
                held[i] = own[i] + 2 * (hsize_t)guards;
                inside[i] = (hsize_t)guards;
                start[i] = 0;
            }
            hid_t space = H5Screate_simple(rank_of, whole, 0), memory = H5Screate_simple(rank_of, held, 0);
            H5Sselect_hyperslab(space, H5S_SELECT_SET, start, 0, own, 0);
            H5Sselect_hyperslab(memory, H5S_SELECT_SET, inside, 0, own, 0);
            hid_t set = NEED(H5Dcreate(file, what, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
            NEED(H5Dwrite(set, type, memory, space, list, data));
            H5Dclose(set);
            H5Sclose(space);
            H5Sclose(memory);
        }

        static void by_root(const char *what, hid_t type, hsize_t count, const char *data)
        {
            hid_t space = H5Screate_simple(1, &count, 0);
            hid_t set = NEED(H5Dcreate(file, what, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
            if (!rank)
                NEED(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
            H5Dclose(set);
            H5Sclose(space);
        }

        static void dump(const char *path, hid_t type, long unknowns, long guards, long corners)
        {
            hsize_t edge = (hsize_t)(get("edge") + corners), cube[3] = {edge, edge, edge}, one[3] = {1};
            hsize_t pair[3] = {15}, three[3] = {3}, box[3] = {3, 2};
            long wide = (long)edge + 2 * guards;
            char *data = block((long)mine * (wide * wide * wide > 100 ? wide * wide * wide : 100) * 8 + 100 * 1000);
            hid_t word4 = H5Tcopy(H5T_C_S1);
            H5Tset_size(word4, 4);
            hid_t pairs = H5Tcreate(H5T_COMPOUND, 88), text = H5Tcopy(H5T_C_S1);
            H5Tset_size(text, 80);
            H5Tinsert(pairs, "name", 0, text);
            H5Tinsert(pairs, "value", 80, H5T_NATIVE_DOUBLE);
            file = made(path, 0);
            by_root("sim info", text, 8, data);
            by_root("unknown names", word4, (hsize_t)unknowns, data);
            by_root("real scalars", pairs, 9, data);
            by_root("integer scalars", pairs, 17, data);
            by_root("real runtime parameters", pairs, (hsize_t)get("settings"), data);
            put("refine level", H5T_NATIVE_INT, 1, one, 0, data);
            put("node type", H5T_NATIVE_INT, 1, one, 0, data);
            put("gid", H5T_NATIVE_INT, 2, pair, 0, data);
            put("coordinates", type, 2, three, 0, data);
            put("block size", type, 2, three, 0, data);
            put("bounding box", type, 3, box, 0, data);
            for (long i = 0; i < unknowns; i++)
                put(name("un%02ld", i), type, 4, cube, guards, data);
            H5Tclose(pairs);
            H5Tclose(text);
            H5Tclose(word4);
            NEED(H5Fclose(file));
            free(data);
            compute(10);
        }

        static void run(void)
        {
            mine = (hsize_t)(get("blocks") + (get("unequal") ? rank % 3 : 0));
            MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
            MPI_Exscan(&mine, &before, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
            if (!rank)
                before = 0;
            list = transfer((int)get("collective"));
            dump("flash_io_test_hdf5_chk_0000", H5T_NATIVE_DOUBLE, get("unknowns"), 4, 0);
            dump("flash_io_test_hdf5_plt_cnt_0000", H5T_NATIVE_FLOAT, 4, 0, 0);
            dump("flash_io_test_hdf5_plt_crn_0000", H5T_NATIVE_FLOAT, 4, 0, 1);
        }
        """,
        edge=rng.choice([4, 8, 8, 12]),
        blocks=rng.randint(1, 12),
        unknowns=rng.randint(4, 24),
        settings=rng.randint(20, 200),
        unequal=rng.randint(0, 1),
        collective=rng.randint(0, 1),
    )


@kind("codes")
def vpic_particles(rng: random.Random) -> Program:
    """VPIC's dump of particles: eight 1D datasets in a group of the step, each rank at the place a prefix sum gives."""
    return hdf5(
        rng,
        BEGIN
        + """
        static void run(void)
        {
            static const char *const names[8] = {"dX", "dY", "dZ", "i", "Ux", "Uy", "Uz", "q"};
            hsize_t mine = (hsize_t)(get("particles") + below(get("spread") + 1) * rank), all = 0, before = 0;
            float *data = (float *)block((long)mine * 4);
            hid_t list = transfer((int)get("collective"));
            MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
            MPI_Exscan(&mine, &before, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
            if (!rank)
                before = 0;
            hid_t file = 0;
            for (long step = 0; step < get("steps"); step++) {
                if (!step || get("files")) {
                    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
                    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
                    if (get("alignment"))
                        H5Pset_alignment(access, 4096, (hsize_t)get("alignment"));
                    file = NEED(H5Fcreate(name("eparticle_%ld.h5p", step), H5F_ACC_TRUNC, H5P_DEFAULT, access));
                    H5Pclose(access);
                }
                hid_t group = NEED(H5Gcreate(file, name("Step#%ld", step), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
                hid_t space = H5Screate_simple(1, &all, 0), memory = H5Screate_simple(1, &mine, 0);
                H5Sselect_hyperslab(space, H5S_SELECT_SET, &before, 0, &mine, 0);
                for (int i = 0; i < 8; i++) {
                    hid_t type = i == 3 ? H5T_NATIVE_INT : H5T_NATIVE_FLOAT;
                    hid_t set = NEED(H5Dcreate(group, names[i], type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
                    NEED(H5Dwrite(set, type, memory, space, list, data));
                    H5Dclose(set);
                }
                H5Sclose(space);
                H5Sclose(memory);
                H5Gclose(group);
                if (get("files") || step == get("steps") - 1)
                    NEED(H5Fclose(file));
                compute(10);
            }
        }
        """,
        particles=rng.choice([200, 8000, 60_000]),
        spread=rng.choice([0, 900]),
        steps=rng.randint(1, 4),
        files=rng.randint(0, 1),
        alignment=rng.choice([0, 65_536]),
        collective=rng.randint(0, 1),
    )


@kind("codes")
def clusters_of_particles(rng: random.Random) -> Program:
    """BD-CATS: ranks read their shares of particles from a dump, and of the energies the part they want, to cluster.

    The numbers of the clusters are then written to an HDF5 file of their own.
    """
    return hdf5(
        rng,
        BEGIN
        + """
        static void run(void)
        {
            static const char *const names[7] = {"dX", "dY", "dZ", "Ux", "Uy", "Uz", "q"};
            hid_t access = H5Pcreate(H5P_FILE_ACCESS), list = transfer((int)get("collective"));
            hsize_t all = (hsize_t)get("particles"), mine = all / ranks, before = mine * rank;
            if (rank == ranks - 1)
                mine = all - before;
            float *data = (float *)block((long)all * 4);
            H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
            for (long step = 0; step < get("steps"); step++) {
                hid_t file = NEED(H5Fopen("particles.h5p", H5F_ACC_RDONLY, access));
                hid_t group = NEED(H5Gopen(file, name("Step#%ld", step), H5P_DEFAULT));
                for (long i = 0; i < get("variables"); i++) {
                    hsize_t count = i < 3 ? mine : mine / (hsize_t)get("part");
                    hid_t set = NEED(H5Dopen(group, names[i], H5P_DEFAULT)), space = H5Dget_space(set);
                    hid_t memory = H5Screate_simple(1, &count, 0);
                    H5Sselect_hyperslab(space, H5S_SELECT_SET, &before, 0, &count, 0);
                    NEED(H5Dread(set, H5T_NATIVE_FLOAT, memory, space, list, data));
                    H5Sclose(memory);
                    H5Sclose(space);
                    H5Dclose(set);
                }
                H5Gclose(group);
                NEED(H5Fclose(file));
                compute(10);
                file = made(name("clusters-%ld.h5", step), 0);
                hid_t space = H5Screate_simple(1, &all, 0), memory = H5Screate_simple(1, &mine, 0);
                hid_t set = NEED(H5Dcreate(file, "cluster", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
                H5Sselect_hyperslab(space, H5S_SELECT_SET, &before, 0, &mine, 0);
                NEED(H5Dwrite(set, H5T_NATIVE_INT, memory, space, list, data));
                H5Dclose(set);
                NEED(H5Fclose(file));
            }
        }
        """,
        """
import h5py
import numpy as np
with h5py.File("particles.h5p", "w") as file:
    for step in range(p.steps):
        for what in ("dX", "dY", "dZ", "Ux", "Uy", "Uz", "q"):
            file[f"Step#{step}/{what}"] = np.ones(p.particles, dtype="f4")
""",
        particles=rng.choice([1001, 40_000, 250_000]),
        variables=rng.randint(3, 7),
        part=rng.randint(1, 5),
        steps=rng.randint(1, 3),
        collective=rng.randint(0, 1),
    )


@kind("codes")
def enzo_grids(rng: random.Random) -> Program:
    """Enzo's dump: a folder with an HDF5 file per rank, a group per grid and a small 3D dataset per field in it.

    Rank 0 writes the parameters and the hierarchy as text; a restart reads the hierarchy and each rank its grids.
    """
    return hdf5(
        rng,
        """
        static long edge_of(long dump, long grid)
        {
            return get("edge") + (dump * 7 + grid * 5 + rank * 3) % 6;
        }

        static void run(void)
        {
            static const char *const names[6] = {"Density", "TotalEnergy", "GasEnergy", "x-velocity", "y-velocity", "z-velocity"};
            char line[256];
            long most = get("edge") + 6;
            double *data = (double *)block(most * most * most * 8);
            for (long dump = 0; dump < get("dumps"); dump++) {
                if (!rank)
                    NEED(mkdir(name("DD%04ld", dump), 0755));
                MPI_Barrier(MPI_COMM_WORLD);
                const char *base = strdup(name("DD%04ld/data%04ld", dump, dump));
                hid_t file = NEED(H5Fcreate(name("%s.cpu%04d", base, rank), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
                for (long grid = 0; grid < get("grids"); grid++) {
                    hsize_t edge = (hsize_t)edge_of(dump, grid), size[3] = {edge, edge, edge};
                    hid_t group = NEED(H5Gcreate(file, name("Grid%08ld", rank * get("grids") + grid + 1), H5P_DEFAULT,
                        H5P_DEFAULT, H5P_DEFAULT));
                    hid_t space = H5Screate_simple(3, size, 0);
                    for (long i = 0; i < get("fields"); i++) {
                        hid_t set = NEED(H5Dcreate(group, names[i], H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                            H5P_DEFAULT));
                        NEED(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
                        H5Dclose(set);
                    }
                    H5Sclose(space);
                    H5Gclose(group);
                }
                NEED(H5Fclose(file));
                if (!rank) {
                    FILE *text = HAVE(fopen(base, "w"));
                    for (int i = 0; i < 200; i++)
                        fprintf(text, "Parameter%03d = %d\\n", i, i * i);
                    NEED(fclose(text));
                    text = HAVE(fopen(name("%s.hierarchy", base), "w"));
                    for (long grid = 0; grid < get("grids") * ranks; grid++)
                        for (int i = 0; i < 12; i++)
                            fprintf(text, "Grid %ld line %d = %g %g %g\\n", grid + 1, i, 0.25, 0.5, 0.125 * i);
                    NEED(fclose(text));
                }
                MPI_Barrier(MPI_COMM_WORLD);
            }
            const char *base = strdup(name("DD%04ld/data%04ld", get("dumps") - 1, get("dumps") - 1));
            if (!get("restart"))
                return;
            FILE *text = HAVE(fopen(name("%s.hierarchy", base), "r"));
            while (fgets(line, sizeof line, text))
                ;
            NEED(fclose(text));
            for (long grid = 0; grid < get("grids"); grid++) {
                hid_t file = NEED(H5Fopen(name("%s.cpu%04d", base, rank), H5F_ACC_RDONLY, H5P_DEFAULT));
                for (long i = 0; i < get("fields"); i++) {
                    hid_t set = NEED(H5Dopen(file, name("Grid%08ld/%s", rank * get("grids") + grid + 1, names[i]), H5P_DEFAULT));
                    NEED(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
                    H5Dclose(set);
                }
                NEED(H5Fclose(file));
            }
        }
        """,
        edge=rng.randint(4, 16),
        grids=rng.randint(1, 8),
        fields=rng.randint(2, 6),
        dumps=rng.randint(1, 3),
        restart=rng.randint(0, 1),
    )


@kind("benchmarks")
def domains_by_baton(rng: random.Random) -> Program:
    """MACSio or Silo in groups: ranks of a group pass a baton, and each adds its domain to the group's HDF5 file.

    The first creates the file, the next ones open it again by the default driver; at the end rank 0 writes a small
    root file that names all domains.
    """
    return hdf5(
        rng,
        """
        static void add(hid_t place, const char *what, hsize_t size, double *data)
        {
            hid_t space = H5Screate_simple(1, &size, 0);
            hid_t set = NEED(H5Dcreate(place, what, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
            NEED(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
            H5Dclose(set);
            H5Sclose(space);
        }

        static void run(void)
        {
            long groups = get("groups") < ranks ? get("groups") : ranks, cells = get("cells"), token = 0;
            double *data = (double *)block((cells + 1) * 8);
            for (long dump = 0; dump < get("dumps"); dump++) {
                const char *path = name("macsio_hdf5_%05ld_%03ld.h5", rank % groups, dump);
                if (rank >= groups)
                    MPI_Recv(&token, 1, MPI_LONG, (int)(rank - groups), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                hid_t file = NEED(rank < groups ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)
                                                : H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT));
                for (long part = 0; part < get("parts"); part++) {
                    hid_t group = NEED(H5Gcreate(file, name("domain_%07ld", rank * get("parts") + part), H5P_DEFAULT,
                        H5P_DEFAULT, H5P_DEFAULT));
                    add(group, "coords", (hsize_t)(cells / 4 + 1), data);
                    for (long i = 0; i < get("variables"); i++)
                        add(group, name("var_%ld", i), (hsize_t)(cells + i % 2), data);
                    H5Gclose(group);
                }
                NEED(H5Fclose(file));
                if (rank + groups < ranks)
                    MPI_Send(&token, 1, MPI_LONG, (int)(rank + groups), 7, MPI_COMM_WORLD);
                MPI_Barrier(MPI_COMM_WORLD);
                if (!rank) {
                    FILE *root = HAVE(fopen(name("macsio_hdf5_root_%03ld.json", dump), "w"));
                    for (long i = 0; i < ranks * get("parts"); i++)
                        fprintf(root, "{\\"file\\": %ld, \\"domain\\": \\"domain_%07ld\\"}\\n", i / get("parts") % groups, i);
                    NEED(fclose(root));
                }
            }
        }
        """,
        least=2,
        groups=rng.randint(1, 3),
        cells=rng.choice([100, 4000, 15_000]),
        parts=rng.randint(1, 3),
        variables=rng.randint(1, 8),
        dumps=rng.randint(1, 4),
    )
