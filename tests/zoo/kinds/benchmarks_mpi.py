"""Benchmarks that stand for whole applications: BTIO, MADbench2, mdtest, the writer of HACC."""

from __future__ import annotations

import random

from ..program import Program, Value, kind
from .making import mpi, seed_of


@kind("benchmarks")
def btio(rng: random.Random) -> Program:
    """NAS BTIO: a solution on a cube that is cut along diagonals, appended every few steps, then read to be verified.

    Each of q x q ranks owns q cells of the cube, no two in one plane. Class `full` writes them through a view of
    subarrays, all together; `simple` seeks to each row; `epio` has a file per rank.
    """
    source = """
        static long q, size, edge;

        static void cell_of(long number, long place[3])
        {
            place[2] = number;
            place[1] = (rank / q + q - number % q) % q;
            place[0] = (rank % q + number) % q;
        }

        static void ok(int code)
        {
            if (code)
                MPI_Abort(MPI_COMM_WORLD, 93);
        }

        static MPI_Datatype cells(MPI_Datatype point)
        {
            MPI_Datatype types[8], all;
            MPI_Aint places[8] = {0};
            int ones[8];
            for (long i = 0; i < q; i++) {
                long place[3];
                cell_of(i, place);
                int whole[3] = {(int)size, (int)size, (int)size}, own[3] = {(int)edge, (int)edge, (int)edge};
                int start[3] = {(int)(place[2] * edge), (int)(place[1] * edge), (int)(place[0] * edge)};
                MPI_Type_create_subarray(3, whole, own, start, MPI_ORDER_C, point, &types[i]);
                ones[i] = 1;
            }
            MPI_Type_create_struct((int)q, ones, places, types, &all);
            MPI_Type_commit(&all);
            return all;
        }

        static void rows(MPI_File file, long step, char *data, int writing)
        {
            for (long i = 0; i < q; i++) {
                long place[3];
                cell_of(i, place);
                for (long z = 0; z < edge; z++)
                    for (long y = 0; y < edge; y++) {
                        MPI_Offset at = (((place[2] * edge + z) * size + place[1] * edge + y) * size + place[0] * edge);
                        at = (at + step * size * size * size) * 40;
                        if (writing)
                            ok(MPI_File_write_at(file, at, data, (int)edge * 5, MPI_DOUBLE, MPI_STATUS_IGNORE));
                        else
                            ok(MPI_File_read_at(file, at, data, (int)edge * 5, MPI_DOUBLE, MPI_STATUS_IGNORE));
                    }
            }
        }

        static void run(void)
        {
            for (q = 1; q * q < ranks; q++)
                ;
            edge = get("edge");
            size = edge * q;
            long own = edge * edge * edge * q, steps = get("steps"), full = !strcmp(word("class"), "full");
            char *data = block(own * 40);
            if (!strcmp(word("class"), "epio")) {
                FILE *file = HAVE(fopen(name("btio.epio.out.%04d", rank), "w+"));
                for (long i = 0; i < steps; i++)
                    for (long j = 0; j < q; j++)
                        NEED(fwrite(data, 40, (size_t)(own / q), file));
                rewind(file);
                for (long i = 0; i < steps * q; i++)
                    NEED(fread(data, 40, (size_t)(own / q), file));
                NEED(fclose(file));
                return;
            }
            MPI_Datatype point, view;
            MPI_Type_contiguous(5, MPI_DOUBLE, &point);
            MPI_Type_commit(&point);
            view = cells(point);
            for (int writing = 1; writing >= 0; writing--) {
                MPI_File file;
                ok(MPI_File_open(MPI_COMM_WORLD, "btio.out", writing ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY,
                    MPI_INFO_NULL, &file));
                if (full)
                    ok(MPI_File_set_view(file, 0, point, view, "native", MPI_INFO_NULL));
                for (long step = 0; step < steps; step++) {
                    if (!full)
                        rows(file, step, data, writing);
                    else if (writing)
                        ok(MPI_File_write_at_all(file, step * own, data, (int)own, point, MPI_STATUS_IGNORE));
                    else
                        ok(MPI_File_read_at_all(file, step * own, data, (int)own, point, MPI_STATUS_IGNORE));
                    if (writing)
                        compute(5);
                }
                ok(MPI_File_close(&file));
            }
        }
        """
    values: dict[str, Value] = {
        "seed": seed_of(rng),
        "edge": rng.randint(4, 16),
        "steps": rng.randint(2, 5),
        "class": rng.choice(["full", "simple", "epio"]),
    }
    return Program("mpicc", source, values, rng.choice([1, 4, 4, 4]))


@kind("benchmarks")
def madbench(rng: random.Random) -> Program:
    """MADbench2: out-of-core matrices of a microwave background map, one per bin, in the phases S, W and C.

    S writes each matrix, W reads one and writes its product to the same place, C reads them all once more. Matrices
    are aligned to blocks; only every n-th rank of a group may read or write at a time.
    """
    return mpi(
        rng,
        """
        static MPI_File together;
        static int own;
        static long part, stride;

        static void take_turns(long bin, char *data, int writing, long modulus)
        {
            MPI_Offset place = get("unique") ? bin * stride : (bin * ranks + rank) * stride;
            for (long turn = 0; turn < modulus; turn++) {
                if (rank % modulus == turn) {
                    if (get("posix")) {
                        NEED(lseek(own, place, SEEK_SET));
                        NEED(writing ? write(own, data, part) : read(own, data, part));
                    } else if (get("async")) {
                        MPI_Request request;
                        if (writing)
                            MPI_File_iwrite_at(together, place, data, (int)part, MPI_BYTE, &request);
                        else
                            MPI_File_iread_at(together, place, data, (int)part, MPI_BYTE, &request);
                        MPI_Wait(&request, MPI_STATUS_IGNORE);
                    } else {
                        MPI_File_seek(together, place, MPI_SEEK_SET);
                        if (writing)
                            MPI_File_write(together, data, (int)part, MPI_BYTE, MPI_STATUS_IGNORE);
                        else
                            MPI_File_read(together, data, (int)part, MPI_BYTE, MPI_STATUS_IGNORE);
                    }
                }
                if (modulus > 1)
                    MPI_Barrier(MPI_COMM_WORLD);
            }
        }

        static void run(void)
        {
            long bins = get("bins"), blocking = get("blocking");
            part = get("pixels") * get("pixels") * 8 / ranks;
            stride = (part + blocking - 1) / blocking * blocking;
            char *data = block(part);
            if (!rank)
                NEED(mkdir("files", 0755));
            MPI_Barrier(MPI_COMM_WORLD);
            const char *path = get("unique") ? name("files/data_%d", rank) : "files/data";
            if (get("posix"))
                own = NEED(open(path, O_RDWR | O_CREAT, 0644));
            else if (MPI_File_open(get("unique") ? MPI_COMM_SELF : MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                    MPI_INFO_NULL, &together))
                MPI_Abort(MPI_COMM_WORLD, 93);
            for (long bin = 0; bin < bins; bin++)
                take_turns(bin, data, 1, get("writers"));
            MPI_Barrier(MPI_COMM_WORLD);
            for (long bin = 0; bin < bins; bin++) {
                take_turns(bin, data, 0, get("readers"));
                compute(2);
                take_turns(bin, data, 1, get("writers"));
            }
            MPI_Barrier(MPI_COMM_WORLD);
            for (long bin = 0; bin < bins; bin++)
                take_turns(bin, data, 0, get("readers"));
            if (get("posix"))
                NEED(close(own));
            else
                MPI_File_close(&together);
        }
        """,
        bins=rng.randint(2, 12),
        pixels=rng.choice([40, 200, 500]),
        blocking=rng.choice([1, 4096, 65_536]),
        readers=rng.choice([1, 1, 2]),
        writers=rng.choice([1, 1, 2]),
        unique=rng.randint(0, 1),
        posix=rng.randint(0, 1),
        **{"async": rng.randint(0, 1)},
    )


@kind("benchmarks")
def mdtest(rng: random.Random) -> Program:
    """mdtest: trees of folders, then items in their leaves are created, asked for, read and removed, phase by phase.

    Ranks share a tree or have one each; the phases of stat and read may take the items that another rank created.
    """
    return mpi(
        rng,
        """
        static void tree(const char *top, long depth, int making)
        {
            char path[256];
            snprintf(path, sizeof path, "%s", top);
            if (making)
                NEED(mkdir(path, 0700));
            for (long i = 0; depth && i < get("branch"); i++)
                tree(name("%s/mdtest_tree.%ld", path, i), depth - 1, making);
            if (!making)
                NEED(rmdir(path));
        }

        static const char *leaf(const char *top, long item)
        {
            char path[256];
            snprintf(path, sizeof path, "%s", top);
            for (long depth = 0; depth < get("depth"); depth++, item /= get("branch"))
                snprintf(path + strlen(path), sizeof path - strlen(path), "/mdtest_tree.%ld", item % get("branch"));
            return name("%s", path);
        }

        static void phase(int what, int folders, const char *top, long from, char *data)
        {
            struct stat state;
            MPI_Barrier(MPI_COMM_WORLD);
            for (long i = 0; i < get("items"); i++) {
                const char *item = name("%s/%s.mdtest.%ld.%ld", leaf(top, i), folders ? "dir" : "file", from, i);
                if (what == 1) {
                    NEED(stat(item, &state));
                } else if (folders) {
                    NEED(what ? rmdir(item) : mkdir(item, 0700));
                } else if (what == 3) {
                    NEED(unlink(item));
                } else {
                    int file = NEED(what ? open(item, O_RDONLY) : open(item, O_RDWR | O_CREAT, 0664));
                    if (get("bytes"))
                        NEED(what ? read(file, data, get("bytes")) : write(file, data, get("bytes")));
                    if (!what && get("sync"))
                        NEED(fsync(file));
                    NEED(close(file));
                }
            }
        }

        static void run(void)
        {
            char *data = block(get("bytes") + 1);
            long other = (rank + get("shift")) % ranks;
            int unique = (int)get("unique");
            const char *trees[2] = {name("test-dir.0-0"), name("test-dir.0-0")};
            if (!rank)
                NEED(mkdir("test-dir.0-0", 0755));
            MPI_Barrier(MPI_COMM_WORLD);
            if (unique) {
                trees[0] = strdup(name("test-dir.0-0/mdtest_tree.%d.0", rank));
                trees[1] = strdup(name("test-dir.0-0/mdtest_tree.%ld.0", other));
                tree(trees[0], get("depth"), 1);
            } else {
                trees[0] = trees[1] = "test-dir.0-0/mdtest_tree.0";
                if (!rank)
                    tree(trees[0], get("depth"), 1);
            }
            if (get("folders"))
                for (int what = 0; what < 4; what++)
                    if (what != 2)
                        phase(what, 1, trees[what == 1], what == 1 ? other : rank, data);
            for (int what = 0; what < 4; what++)
                phase(what, 0, trees[what == 1 || what == 2], what == 1 || what == 2 ? other : rank, data);
            MPI_Barrier(MPI_COMM_WORLD);
            if (unique || !rank)
                tree(trees[0], get("depth"), 0);
        }
        """,
        least=1,
        depth=rng.randint(0, 2),
        branch=rng.randint(1, 3),
        items=rng.randint(5, 150),
        bytes=rng.choice([0, 0, 3901, 40_000]),
        sync=rng.choice([0, 0, 1]),
        folders=rng.randint(0, 1),
        unique=rng.randint(0, 1),
        shift=rng.randint(0, 1),
    )


@kind("benchmarks")
def particles_in_partitions(rng: random.Random) -> Program:
    """HACC's writer: a few partition files of nine variables of all particles, each rank's part with a checksum.

    Ranks of a partition write at places that a prefix sum gives; its first rank writes the header, and rank 0 a map of
    which rank is where. All is read back by the ranks that wrote it, header first.
    """
    return mpi(
        rng,
        """
        static const int width[9] = {4, 4, 4, 4, 4, 4, 4, 8, 2};

        static void run(void)
        {
            MPI_Comm part;
            long group = rank % get("partitions"), mine = get("particles") * (100 + below(get("spread") + 1) * (rank + 1)) / 100;
            long before = 0, all = 0, header;
            int number, members;
            MPI_Comm_split(MPI_COMM_WORLD, (int)group, rank, &part);
            MPI_Comm_rank(part, &number);
            MPI_Comm_size(part, &members);
            header = 160 + 9 * 64 + members * 96L + 8;
            char *data = block(mine * 8 + 8 > header ? mine * 8 + 8 : header);
            for (long step = 0; step < get("steps"); step++) {
                const char *path = name("m000-%ld.full.mpicosmo#%ld", step, group);
                MPI_Exscan(&mine, &before, 1, MPI_LONG, MPI_SUM, part);
                if (!number)
                    before = 0;
                MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, part);
                if (!number)
                    NEED(close(NEED(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644))));
                MPI_Barrier(part);
                for (int writing = 1; writing >= 0; writing--) {
                    int file = NEED(open(path, writing ? O_WRONLY : O_RDONLY));
                    if (!writing)
                        NEED(pread(file, data, header, 0));
                    long place = header;
                    for (int i = 0; i < 9; i++) {
                        long size = mine * width[i] + 8, at = place + before * width[i] + number * 8L;
                        NEED(writing ? pwrite(file, data, size, at) : pread(file, data, size, at));
                        place += all * width[i] + members * 8L;
                    }
                    if (writing && !number)
                        NEED(pwrite(file, data, header, 0));
                    NEED(close(file));
                    MPI_Barrier(part);
                }
                if (!rank) {
                    int file = NEED(open(name("m000-%ld.full.mpicosmo", step), O_WRONLY | O_CREAT | O_TRUNC, 0644));
                    NEED(pwrite(file, data, 160 + 2 * 64, 0));
                    for (long i = 0; i < 2; i++)
                        NEED(pwrite(file, data, ranks * 8L + 8, 288 + i * (ranks * 8L + 8)));
                    NEED(close(file));
                }
                compute(10);
            }
        }
        """,
        partitions=rng.randint(1, 2),
        particles=rng.choice([50, 3000, 60_000]),
        spread=rng.choice([0, 0, 20]),
        steps=rng.randint(1, 4),
    )
