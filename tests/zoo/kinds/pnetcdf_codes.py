"""Classic NetCDF files of several ranks through PnetCDF, as known codes lay them out: FLASH, S3D, E3SM."""

from __future__ import annotations

import random

from ..program import Program, Value, kind
from .making import seed_of

OK = """
        #include <pnetcdf.h>

        static void ok(int code)
        {
            if (code) {
                fprintf(stderr, "%s\\n", ncmpi_strerror(code));
                MPI_Abort(MPI_COMM_WORLD, 93);
            }
        }
"""


def pnetcdf(rng: random.Random, source: str, ranks: int, **parameters: Value) -> Program:
    """An MPI program that is linked with PnetCDF."""
    values = {"seed": seed_of(rng), **parameters}
    return Program("mpicc", OK + source, values, ranks, libraries=("pnetcdf",))


@kind("codes")
def flash_pnetcdf(rng: random.Random) -> Program:
    """FLASH-IO in PnetCDF: a checkpoint of all unknowns, then plotfiles of some, in centres and in corners of cells.

    The tree and the unknowns are fixed variables with a row per block; they go out one by one, or as requests that
    are waited for at the end. The unknowns have guard cells in memory.
    """
    return pnetcdf(
        rng,
        """
        static MPI_Offset mine, all, before;

        static void dump(const char *path, nc_type type, long unknowns, long guards, long corners)
        {
            int file, dims[8], tree[6], field[32], shape[4], width = type == NC_DOUBLE ? 8 : 4;
            long edge = get("edge") + corners, wide = edge + 2 * guards;
            MPI_Datatype element = type == NC_DOUBLE ? MPI_DOUBLE : MPI_FLOAT, part;
            char *data = block(mine * (wide * wide * wide > 64 ? wide * wide * wide : 64) * 8);
            static const char *const names[6] = {"lrefine", "nodetype", "gid", "coordinates", "blocksize", "bndbox"};
            static const int columns[6] = {0, 0, 5, 6, 6, 7}, numbers[6] = {1, 1, 15, 3, 3, 6};
            ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
            ok(ncmpi_def_dim(file, "dim_tot_blocks", all, &dims[0]));
            for (int i = 1; i < 4; i++)
                ok(ncmpi_def_dim(file, name("dim_n%cb", 'w' + i), edge, &dims[i]));
            ok(ncmpi_def_dim(file, "dim_NGID", 15, &dims[5]));
            ok(ncmpi_def_dim(file, "dim_NDIM", 3, &dims[6]));
            ok(ncmpi_def_dim(file, "dim_6", 6, &dims[7]));
            for (int i = 0; i < 6; i++) {
                shape[0] = dims[0];
                shape[1] = dims[columns[i]];
                ok(ncmpi_def_var(file, names[i], i < 3 ? NC_INT : type, i < 2 ? 1 : 2, shape, &tree[i]));
            }
            for (int i = 0; i < 4; i++)
                shape[i] = dims[i ? 4 - i : 0];
            for (long i = 0; i < unknowns; i++)
                ok(ncmpi_def_var(file, name("var_%02ld", i), type, 4, shape, &field[i]));
            for (long i = 0; i < get("settings"); i++)
                ok(ncmpi_put_att_double(file, NC_GLOBAL, name("setting%03ld", i), NC_DOUBLE, 1, (double *)data));
            ok(ncmpi_enddef(file));
            for (int i = 0; i < 6; i++) {
                MPI_Offset start[2] = {before, 0}, count[2] = {mine, numbers[i]};
                ok(ncmpi_put_vara_all(file, tree[i], start, count, data, mine * numbers[i], i < 3 ? MPI_INT : element));
            }
            int whole[4] = {(int)mine, (int)wide, (int)wide, (int)wide}, own[4] = {(int)mine, (int)edge, (int)edge, (int)edge};
            int inside[4] = {0, (int)guards, (int)guards, (int)guards};
            MPI_Type_create_subarray(4, whole, own, inside, MPI_ORDER_C, element, &part);
            MPI_Type_commit(&part);
            for (long i = 0; i < unknowns; i++) {
                MPI_Offset start[4] = {before}, count[4] = {mine, edge, edge, edge};
                if (get("nonblocking"))
                    ok(ncmpi_iput_vara(file, field[i], start, count, data, 1, part, 0));
                else
                    ok(ncmpi_put_vara_all(file, field[i], start, count, data, 1, part));
            }
            if (get("nonblocking"))
                ok(ncmpi_wait_all(file, NC_REQ_ALL, 0, 0));
            ok(ncmpi_close(file));
            MPI_Type_free(&part);
            free(data);
            compute(10);
        }

        static void run(void)
        {
            mine = get("blocks") + (get("unequal") ? rank % 3 : 0);
            MPI_Allreduce(&mine, &all, 1, MPI_OFFSET, MPI_SUM, MPI_COMM_WORLD);
            MPI_Exscan(&mine, &before, 1, MPI_OFFSET, MPI_SUM, MPI_COMM_WORLD);
            if (!rank)
                before = 0;
            dump("flash_ncmpi_chk_0000.nc", NC_DOUBLE, get("unknowns"), 4, 0);
            dump("flash_ncmpi_plt_cnt_0000.nc", NC_FLOAT, 4, 0, 0);
            dump("flash_ncmpi_plt_crn_0000.nc", NC_FLOAT, 4, 0, 1);
        }
        """,
        rng.randint(1, 4),
        edge=rng.choice([4, 8, 8, 12]),
        blocks=rng.randint(1, 12),
        unknowns=rng.randint(4, 24),
        settings=rng.randint(5, 60),
        unequal=rng.randint(0, 1),
        nonblocking=rng.randint(0, 1),
    )


@kind("codes")
def s3d_io(rng: random.Random) -> Program:
    """S3D-IO: each checkpoint of a combustion code is a file of four arrays, cut into bricks in three dimensions.

    Species and velocity have a fourth dimension that is not cut. A restart then reads the last file.
    """
    return pnetcdf(
        rng,
        """
        static void run(void)
        {
            static const char *const names[4] = {"yspecies", "temp", "pressure", "u"};
            static const int parts[4] = {11, 1, 1, 3};
            int across[3] = {0, 0, 0}, file, dims[5], variable[4];
            MPI_Offset edge[3] = {get("nz"), get("ny"), get("nx")}, place[3];
            MPI_Dims_create(ranks, 3, across);
            place[2] = rank % across[2] * edge[2];
            place[1] = rank / across[2] % across[1] * edge[1];
            place[0] = rank / across[2] / across[1] * edge[0];
            double *data = (double *)block(edge[0] * edge[1] * edge[2] * 11 * 8);
            for (long step = 0; step < get("steps") + get("restart"); step++) {
                int reading = step == get("steps");
                const char *path = name("pressure_wave_test.%ld.000E-06.field.nc", reading ? step - 1 : step);
                if (reading) {
                    ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
                    for (int i = 0; i < 4; i++)
                        ok(ncmpi_inq_varid(file, names[i], &variable[i]));
                } else {
                    ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_OFFSET, MPI_INFO_NULL, &file));
                    for (int i = 0; i < 3; i++)
                        ok(ncmpi_def_dim(file, name("%c", 'z' - i), edge[i] * across[i], &dims[i + 1]));
                    ok(ncmpi_def_dim(file, "nsc", 11, &dims[0]));
                    ok(ncmpi_def_dim(file, "three", 3, &dims[4]));
                    for (int i = 0; i < 4; i++) {
                        int four[4] = {i == 0 ? dims[0] : dims[4], dims[1], dims[2], dims[3]};
                        ok(ncmpi_def_var(file, names[i], NC_DOUBLE, parts[i] > 1 ? 4 : 3, parts[i] > 1 ? four : four + 1,
                            &variable[i]));
                    }
                    for (int i = 0; i < 6; i++)
                        ok(ncmpi_put_att_double(file, NC_GLOBAL, name("value%d", i), NC_DOUBLE, 1, data));
                    ok(ncmpi_enddef(file));
                }
                for (int i = 0; i < 4; i++) {
                    MPI_Offset start[4] = {0, place[0], place[1], place[2]}, count[4] = {parts[i], edge[0], edge[1], edge[2]};
                    MPI_Offset *from = parts[i] > 1 ? start : start + 1, *size = parts[i] > 1 ? count : count + 1;
                    if (reading)
                        ok(ncmpi_get_vara_double_all(file, variable[i], from, size, data));
                    else if (get("nonblocking"))
                        ok(ncmpi_iput_vara_double(file, variable[i], from, size, data, 0));
                    else
                        ok(ncmpi_put_vara_double_all(file, variable[i], from, size, data));
                }
                if (!reading && get("nonblocking"))
                    ok(ncmpi_wait_all(file, NC_REQ_ALL, 0, 0));
                ok(ncmpi_close(file));
                compute(10);
            }
        }
        """,
        rng.randint(1, 4),
        nx=rng.randint(4, 20),
        ny=rng.randint(4, 20),
        nz=rng.randint(4, 20),
        steps=rng.randint(1, 5),
        restart=rng.randint(0, 1),
        nonblocking=rng.randint(0, 1),
    )


@kind("codes")
def e3sm_pieces(rng: random.Random) -> Program:
    """E3SM through PIO: columns of an unstructured mesh lie scattered, so a variable is many small pieces of a rank.

    The pieces of all variables of a step are buffered requests, flushed together; a few fixed variables and small
    records of rank 0 come with them.
    """
    return pnetcdf(
        rng,
        """
        static void run(void)
        {
            int file, dims[3], fixed, stamp, field[40];
            long pieces = get("pieces"), length = get("length"), levels = get("levels"), variables = get("variables");
            long *order = shuffled(pieces * ranks);
            MPI_Offset **start = HAVE(malloc((size_t)(pieces * levels) * sizeof *start));
            MPI_Offset **count = HAVE(malloc((size_t)(pieces * levels) * sizeof *count));
            long own[4096], found = 0;
            for (long i = 0; i < pieces * ranks; i++)
                if (order[i] % ranks == rank)
                    own[found++] = i;
            for (long i = 0; i < pieces * levels; i++) {
                start[i] = HAVE(malloc(3 * sizeof **start));
                count[i] = HAVE(malloc(3 * sizeof **count));
                start[i][1] = i / pieces;
                start[i][2] = own[i % pieces] * length;
                count[i][0] = count[i][1] = 1;
                count[i][2] = length;
            }
            double *data = (double *)block(pieces * length * levels * 8);
            ok(ncmpi_create(MPI_COMM_WORLD, "f_case_h0.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
            ok(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
            ok(ncmpi_def_dim(file, "lev", levels, &dims[1]));
            ok(ncmpi_def_dim(file, "ncol", pieces * ranks * length, &dims[2]));
            ok(ncmpi_def_var(file, "lat", NC_DOUBLE, 1, &dims[2], &fixed));
            ok(ncmpi_def_var(file, "date", NC_INT, 1, &dims[0], &stamp));
            for (long i = 0; i < variables; i++) {
                ok(ncmpi_def_var(file, name("V%03ld", i), NC_DOUBLE, 3, dims, &field[i]));
                ok(ncmpi_put_att_text(file, field[i], "long_name", 20, "a variable of a case"));
            }
            ok(ncmpi_enddef(file));
            ok(ncmpi_buffer_attach(file, (pieces * length * levels * variables + 2 * pieces * length) * 8));
            MPI_Offset **flat = HAVE(malloc((size_t)pieces * sizeof *flat)), **wide = HAVE(malloc((size_t)pieces * sizeof *wide));
            for (long i = 0; i < pieces; i++) {
                flat[i] = start[i] + 2;
                wide[i] = count[i] + 2;
            }
            ok(ncmpi_bput_varn_double(file, fixed, (int)pieces, flat, wide, data, 0));
            for (long step = 0; step < get("steps"); step++) {
                MPI_Offset now = step, one = 1;
                int date = (int)(20200101 + step);
                for (long i = 0; i < pieces * levels; i++)
                    start[i][0] = step;
                if (!rank)
                    ok(ncmpi_bput_vara_int(file, stamp, &now, &one, &date, 0));
                for (long i = 0; i < variables; i++)
                    ok(ncmpi_bput_varn_double(file, field[i], (int)(pieces * levels), start, count, data, 0));
                ok(ncmpi_wait_all(file, NC_REQ_ALL, 0, 0));
                compute(10);
            }
            ok(ncmpi_buffer_detach(file));
            ok(ncmpi_close(file));
        }
        """,
        rng.randint(2, 4),
        pieces=rng.randint(4, 120),
        length=rng.randint(1, 16),
        levels=rng.choice([1, 1, 6]),
        variables=rng.randint(2, 20),
        steps=rng.randint(1, 6),
    )
