"""MPI programs: shared files by MPI-IO, files per rank, ranks that gather or take turns."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import INPUTS, mpi

OPEN = """
        static MPI_File opened(const char *path, int mode)
        {
            MPI_File file;
            if (MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file))
                MPI_Abort(MPI_COMM_WORLD, 93);
            return file;
        }
"""


@kind("mpi-io")
def shared_dumps(rng: random.Random) -> Program:
    """Each dump is one file: every rank writes its contiguous share, together or each for itself."""
    return mpi(
        rng,
        OPEN
        + """
        static void run(void)
        {
            int size = (int)get("block");
            char *data = block(size);
            for (long dump = 0; dump < get("dumps"); dump++) {
                MPI_File file = opened(name("dump-%ld", dump), MPI_MODE_CREATE | MPI_MODE_WRONLY);
                for (long i = 0; i < get("blocks"); i++) {
                    MPI_Offset place = ((MPI_Offset)rank * get("blocks") + i) * size;
                    if (get("collective"))
                        MPI_File_write_at_all(file, place, data, size, MPI_BYTE, MPI_STATUS_IGNORE);
                    else
                        MPI_File_write_at(file, place, data, size, MPI_BYTE, MPI_STATUS_IGNORE);
                }
                if (get("sync"))
                    MPI_File_sync(file);
                MPI_File_close(&file);
                compute(20);
            }
        }
        """,
        dumps=rng.randint(1, 6),
        blocks=rng.randint(1, 12),
        block=rng.choice([1000, 32_768, 262_144]),
        collective=rng.randint(0, 1),
        sync=rng.randint(0, 1),
    )


@kind("mpi-io")
def header_and_shares(rng: random.Random) -> Program:
    """Rank 0 writes a header, then all ranks their unequal shares after it, found by a prefix sum."""
    return mpi(
        rng,
        OPEN
        + """
        static void run(void)
        {
            for (long dump = 0; dump < get("dumps"); dump++) {
                long mine = get("share") * (1 + rank * get("unequal")), place = 0;
                char *data = block(mine);
                MPI_Exscan(&mine, &place, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
                if (!rank)
                    place = 0;
                MPI_File file = opened(name("snapshot-%ld", dump), MPI_MODE_CREATE | MPI_MODE_RDWR);
                MPI_File_set_size(file, 0);
                if (!rank)
                    MPI_File_write_at(file, 0, data, (int)get("header"), MPI_BYTE, MPI_STATUS_IGNORE);
                MPI_File_write_at_all(file, get("header") + place, data, (int)mine, MPI_BYTE, MPI_STATUS_IGNORE);
                MPI_File_close(&file);
                free(data);
                compute(20);
            }
        }
        """,
        dumps=rng.randint(1, 5),
        header=rng.choice([64, 256, 1024]),
        share=rng.randint(1000, 300_000),
        unequal=rng.randint(0, 1),
    )


@kind("mpi-io")
def blocks_in_turn(rng: random.Random) -> Program:
    """A block-cyclic matrix through a view of a vector type; it is then read back, with or without the view."""
    return mpi(
        rng,
        OPEN
        + """
        static void run(void)
        {
            int size = (int)get("block"), blocks = (int)get("blocks");
            char *data = block((long)size * blocks);
            MPI_Datatype piece;
            MPI_Type_vector(blocks, size, size * ranks, MPI_BYTE, &piece);
            MPI_Type_commit(&piece);
            MPI_File file = opened("matrix", MPI_MODE_CREATE | MPI_MODE_RDWR);
            MPI_File_set_view(file, (MPI_Offset)rank * size, MPI_BYTE, piece, "native", MPI_INFO_NULL);
            for (long i = 0; i < get("matrices"); i++)
                MPI_File_write_at_all(file, (MPI_Offset)i * size * blocks, data, size * blocks, MPI_BYTE,
                    MPI_STATUS_IGNORE);
            if (get("back")) {
                MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
                for (int i = 0; i < blocks; i++)
                    MPI_File_read_at(file, ((MPI_Offset)i * ranks + rank) * size, data, size, MPI_BYTE,
                        MPI_STATUS_IGNORE);
            }
            MPI_File_close(&file);
            MPI_Type_free(&piece);
        }
        """,
        block=rng.choice([64, 4096, 50_000]),
        blocks=rng.randint(4, 30),
        matrices=rng.randint(1, 5),
        back=rng.randint(0, 1),
    )


@kind("mpi-io")
def without_waiting(rng: random.Random) -> Program:
    """Nonblocking writes of several variables are started, then waited for together, while the program computes."""
    return mpi(
        rng,
        OPEN
        + """
        static void run(void)
        {
            int size = (int)get("block"), variables = (int)get("variables");
            char *data = block(size);
            MPI_Request *request = HAVE(malloc((size_t)variables * sizeof *request));
            MPI_File file = opened("fields", MPI_MODE_CREATE | MPI_MODE_WRONLY);
            for (long step = 0; step < get("steps"); step++) {
                for (int i = 0; i < variables; i++) {
                    MPI_Offset place = ((step * variables + i) * (MPI_Offset)ranks + rank) * size;
                    MPI_File_iwrite_at(file, place, data, size, MPI_BYTE, &request[i]);
                }
                compute(10);
                MPI_Waitall(variables, request, MPI_STATUSES_IGNORE);
            }
            MPI_File_close(&file);
        }
        """,
        block=rng.choice([2000, 65_536]),
        variables=rng.randint(1, 8),
        steps=rng.randint(1, 10),
    )


@kind("mpi-io")
def shared_pointer(rng: random.Random) -> Program:
    """Ranks write records of their own lengths through the shared file pointer, one after the other."""
    return mpi(
        rng,
        OPEN
        + """
        static void run(void)
        {
            char *data = block(8000);
            MPI_File file = opened("events", MPI_MODE_CREATE | MPI_MODE_WRONLY);
            for (long i = 0; i < get("events"); i++)
                MPI_File_write_ordered(file, data, 100 * (1 + rank) + (int)get("extra"), MPI_BYTE, MPI_STATUS_IGNORE);
            MPI_File_close(&file);
        }
        """,
        events=rng.randint(3, 40),
        extra=rng.randint(0, 5000),
    )


@kind("mpi-io")
def rewritten_checkpoint(rng: random.Random) -> Program:
    """Two checkpoints are overwritten in turn in atomic mode; the last is read by all ranks when it is complete."""
    return mpi(
        rng,
        OPEN
        + """
        static void run(void)
        {
            int size = (int)get("block");
            char *data = block(size);
            for (long step = 0; step < get("steps"); step++) {
                MPI_File file = opened(name("checkpoint-%ld", step % 2), MPI_MODE_CREATE | MPI_MODE_RDWR);
                MPI_File_set_atomicity(file, (int)get("atomic"));
                MPI_File_seek(file, (MPI_Offset)rank * size * get("parts"), MPI_SEEK_SET);
                for (long i = 0; i < get("parts"); i++)
                    MPI_File_write(file, data, size, MPI_BYTE, MPI_STATUS_IGNORE);
                MPI_File_sync(file);
                MPI_Barrier(MPI_COMM_WORLD);
                if (step == get("steps") - 1)
                    MPI_File_read_at_all(file, (MPI_Offset)((rank + 1) % ranks) * size * get("parts"), data, size,
                        MPI_BYTE, MPI_STATUS_IGNORE);
                MPI_File_close(&file);
                compute(20);
            }
        }
        """,
        block=rng.choice([4096, 100_000]),
        parts=rng.randint(1, 8),
        steps=rng.randint(2, 7),
        atomic=rng.randint(0, 1),
    )


@kind("mpi")
def file_per_rank(rng: random.Random) -> Program:
    """Every rank writes a file of its own by POSIX; how many blocks it has follows its rank."""
    return mpi(
        rng,
        """
        static void run(void)
        {
            char *data = block(get("block"));
            for (long dump = 0; dump < get("dumps"); dump++) {
                int file = NEED(open(name("dump-%ld.%d", dump, rank), O_WRONLY | O_CREAT | O_TRUNC, 0644));
                for (long i = 0; i < get("blocks") + rank * get("more"); i++)
                    NEED(write(file, data, get("block")));
                if (get("sync"))
                    NEED(fsync(file));
                NEED(close(file));
                MPI_Barrier(MPI_COMM_WORLD);
                compute(20);
            }
        }
        """,
        dumps=rng.randint(1, 6),
        blocks=rng.randint(1, 12),
        block=rng.choice([1000, 65_536, 200_000]),
        more=rng.choice([0, 1, 7]),
        sync=rng.randint(0, 1),
    )


@kind("mpi")
def some_ranks_write(rng: random.Random) -> Program:
    """Each second rank collects what its neighbour sends and writes both to one shared file by pwrite."""
    return mpi(
        rng,
        """
        static void run(void)
        {
            int size = (int)get("block");
            char *data = block(2L * size);
            for (long dump = 0; dump < get("dumps"); dump++) {
                if (rank % 2) {
                    MPI_Send(data, size, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD);
                } else {
                    if (rank + 1 < ranks)
                        MPI_Recv(data + size, size, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    int file = NEED(open(name("fields-%ld", dump), O_WRONLY | O_CREAT, 0644));
                    NEED(pwrite(file, data, (size_t)size * (rank + 1 < ranks ? 2 : 1), (off_t)rank * size));
                    NEED(close(file));
                }
                compute(20);
            }
        }
        """,
        dumps=rng.randint(1, 10),
        block=rng.choice([5000, 131_072, 500_000]),
    )


@kind("mpi")
def gathered_to_root(rng: random.Random) -> Program:
    """Rank 0 gathers each variable and appends it to an open file, with a line in a text index."""
    return mpi(
        rng,
        """
        static void run(void)
        {
            int size = (int)get("block");
            char *data = block(size), *all = rank ? 0 : block((long)size * ranks);
            FILE *file = rank ? 0 : HAVE(fopen("history.bin", "wb")), *index = rank ? 0 : HAVE(fopen("index.txt", "w"));
            for (long step = 0; step < get("steps"); step++) {
                for (long i = 0; i < get("variables"); i++) {
                    MPI_Gather(data, size, MPI_BYTE, all, size, MPI_BYTE, 0, MPI_COMM_WORLD);
                    if (rank)
                        continue;
                    fprintf(index, "%ld %ld %ld\\n", step, i, NEED(ftell(file)));
                    fwrite(all, (size_t)size, (size_t)ranks, file);
                }
                if (!rank && get("flush"))
                    NEED(fflush(file));
                compute(10);
            }
            if (!rank) {
                NEED(fclose(file));
                NEED(fclose(index));
            }
        }
        """,
        block=rng.choice([400, 10_000, 80_000]),
        variables=rng.randint(1, 6),
        steps=rng.randint(2, 15),
        flush=rng.randint(0, 1),
    )


@kind("mpi")
def in_turns(rng: random.Random) -> Program:
    """The ranks open, extend and close one file in turn; a token says whose turn it is."""
    return mpi(
        rng,
        """
        static void run(void)
        {
            char *data = block(get("block")), token = 0;
            for (long dump = 0; dump < get("dumps"); dump++) {
                if (rank)
                    MPI_Recv(&token, 1, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                int file = NEED(open(name("part-%ld", dump), O_WRONLY | O_CREAT | (rank ? O_APPEND : O_TRUNC), 0644));
                for (long i = 0; i < get("blocks"); i++)
                    NEED(write(file, data, get("block")));
                NEED(close(file));
                if (rank + 1 < ranks)
                    MPI_Send(&token, 1, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
                MPI_Barrier(MPI_COMM_WORLD);
                compute(10);
            }
        }
        """,
        dumps=rng.randint(1, 8),
        blocks=rng.randint(1, 10),
        block=rng.choice([3000, 65_536]),
    )


@kind("mpi")
def everyone_reads(rng: random.Random) -> Program:
    """All ranks read the same tables by POSIX; rank 0 also reads the settings and sends them to the others."""
    return mpi(
        rng,
        """
        static void run(void)
        {
            char *data = block(get("block")), settings[400] = "";
            if (!rank) {
                FILE *file = HAVE(fopen("input-0000", "r"));
                for (int i = 0; i < 20; i++)
                    if (fread(settings, 17, 1, file) != 1)
                        exit(93);
                NEED(fclose(file));
            }
            MPI_Bcast(settings, sizeof settings, MPI_BYTE, 0, MPI_COMM_WORLD);
            for (long i = 0; i < get("files"); i++) {
                long got, total = 0;
                int file = NEED(open(name("input-%04ld", i), O_RDONLY));
                while (total < get("size") && (got = NEED(read(file, data, get("block")))) > 0)
                    total += got;
                NEED(close(file));
            }
        }
        """,
        INPUTS,
        files=rng.randint(1, 8),
        size=rng.randint(1000, 900_000),
        block=rng.choice([512, 8192, 1_000_000]),
    )


@kind("mpi")
def restart_and_shares(rng: random.Random) -> Program:
    """Ranks read their slabs of a restart, at offsets that their rank gives, then log to one stream per rank."""
    return mpi(
        rng,
        """
        static void run(void)
        {
            long share = get("size") / ranks, part = share / get("parts");
            char *data = block(part);
            int file = NEED(open("input-0000", O_RDONLY));
            for (long i = 0; i < get("parts"); i++) {
                long place = get("interleaved") ? (i * ranks + rank) * part : rank * share + i * part;
                NEED(pread(file, data, part, place));
            }
            NEED(close(file));
            FILE *log = HAVE(fopen(name("rank-%d.log", rank), "w"));
            for (long step = 0; step < get("steps"); step++) {
                fprintf(log, "rank %d step %ld residual %.3e\\n", rank, step, 1.0 / (double)(step + 1));
                if (rank == 0 && step % 10 == 0)
                    NEED(fflush(log));
            }
            NEED(fclose(log));
        }
        """,
        INPUTS,
        files=1,
        size=rng.randint(100_000, 6_000_000),
        parts=rng.randint(1, 16),
        interleaved=rng.randint(0, 1),
        steps=rng.randint(5, 100),
    )
