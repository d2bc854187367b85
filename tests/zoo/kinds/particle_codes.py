"""Output of codes that have particles, by streams: GROMACS, Gadget, LAMMPS."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import c, mpi


@kind("codes")
def gromacs_run(rng: random.Random) -> Program:
    """GROMACS: trajectory, energies and log grow; checkpoints replace the last one, which is kept as the previous.

    Before each checkpoint the outputs are synced and the end of each is read for a checksum. A run that goes on reads
    its checkpoint, checks the outputs, and appends to them.
    """
    return c(
        rng,
        """
        static FILE *output[3];

        static void checksum(FILE *file, char *data)
        {
            NEED(fflush(file));
            NEED(fsync(fileno(file)));
            long end = NEED(ftell(file)), size = end < 1 << 20 ? end : 1 << 20;
            NEED(fseek(file, end - size, SEEK_SET));
            NEED(fread(data, 1, (size_t)size, file));
            NEED(fseek(file, end, SEEK_SET));
        }

        static void run(void)
        {
            static const char *const names[3] = {"traj.xtc", "ener.edr", "md.log"};
            char *data = block(1 << 20);
            struct stat state;
            for (long part = 0; part < get("parts"); part++) {
                if (!stat("state.cpt", &state)) {
                    FILE *file = HAVE(fopen("state.cpt", "r"));
                    NEED(fread(data, 1, (size_t)state.st_size, file));
                    NEED(fclose(file));
                }
                for (int i = 0; i < 3; i++) {
                    output[i] = HAVE(fopen(names[i], part ? "r+" : "w+"));
                    if (part) {
                        NEED(fseek(output[i], 0, SEEK_END));
                        checksum(output[i], data);
                    }
                }
                for (long step = 1; step <= get("steps"); step++) {
                    if (step % get("frames") == 0) {
                        NEED(fwrite(data, 1, 92, output[0]));
                        NEED(fwrite(data, 1, (size_t)(get("frame") + below(get("frame") / 10 + 1)) & ~3UL, output[0]));
                    }
                    if (step % get("energies") == 0) {
                        for (int i = 0; i < 12; i++)
                            NEED(fwrite(data, 4, 3, output[1]));
                        NEED(fwrite(data, 8, 60, output[1]));
                        NEED(fflush(output[1]));
                        for (int i = 0; i < 8; i++)
                            fprintf(output[2], "%15.5e%15.5e%15.5e%15.5e\\n", 1.0 * i, 2.0 * i, 3.5, 4.25);
                        NEED(fflush(output[2]));
                    }
                    if (step % get("checkpoints") && step != get("steps"))
                        continue;
                    for (int i = 0; i < 3; i++)
                        checksum(output[i], data);
                    const char *path = name("state_step%ld.cpt", part * get("steps") + step);
                    FILE *file = HAVE(fopen(path, "w"));
                    for (int i = 0; i < 100; i++)
                        NEED(fwrite(data, 4, 1, file));
                    NEED(fwrite(data, 1, (size_t)(get("frame") * 3 < 1 << 20 ? get("frame") * 3 : 1 << 20), file));
                    NEED(fflush(file));
                    NEED(fsync(fileno(file)));
                    NEED(fclose(file));
                    if (!stat("state.cpt", &state)) {
                        unlink("state_prev.cpt");
                        NEED(rename("state.cpt", "state_prev.cpt"));
                    }
                    NEED(rename(path, "state.cpt"));
                }
                for (int i = 0; i < 3; i++)
                    NEED(fclose(output[i]));
            }
        }
        """,
        frame=rng.choice([400, 9000, 120_000]),
        steps=rng.randint(20, 150),
        frames=rng.randint(1, 10),
        energies=rng.randint(2, 10),
        checkpoints=rng.randint(15, 60),
        parts=rng.randint(1, 3),
    )


@kind("codes")
def gadget_snapshots(rng: random.Random) -> Program:
    """Gadget: a snapshot of several files; the first rank of each group receives the others' particles, block by block.

    Blocks lie between their lengths, as Fortran has them. Restart files are one per rank, and the old ones are backed
    up by a rename before.
    """
    return mpi(
        rng,
        """
        static void marked(FILE *file, const char *data, long size, int number)
        {
            if (number)
                NEED(fwrite(&number, 4, 1, file));
            if (size)
                NEED(fwrite(data, 1, (size_t)size, file));
        }

        static void run(void)
        {
            MPI_Comm group;
            long files = get("files") < ranks ? get("files") : ranks, mine = get("particles") * (10 + rank) / 10;
            int number, members;
            MPI_Comm_split(MPI_COMM_WORLD, (int)(rank % files), rank, &group);
            MPI_Comm_rank(group, &number);
            MPI_Comm_size(group, &members);
            static const long width[5] = {12, 12, 4, 4, 4};
            char *data = block(get("particles") * 2 * 12 + 300);
            for (long shot = 0; shot < get("snapshots"); shot++) {
                FILE *file = 0;
                if (!rank && files > 1)
                    NEED(mkdir(name("snapdir_%03ld", shot), 0755));
                MPI_Barrier(MPI_COMM_WORLD);
                if (!number) {
                    file = HAVE(fopen(files > 1 ? name("snapdir_%03ld/snapshot_%03ld.%ld", shot, shot, rank % files)
                                                : name("snapshot_%03ld", shot), "w"));
                    if (get("named")) {
                        marked(file, "HEAD    ", 8, 8);
                        marked(file, 0, 0, 8);
                    }
                    marked(file, data, 256, 256);
                    marked(file, 0, 0, 256);
                }
                for (long i = 0; i < get("blocks"); i++) {
                    int all = 0, own = (int)(mine * width[i]);
                    MPI_Reduce(&own, &all, 1, MPI_INT, MPI_SUM, 0, group);
                    if (!number) {
                        if (get("named")) {
                            marked(file, "BLCK    ", 8, 8);
                            marked(file, 0, 0, 8);
                        }
                        marked(file, data, own, all);
                        for (int other = 1; other < members; other++) {
                            MPI_Recv(data, (int)get("particles") * 24, MPI_BYTE, other, 1, group, MPI_STATUS_IGNORE);
                            marked(file, data, get("particles") * (10 + rank + other * files) / 10 * width[i], 0);
                        }
                        marked(file, 0, 0, all);
                    } else {
                        MPI_Send(data, own, MPI_BYTE, 0, 1, group);
                    }
                }
                if (!number)
                    NEED(fclose(file));
                if (get("restarts")) {
                    if (shot)
                        NEED(rename(name("restart.%d", rank), name("restart.%d.bak", rank)));
                    FILE *own = HAVE(fopen(name("restart.%d", rank), "w"));
                    NEED(fwrite(data, 1, 200, own));
                    NEED(fwrite(&mine, sizeof mine, 1, own));
                    for (int i = 0; i < 4; i++)
                        NEED(fwrite(data, 12, (size_t)mine, own));
                    NEED(fclose(own));
                }
                if (!rank) {
                    FILE *log = HAVE(fopen("info.txt", "a"));
                    fprintf(log, "Begin Step %ld, Time: %g\\n", shot, 0.01 * (double)shot);
                    NEED(fclose(log));
                }
            }
        }
        """,
        files=rng.randint(1, 3),
        particles=rng.choice([30, 2000, 40_000]),
        blocks=rng.randint(3, 5),
        snapshots=rng.randint(1, 4),
        named=rng.randint(0, 1),
        restarts=rng.randint(0, 1),
    )


@kind("codes")
def lammps_dump(rng: random.Random) -> Program:
    """LAMMPS: a dump of atoms as text, of rank 0 or of a few writers, and binary restarts into two files in turn.

    The writers receive the lines of the other ranks of their group. Thermodynamics go to a log that is flushed.
    """
    return mpi(
        rng,
        """
        static long lines_of(char *text, long atoms, long first)
        {
            long used = 0;
            for (long i = 0; i < atoms; i++)
                used += sprintf(text + used, "%ld %ld %.6g %.6g %.6g\\n", first + i, i % 4 + 1, 0.013 * (double)(i % 777),
                    0.017 * (double)(i % 555), 0.5);
            return used;
        }

        static void run(void)
        {
            long writers = get("writers") < ranks ? get("writers") : ranks, atoms = get("atoms"), group = rank % writers;
            char *text = HAVE(malloc((size_t)(atoms + 20) * 64)), *data = block(atoms * 88);
            FILE *dump = 0, *log = rank ? 0 : HAVE(fopen("log.lammps", "w"));
            for (long step = 0; step < get("steps"); step++) {
                const char *path = get("one") ? name("dump.%ld.lammpstrj", group) : name("dump.%ld.%ld.lammpstrj", step * 100, group);
                long used = lines_of(text, atoms, rank * atoms);
                if (rank >= writers) {
                    MPI_Send(text, (int)used, MPI_CHAR, (int)group, 5, MPI_COMM_WORLD);
                } else {
                    if (!dump)
                        dump = HAVE(fopen(path, "w"));
                    fprintf(dump, "ITEM: TIMESTEP\\n%ld\\nITEM: NUMBER OF ATOMS\\n%ld\\nITEM: ATOMS id type x y z\\n", step * 100, atoms);
                    NEED(fwrite(text, 1, (size_t)used, dump));
                    for (long other = rank + writers; other < ranks; other += writers) {
                        MPI_Status status;
                        int got;
                        MPI_Recv(text, (int)atoms * 64, MPI_CHAR, (int)other, 5, MPI_COMM_WORLD, &status);
                        MPI_Get_count(&status, MPI_CHAR, &got);
                        NEED(fwrite(text, 1, (size_t)got, dump));
                    }
                    if (!get("one") || step == get("steps") - 1) {
                        NEED(fclose(dump));
                        dump = 0;
                    } else if (get("flush")) {
                        NEED(fflush(dump));
                    }
                }
                if (log) {
                    fprintf(log, "%8ld %12.6f %12.6f %12.6f\\n", step * 100, 1.44, -6.7, 0.0);
                    NEED(fflush(log));
                }
                if (step % get("restarts") == 0) {
                    FILE *file = rank ? 0 : HAVE(fopen(name("tmp.restart.%ld", step / get("restarts") % 2), "wb"));
                    if (rank)
                        MPI_Send(data, (int)atoms * 88, MPI_CHAR, 0, 6, MPI_COMM_WORLD);
                    for (int i = 0; file && i < 40; i++) {
                        NEED(fwrite(data, 4, 1, file));
                        NEED(fwrite(data, 8, 1, file));
                    }
                    for (int other = 0; file && other < ranks; other++) {
                        int size = (int)atoms * 88;
                        if (other)
                            MPI_Recv(data, size, MPI_CHAR, other, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                        NEED(fwrite(&size, 4, 1, file));
                        NEED(fwrite(data, 1, (size_t)size, file));
                    }
                    if (file)
                        NEED(fclose(file));
                }
            }
            if (log)
                NEED(fclose(log));
        }
        """,
        least=1,
        writers=rng.choice([1, 1, 2, 4]),
        atoms=rng.choice([10, 500, 8000]),
        steps=rng.randint(2, 20),
        one=rng.randint(0, 1),
        flush=rng.randint(0, 1),
        restarts=rng.randint(1, 8),
    )
