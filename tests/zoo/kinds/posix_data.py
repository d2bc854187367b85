"""Reads and writes of POSIX: orders, sizes, headers, journals."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import INPUTS, c


@kind("posix")
def sequential_dumps(rng: random.Random) -> Program:
    """Each dump is a file of its own, written from its start in equal blocks and a last shorter one."""
    return c(
        rng,
        """
        static void run(void)
        {
            long size = get("block");
            char *data = block(size);
            for (long dump = 0; dump < get("dumps"); dump++) {
                compute(20);
                int file = NEED(open(name("dump-%04ld", dump), O_WRONLY | O_CREAT | O_TRUNC, 0644));
                for (long i = 0; i < get("blocks"); i++)
                    NEED(write(file, data, size));
                NEED(write(file, data, get("tail")));
                if (get("sync"))
                    NEED(fsync(file));
                NEED(close(file));
            }
        }
        """,
        dumps=rng.randint(2, 12),
        blocks=rng.randint(3, 20),
        block=rng.choice([4096, 65536, 100_000, 262_144]),
        tail=rng.randint(1, 4000),
        sync=rng.randint(0, 1),
    )


@kind("posix")
def strided_columns(rng: random.Random) -> Program:
    """Columns of a table are written one after the other into rows, each with a stride."""
    return c(
        rng,
        """
        static void run(void)
        {
            long cell = get("cell"), rows = get("rows"), columns = get("columns");
            char *data = block(cell);
            int file = NEED(open("table", O_RDWR | O_CREAT | O_TRUNC, 0644));
            for (long column = 0; column < columns; column++) {
                for (long row = 0; row < rows; row++)
                    NEED(pwrite(file, data, cell, (row * columns + column) * cell));
                compute(10);
            }
            if (get("check"))
                for (long row = 0; row < rows; row += 2)
                    NEED(pread(file, data, cell, row * columns * cell));
            NEED(close(file));
        }
        """,
        cell=rng.choice([8, 512, 4096, 10_000]),
        rows=rng.randint(20, 200),
        columns=rng.randint(2, 9),
        check=rng.randint(0, 1),
    )


@kind("posix")
def backwards_reading(rng: random.Random) -> Program:
    """A log is searched from its end to its start, block by block, as a recovery does."""
    return c(
        rng,
        """
        static void run(void)
        {
            long size = get("block");
            char *data = block(size);
            for (long i = 0; i < get("files"); i++) {
                int file = NEED(open(name("input-%04ld", i), O_RDONLY));
                struct stat about;
                NEED(fstat(file, &about));
                for (off_t place = about.st_size - size; place >= 0; place -= size) {
                    NEED(lseek(file, place, SEEK_SET));
                    NEED(read(file, data, size));
                }
                NEED(close(file));
            }
        }
        """,
        INPUTS,
        files=rng.randint(1, 6),
        size=rng.randint(200_000, 2_000_000),
        block=rng.choice([1000, 4096, 16_384]),
    )


@kind("posix")
def random_records(rng: random.Random) -> Program:
    """Records of a table are looked up at random places, some of them often, as an index does."""
    return c(
        rng,
        """
        static void run(void)
        {
            long record = get("record"), records = get("size") / record;
            char *data = block(record);
            int file = NEED(open("input-0000", O_RDONLY));
            for (long i = 0; i < get("lookups"); i++) {
                long place = below(3) ? below(records) : below(10 < records ? 10 : records);
                NEED(pread(file, data, record, place * record));
            }
            NEED(close(file));
        }
        """,
        INPUTS,
        files=1,
        size=rng.randint(1, 8) * 1_000_000,
        record=rng.choice([64, 512, 4096, 12_288]),
        lookups=rng.randint(100, 1500),
    )


@kind("posix")
def appended_lines(rng: random.Random) -> Program:
    """A log is opened with O_APPEND for each line and closed again; lines have different lengths."""
    return c(
        rng,
        """
        static void run(void)
        {
            char *data = block(400);
            for (long i = 0; i < get("lines"); i++) {
                int file = NEED(open("run.log", O_WRONLY | O_CREAT | O_APPEND, 0644));
                NEED(write(file, data, 40 + below(get("spread"))));
                NEED(close(file));
                if (i % 10 == 0)
                    compute(5);
            }
        }
        """,
        lines=rng.randint(20, 300),
        spread=rng.choice([1, 30, 300]),
    )


@kind("posix")
def journal(rng: random.Random) -> Program:
    """Each transaction is a record in a journal, synced; every few are applied to the table and the journal is cut."""
    return c(
        rng,
        """
        static void run(void)
        {
            long page = 4096;
            char *data = block(page);
            int journal = NEED(open("journal", O_RDWR | O_CREAT, 0600));
            int table = NEED(open("table", O_RDWR | O_CREAT, 0600));
            for (long i = 1; i <= get("transactions"); i++) {
                NEED(write(journal, data, 24));
                NEED(write(journal, data, get("record")));
                NEED(fdatasync(journal));
                if (i % get("every") == 0) {
                    for (long j = 0; j < get("every"); j++)
                        NEED(pwrite(table, data, page, below(get("pages")) * page));
                    NEED(fsync(table));
                    NEED(ftruncate(journal, 0));
                    NEED(lseek(journal, 0, SEEK_SET));
                }
            }
            NEED(close(table));
            NEED(close(journal));
        }
        """,
        transactions=rng.randint(20, 120),
        record=rng.randint(50, 5000),
        every=rng.randint(4, 20),
        pages=rng.randint(10, 200),
    )


@kind("posix")
def reading_to_the_end(rng: random.Random) -> Program:
    """Files of unknown length are read in blocks until a read returns 0."""
    return c(
        rng,
        """
        static void run(void)
        {
            long size = get("block");
            char *data = block(size);
            for (long pass = 0; pass < get("passes"); pass++)
                for (long i = 0; i < get("files"); i++) {
                    int file = NEED(open(name("input-%04ld", i), O_RDONLY));
                    while (NEED(read(file, data, size)) > 0)
                        ;
                    NEED(close(file));
                }
        }
        """,
        """
for number in range(p.files):
    with open(f"input-{number:04d}", "wb") as file:
        file.write(rng.randbytes(rng.randint(0, p.size)))
""",
        files=rng.randint(5, 60),
        size=rng.randint(1000, 300_000),
        block=rng.choice([4096, 32_768, 1_000_000]),
        passes=rng.randint(1, 3),
    )


@kind("posix")
def header_rewritten(rng: random.Random) -> Program:
    """A file begins with a header that is written again after each section, with the number of sections."""
    return c(
        rng,
        """
        static void run(void)
        {
            long size = get("section");
            char *data = block(size > 512 ? size : 512);
            for (long dump = 0; dump < get("files"); dump++) {
                int file = NEED(open(name("result-%ld", dump), O_RDWR | O_CREAT | O_TRUNC, 0644));
                NEED(write(file, data, get("header")));
                for (long i = 0; i < get("sections"); i++) {
                    NEED(lseek(file, 0, SEEK_END));
                    NEED(write(file, data, 16));
                    NEED(write(file, data, size));
                    NEED(lseek(file, 0, SEEK_SET));
                    NEED(write(file, data, get("header")));
                }
                if (get("sync"))
                    NEED(fsync(file));
                NEED(close(file));
                compute(20);
            }
        }
        """,
        files=rng.randint(1, 6),
        header=rng.choice([64, 200, 512]),
        sections=rng.randint(2, 30),
        section=rng.choice([1000, 8192, 60_000]),
        sync=rng.randint(0, 1),
    )


@kind("posix")
def read_modify_write(rng: random.Random) -> Program:
    """Pages of an existing table are read, changed and written back to the same place."""
    return c(
        rng,
        """
        static void run(void)
        {
            long page = get("page"), pages = get("size") / page, changes = get("changes");
            char *data = block(page);
            int file = NEED(open("input-0000", O_RDWR));
            for (long i = 0; i < changes; i++) {
                long place = get("ordered") ? i % pages : below(pages);
                NEED(pread(file, data, page, place * page));
                data[i % page]++;
                NEED(pwrite(file, data, page, place * page));
            }
            NEED(close(file));
        }
        """,
        INPUTS,
        files=1,
        size=rng.randint(400_000, 4_000_000),
        page=rng.choice([512, 4096, 8192]),
        changes=rng.randint(30, 400),
        ordered=rng.randint(0, 1),
    )


@kind("posix")
def overwriting(rng: random.Random) -> Program:
    """Existing files are overwritten in place, not truncated, some parts of them and more at the end."""
    return c(
        rng,
        """
        static void run(void)
        {
            long size = get("block");
            char *data = block(size);
            for (long round = 0; round < get("rounds"); round++) {
                for (long i = 0; i < get("files"); i++) {
                    int file = NEED(open(name("input-%04ld", i), O_WRONLY));
                    NEED(lseek(file, get("skip"), SEEK_SET));
                    for (long j = 0; j < get("blocks"); j++)
                        NEED(write(file, data, size));
                    NEED(close(file));
                }
                compute(20);
            }
        }
        """,
        INPUTS,
        files=rng.randint(1, 8),
        size=rng.randint(50_000, 600_000),
        skip=rng.choice([0, 0, 1000, 20_000]),
        block=rng.choice([4096, 10_000, 32_768]),
        blocks=rng.randint(2, 25),
        rounds=rng.randint(1, 5),
    )


@kind("posix")
def unequal_files(rng: random.Random) -> Program:
    """Files of one purpose have sizes that differ by two orders of magnitude, and a call count that follows."""
    return c(
        rng,
        """
        static void run(void)
        {
            char *data = block(100000);
            for (long i = 0; i < get("files"); i++) {
                int file = NEED(open(name("part-%04ld", i), O_WRONLY | O_CREAT, 0644));
                long calls = 1 + below(get("calls"));
                for (long j = 0; j < calls; j++)
                    NEED(write(file, data, 100 + below(get("largest"))));
                if (below(3) == 0)
                    NEED(fsync(file));
                NEED(close(file));
            }
        }
        """,
        files=rng.randint(5, 80),
        calls=rng.randint(2, 40),
        largest=rng.choice([500, 20_000, 99_000]),
    )


@kind("posix")
def vectored(rng: random.Random) -> Program:
    """Records of a head and a body go out by writev and come back by preadv."""
    return c(
        rng,
        """
        static void run(void)
        {
            long body = get("body"), records = get("records");
            char *data = block(body);
            struct iovec parts[3] = {{data, 16}, {data, (size_t)body}, {data, 8}};
            int file = NEED(open("records", O_RDWR | O_CREAT | O_TRUNC, 0644));
            for (long i = 0; i < records; i++)
                NEED(writev(file, parts, 3));
            long *order = shuffled(records);
            for (long i = 0; i < get("reads"); i++) {
                long record = get("ordered") ? i % records : order[i % records];
                NEED(preadv(file, parts, 2, record * (body + 24)));
            }
            NEED(close(file));
        }
        """,
        body=rng.randint(100, 30_000),
        records=rng.randint(20, 150),
        reads=rng.randint(10, 200),
        ordered=rng.randint(0, 1),
    )


@kind("posix")
def several_lives(rng: random.Random) -> Program:
    """One name has several lives: written, read back, truncated and written again, deleted, made once more."""
    return c(
        rng,
        """
        static void run(void)
        {
            long size = get("block");
            char *data = block(size);
            for (long life = 0; life < get("lives"); life++) {
                int flags = life % 2 ? O_TRUNC : 0;
                int file = NEED(open("scratch", O_RDWR | O_CREAT | flags, 0600));
                long blocks = get("blocks") + (get("grows") ? life : 0);
                for (long i = 0; i < blocks; i++)
                    NEED(write(file, data, size));
                NEED(lseek(file, 0, SEEK_SET));
                for (long i = 0; i < blocks; i++)
                    NEED(read(file, data, size));
                NEED(close(file));
                if (life % 2)
                    NEED(unlink("scratch"));
                compute(10);
            }
        }
        """,
        lives=rng.randint(2, 9),
        blocks=rng.randint(2, 20),
        block=rng.choice([2000, 16_384, 65_536]),
        grows=rng.randint(0, 1),
    )


@kind("posix")
def out_of_core(rng: random.Random) -> Program:
    """A matrix larger than memory: tiles are written in rows, then read in columns, with a result per column."""
    return c(
        rng,
        """
        static void run(void)
        {
            long tile = get("tile"), n = get("tiles");
            char *data = block(tile);
            int matrix = NEED(open("matrix", O_RDWR | O_CREAT | O_TRUNC, 0600));
            for (long i = 0; i < n * n; i++)
                NEED(write(matrix, data, tile));
            int result = NEED(open("result", O_WRONLY | O_CREAT | O_TRUNC, 0600));
            for (long pass = 0; pass < get("passes"); pass++)
                for (long column = 0; column < n; column++) {
                    for (long row = 0; row < n; row++)
                        NEED(pread(matrix, data, tile, (row * n + column) * tile));
                    NEED(pwrite(result, data, tile, column * tile));
                }
            NEED(close(result));
            NEED(close(matrix));
            if (get("delete"))
                NEED(unlink("matrix"));
        }
        """,
        tile=rng.choice([800, 8192, 40_000]),
        tiles=rng.randint(3, 14),
        passes=rng.randint(1, 4),
        delete=rng.randint(0, 1),
    )


@kind("posix")
def open_together(rng: random.Random) -> Program:
    """Many output files are open at once and get a record each in turn, in rounds, with flushes to disk now and then."""
    return c(
        rng,
        """
        static void run(void)
        {
            long files = get("files"), rounds = get("rounds"), size = get("record");
            char *data = block(size * 2);
            int *file = HAVE(malloc((size_t)files * sizeof *file));
            for (long i = 0; i < files; i++)
                file[i] = NEED(open(name("station-%03ld", i), O_WRONLY | O_CREAT | O_TRUNC, 0644));
            for (long round = 0; round < rounds; round++) {
                for (long i = 0; i < files; i++)
                    NEED(write(file[i], data, get("unequal") ? size + i : size));
                if (get("sync") && round % get("sync") == 0)
                    NEED(fdatasync(file[round % files]));
                compute(2);
            }
            for (long i = 0; i < files; i++)
                NEED(close(file[i]));
        }
        """,
        files=rng.randint(2, 40),
        rounds=rng.randint(5, 60),
        record=rng.choice([80, 1000, 9000]),
        unequal=rng.randint(0, 1),
        sync=rng.choice([0, 1, 5]),
    )


@kind("posix")
def mapped_reading(rng: random.Random) -> Program:
    """Inputs are mapped after a small header was read; pages are touched, and a short result is written."""
    return c(
        rng,
        """
        static void run(void)
        {
            long sum = 0;
            for (long i = 0; i < get("files"); i++) {
                char header[64];
                struct stat about;
                int file = NEED(open(name("input-%04ld", i), O_RDONLY));
                NEED(read(file, header, sizeof header));
                NEED(fstat(file, &about));
                unsigned char *memory = mmap(0, (size_t)about.st_size, PROT_READ, MAP_SHARED, file, 0);
                if (memory == MAP_FAILED)
                    exit(93);
                for (off_t place = 0; place < about.st_size; place += 4096)
                    sum += memory[place];
                NEED(munmap(memory, (size_t)about.st_size));
                NEED(close(file));
            }
            int file = NEED(open("sum", O_WRONLY | O_CREAT | O_TRUNC, 0644));
            NEED(write(file, &sum, sizeof sum));
            NEED(close(file));
        }
        """,
        INPUTS,
        files=rng.randint(1, 12),
        size=rng.randint(5000, 3_000_000),
    )
