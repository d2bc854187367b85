"""Stores as programs build them on POSIX: rings, slots, sorted runs, holes; and other ways to call it."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import INPUTS, c


@kind("stores")
def ring_of_samples(rng: random.Random) -> Program:
    """A flight recorder: records of a monitor go round in a file of fixed size, and its pointer is kept in front."""
    return c(
        rng,
        """
        static void run(void)
        {
            long record = get("record"), places = get("places");
            char *data = block(record);
            int file = NEED(open("ring", O_RDWR | O_CREAT | O_TRUNC, 0644));
            NEED(ftruncate(file, 16 + places * record));
            for (long i = 0; i < get("records"); i++) {
                NEED(pwrite(file, data, record, 16 + i % places * record));
                if (i % get("every") == 0)
                    NEED(pwrite(file, &i, sizeof i, 0));
            }
            long start = get("records") % places;
            for (long i = 0; i < get("dumped"); i++)
                NEED(pread(file, data, record, 16 + (start + i) % places * record));
            NEED(close(file));
        }
        """,
        record=rng.choice([32, 500, 4096]),
        places=rng.randint(10, 150),
        records=rng.randint(50, 600),
        every=rng.randint(1, 20),
        dumped=rng.randint(0, 100),
    )


@kind("stores")
def sorted_runs(rng: random.Random) -> Program:
    """A log-structured store: a log of changes, tables that are flushed, and tables that are merged and deleted."""
    return c(
        rng,
        """
        static void merge(long first, long last, long target, char *data, long size)
        {
            int out = NEED(open(name("%05ld.table", target), O_WRONLY | O_CREAT | O_EXCL, 0644));
            for (long i = first; i <= last; i++) {
                long got;
                int file = NEED(open(name("%05ld.table", i), O_RDONLY));
                while ((got = NEED(read(file, data, size))) > 0)
                    NEED(write(out, data, got));
                NEED(close(file));
                NEED(unlink(name("%05ld.table", i)));
            }
            NEED(fsync(out));
            NEED(close(out));
        }

        static void run(void)
        {
            long size = get("block"), next = 0, first = 0;
            char *data = block(size);
            int log = -1;
            for (long i = 0; i < get("flushes"); i++) {
                log = NEED(open("log", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644));
                for (long j = 0; j < get("changes"); j++)
                    NEED(write(log, data, 20 + below(100)));
                NEED(fdatasync(log));
                NEED(close(log));
                int table = NEED(open(name("%05ld.table", next), O_WRONLY | O_CREAT | O_EXCL, 0644));
                for (long j = 0; j < get("blocks"); j++)
                    NEED(write(table, data, size));
                NEED(write(table, data, 48));
                NEED(fsync(table));
                NEED(close(table));
                next++;
                if (next - first == get("merged")) {
                    merge(first, next - 1, next, data, size);
                    first = next++;
                }
            }
        }
        """,
        flushes=rng.randint(2, 15),
        changes=rng.randint(2, 40),
        blocks=rng.randint(1, 20),
        block=rng.choice([1000, 4096, 32_768]),
        merged=rng.randint(2, 5),
    )


@kind("stores")
def two_slots(rng: random.Random) -> Program:
    """Checkpoints go into two slots of one file in turn; a block in front, synced last, says which is valid."""
    return c(
        rng,
        """
        static void run(void)
        {
            long size = get("block"), blocks = get("blocks");
            char *data = block(size > 512 ? size : 512);
            int file = NEED(open("slots", O_RDWR | O_CREAT, 0644));
            for (long i = 0; i < get("checkpoints"); i++) {
                NEED(pread(file, data, 512, 0));
                NEED(lseek(file, 4096 + i % 2 * blocks * size, SEEK_SET));
                for (long j = 0; j < blocks; j++)
                    NEED(write(file, data, size));
                NEED(fsync(file));
                NEED(pwrite(file, data, 512, 0));
                NEED(fdatasync(file));
                compute(20);
            }
            NEED(close(file));
        }
        """,
        checkpoints=rng.randint(1, 10),
        blocks=rng.randint(1, 25),
        block=rng.choice([4096, 50_000]),
    )


@kind("stores")
def with_holes(rng: random.Random) -> Program:
    """A sparse matrix: blocks lie far apart in a file, the rest are holes that are also read."""
    return c(
        rng,
        """
        static void run(void)
        {
            long size = get("block"), far = get("far");
            char *data = block(size);
            int file = NEED(open("sparse", O_RDWR | O_CREAT | O_TRUNC, 0644));
            if (get("reserve"))
                NEED(posix_fallocate(file, 0, get("blocks") * far));
            for (long i = 0; i < get("blocks"); i++)
                NEED(pwrite(file, data, size, i * far + (get("jitter") ? below(far - size) : 0)));
            NEED(lseek(file, 0, SEEK_SET));
            if (get("scan"))
                while (NEED(read(file, data, size)) > 0)
                    ;
            NEED(close(file));
        }
        """,
        block=rng.choice([100, 4096]),
        far=rng.choice([10_000, 65_536]),
        blocks=rng.randint(5, 60),
        reserve=rng.randint(0, 1),
        jitter=rng.randint(0, 1),
        scan=rng.randint(0, 1),
    )


@kind("stores")
def past_the_cache(rng: random.Random) -> Program:
    """Direct I/O in whole pages where the file system has it, else synchronous writes."""
    return c(
        rng,
        """
        static void run(void)
        {
            long size = 4096 * get("pages");
            char *data;
            NEED(-posix_memalign((void **)&data, 4096, (size_t)size));
            memset(data, 1, (size_t)size);
            for (long i = 0; i < get("files"); i++) {
                int flags = get("direct") ? O_DIRECT : O_DSYNC;
                int file = open(name("direct-%ld", i), O_RDWR | O_CREAT | flags, 0644);
                if (file < 0)
                    file = NEED(open(name("direct-%ld", i), O_RDWR | O_CREAT | O_SYNC, 0644));
                for (long j = 0; j < get("blocks"); j++)
                    NEED(write(file, data, size));
                for (long j = get("blocks") - 1; j >= 0; j -= 2)
                    NEED(pread(file, data, size, j * size));
                NEED(close(file));
            }
        }
        """,
        files=rng.randint(1, 4),
        pages=rng.choice([1, 4, 32]),
        blocks=rng.randint(1, 20),
        direct=rng.randint(0, 1),
    )


@kind("stores")
def several_descriptors(rng: random.Random) -> Program:
    """One file is open several times: a writer appends, readers follow it at their own places."""
    return c(
        rng,
        """
        static void run(void)
        {
            long readers = get("readers"), size = get("record");
            char *data = block(size * 4);
            int reader[8], writer = NEED(open("queue", O_WRONLY | O_CREAT | O_APPEND, 0644));
            for (long i = 0; i < readers; i++)
                reader[i] = NEED(open("queue", O_RDONLY));
            for (long i = 0; i < get("records"); i++) {
                NEED(write(writer, data, size));
                for (long j = 0; j < readers; j++)
                    if (i % (j + 1) == 0)
                        NEED(read(reader[j], data, size * (get("batch") ? 4 : 1)));
            }
            for (long i = 0; i < readers; i++)
                NEED(close(reader[i]));
            NEED(close(writer));
        }
        """,
        readers=rng.randint(1, 5),
        record=rng.choice([40, 1000, 8192]),
        records=rng.randint(10, 200),
        batch=rng.randint(0, 1),
    )


@kind("stores")
def kept_and_purged(rng: random.Random) -> Program:
    """Only the last few snapshots are kept: each new one deletes the oldest, and a link names the newest."""
    return c(
        rng,
        """
        static void run(void)
        {
            char *data = block(get("block"));
            for (long i = 0; i < get("snapshots"); i++) {
                int file = NEED(open(name("snapshot-%04ld", i), O_WRONLY | O_CREAT | O_EXCL, 0644));
                for (long j = 0; j < get("blocks") + i % 3; j++)
                    NEED(write(file, data, get("block")));
                NEED(close(file));
                unlink("latest");
                NEED(symlink(name("snapshot-%04ld", i), "latest"));
                if (i >= get("kept"))
                    NEED(unlink(name("snapshot-%04ld", i - get("kept"))));
                if (i % 3 == 2) {
                    file = NEED(open("latest", O_RDONLY));
                    NEED(read(file, data, get("block")));
                    NEED(close(file));
                }
                compute(10);
            }
        }
        """,
        snapshots=rng.randint(3, 25),
        blocks=rng.randint(1, 10),
        block=rng.choice([2000, 65_536]),
        kept=rng.randint(1, 4),
    )


@kind("stores")
def two_inputs_one_output(rng: random.Random) -> Program:
    """Two sorted inputs are merged: small buffered reads of both in turn, large writes of the result."""
    return c(
        rng,
        """
        static void run(void)
        {
            long part = get("part"), room = part * get("gathered"), used = 0;
            char *data = block(room);
            int left[2], out = NEED(open("merged", O_WRONLY | O_CREAT | O_TRUNC, 0644));
            for (long i = 0; i < 2; i++)
                left[i] = NEED(open(name("input-%04ld", i), O_RDONLY));
            for (long from = below(2), ended = 0; ended < 2; from = ended ? !from : below(2)) {
                long got = NEED(read(left[from], data + used, part));
                used += got;
                ended += !got;
                if (used + part > room) {
                    NEED(write(out, data, used));
                    used = 0;
                }
            }
            NEED(write(out, data, used));
            NEED(close(out));
            NEED(close(left[0]));
            NEED(close(left[1]));
        }
        """,
        INPUTS,
        files=2,
        size=rng.randint(20_000, 900_000),
        part=rng.choice([512, 4096, 10_000]),
        gathered=rng.randint(2, 60),
    )
