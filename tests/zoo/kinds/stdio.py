"""Streams of C's standard I/O, and processes that share work."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import INPUTS, c

TABLES = """
for number in range(p.files):
    with open(f"table-{number:03d}.txt", "w") as file:
        file.write("# step energy temperature\\n")
        for step in range(p.rows):
            file.write(f"{step} {rng.random():.8f} {rng.gauss(300, 10):.3f}\\n")
"""


@kind("stdio")
def text_log(rng: random.Random) -> Program:
    """A run's log by fprintf: a banner, a line per step, now and then a longer report, flushed as asked for."""
    return c(
        rng,
        """
        static void run(void)
        {
            FILE *log = HAVE(fopen("run.log", get("append") ? "a" : "w"));
            fprintf(log, "run of %ld steps\\n", get("steps"));
            for (long step = 0; step < get("steps"); step++) {
                fprintf(log, "step %6ld energy %.9f\\n", step, (double)below(1000000) / 7);
                if (step % get("every") == 0) {
                    for (long i = 0; i < 20; i++)
                        fprintf(log, "    %ld: %ld %ld\\n", i, below(1000), below(100000));
                    if (get("flush"))
                        NEED(fflush(log));
                }
                if (step % 50 == 0)
                    compute(5);
            }
            NEED(fclose(log));
        }
        """,
        steps=rng.randint(20, 2000),
        every=rng.randint(5, 50),
        flush=rng.randint(0, 1),
        append=rng.randint(0, 1),
    )


@kind("stdio")
def records_by_seek(rng: random.Random) -> Program:
    """Records of an input are read by fseek and fread, in an order of chance or each tenth."""
    return c(
        rng,
        """
        static void run(void)
        {
            long size = get("record"), records = get("size") / size;
            char *data = block(size);
            long *order = shuffled(records);
            FILE *file = HAVE(fopen("input-0000", "rb"));
            for (long i = 0; i < get("reads"); i++) {
                long record = get("random") ? order[i % records] : (i * 10) % records;
                NEED(fseek(file, record * size, SEEK_SET));
                if (fread(data, (size_t)size, 1, file) != 1)
                    exit(93);
            }
            NEED(fclose(file));
        }
        """,
        INPUTS,
        files=1,
        size=rng.randint(500_000, 4_000_000),
        record=rng.choice([100, 4096, 20_000]),
        reads=rng.randint(20, 500),
        random=rng.randint(0, 1),
    )


@kind("stdio")
def lines_of_tables(rng: random.Random) -> Program:
    """Text tables are read by fgets to their end, and a summary is written for each."""
    return c(
        rng,
        """
        static void run(void)
        {
            char line[200];
            for (long i = 0; i < get("files"); i++) {
                double sum = 0;
                FILE *table = HAVE(fopen(name("table-%03ld.txt", i), "r"));
                while (fgets(line, sizeof line, table))
                    sum += atof(line);
                NEED(fclose(table));
                FILE *result = HAVE(fopen(name("sum-%03ld.txt", i), "w"));
                fprintf(result, "%.6f\\n", sum);
                NEED(fclose(result));
            }
        }
        """,
        TABLES,
        files=rng.randint(1, 20),
        rows=rng.randint(10, 1500),
    )


@kind("stdio")
def buffered_restart(rng: random.Random) -> Program:
    """A restart of several arrays by fwrite through a large buffer of setvbuf, with an fsync before it is closed."""
    return c(
        rng,
        """
        static void run(void)
        {
            char *buffer = block(get("buffer"));
            for (long state = 0; state < get("states"); state++) {
                FILE *file = HAVE(fopen(name("restart.%02ld", state), "wb"));
                NEED(setvbuf(file, buffer, get("unbuffered") ? _IONBF : _IOFBF, (size_t)get("buffer")));
                int header[8] = {(int)state};
                fwrite(header, sizeof header, 1, file);
                for (long array = 0; array < get("arrays"); array++) {
                    long count = 100 + array * get("step");
                    double *values = (double *)block(count * 8);
                    fwrite(&count, sizeof count, 1, file);
                    fwrite(values, sizeof *values, (size_t)count, file);
                    free(values);
                }
                NEED(fflush(file));
                if (get("sync"))
                    NEED(fsync(fileno(file)));
                NEED(fclose(file));
                compute(20);
            }
        }
        """,
        states=rng.randint(1, 8),
        arrays=rng.randint(2, 25),
        step=rng.choice([0, 500, 3000]),
        buffer=rng.choice([65_536, 1_048_576]),
        unbuffered=rng.randint(0, 1),
        sync=rng.randint(0, 1),
    )


@kind("stdio")
def updated_in_place(rng: random.Random) -> Program:
    """A file of fixed records is opened with r+; records are read, changed, and written where they were."""
    return c(
        rng,
        """
        static void run(void)
        {
            long size = get("record"), records = get("size") / size;
            char *data = block(size);
            for (long round = 0; round < get("rounds"); round++) {
                FILE *file = HAVE(fopen("input-0000", "r+b"));
                for (long i = 0; i < get("updates"); i++) {
                    long place = below(records) * size;
                    NEED(fseek(file, place, SEEK_SET));
                    if (fread(data, (size_t)size, 1, file) != 1)
                        exit(93);
                    NEED(fseek(file, place, SEEK_SET));
                    fwrite(data, (size_t)size, 1, file);
                }
                NEED(fclose(file));
            }
        }
        """,
        INPUTS,
        files=1,
        size=rng.randint(100_000, 1_000_000),
        record=rng.choice([64, 1000]),
        updates=rng.randint(5, 100),
        rounds=rng.randint(1, 4),
    )


@kind("stdio")
def whole_and_again(rng: random.Random) -> Program:
    """A mesh is read whole after its length was found by seeking to the end; then it is rewound and read in parts."""
    return c(
        rng,
        """
        static void run(void)
        {
            for (long i = 0; i < get("files"); i++) {
                FILE *file = HAVE(fopen(name("input-%04ld", i), "rb"));
                NEED(fseek(file, 0, SEEK_END));
                long length = NEED(ftell(file));
                rewind(file);
                char *data = block(length);
                if (fread(data, 1, (size_t)length, file) != (size_t)length)
                    exit(93);
                if (get("again")) {
                    rewind(file);
                    while (fread(data, 1, (size_t)get("part"), file) > 0)
                        ;
                }
                free(data);
                NEED(fclose(file));
            }
        }
        """,
        INPUTS,
        files=rng.randint(1, 10),
        size=rng.randint(1000, 700_000),
        part=rng.choice([128, 5000]),
        again=rng.randint(0, 1),
    )


@kind("processes")
def forked_workers(rng: random.Random) -> Program:
    """Workers are forked; each reads its inputs and writes a result of its own. The parent then joins the results."""
    return c(
        rng,
        """
        static void work(long worker)
        {
            char *data = block(get("size"));
            int result = NEED(open(name("result-%ld", worker), O_WRONLY | O_CREAT | O_TRUNC, 0644));
            for (long i = worker; i < get("files"); i += get("workers")) {
                int file = NEED(open(name("input-%04ld", i), O_RDONLY));
                NEED(read(file, data, (size_t)get("size")));
                NEED(close(file));
                NEED(write(result, data, (size_t)(get("size") / 10)));
                compute(5);
            }
            NEED(close(result));
        }

        static void run(void)
        {
            for (long worker = 0; worker < get("workers"); worker++)
                if (!NEED(fork())) {
                    work(worker);
                    exit(0);
                }
            while (wait(0) > 0)
                ;
            char *data = block(4096);
            int joined = NEED(open("joined", O_WRONLY | O_CREAT | O_TRUNC, 0644));
            for (long worker = 0; worker < get("workers"); worker++) {
                long got;
                int file = NEED(open(name("result-%ld", worker), O_RDONLY));
                while ((got = NEED(read(file, data, 4096))) > 0)
                    NEED(write(joined, data, got));
                NEED(close(file));
            }
            NEED(close(joined));
        }
        """,
        INPUTS,
        files=rng.randint(4, 40),
        size=rng.randint(1000, 200_000),
        workers=rng.randint(1, 4),
    )


@kind("processes")
def appending_children(rng: random.Random) -> Program:
    """Children append to one log that the parent opened with O_APPEND, and each keeps a state file of its own."""
    return c(
        rng,
        """
        static void run(void)
        {
            char *data = block(2000);
            int log = NEED(open("shared.log", O_WRONLY | O_CREAT | O_APPEND, 0644));
            NEED(write(log, data, 100));
            for (long child = 0; child < get("children"); child++)
                if (!NEED(fork())) {
                    seed((unsigned long long)child + 1);
                    for (long i = 0; i < get("entries"); i++) {
                        NEED(write(log, data, 80));
                        int file = NEED(open(name("state-%ld", child), O_WRONLY | O_CREAT | O_TRUNC, 0644));
                        NEED(write(file, data, 1 + below(get("spread"))));
                        NEED(close(file));
                    }
                    exit(0);
                }
            while (wait(0) > 0)
                ;
            NEED(write(log, data, 100));
            NEED(close(log));
        }
        """,
        children=rng.randint(1, 4),
        entries=rng.randint(3, 80),
        spread=rng.choice([1, 1500]),
    )


@kind("processes")
def pipeline(rng: random.Random) -> Program:
    """A shell script of standard tools: a file is split, the parts are sorted and compressed, then put together."""
    return c(
        rng,
        """
        static void run(void)
        {
            NEED(setenv("LINES_OF_PART", word("lines"), 1));
            NEED(setenv("LC_ALL", "C", 1));
            int status = system(
                "set -e; split -l $LINES_OF_PART -d -a 4 table-000.txt part- ;"
                "for part in part-????; do sort -T . -o $part.sorted $part; gzip -c $part.sorted > $part.gz; rm $part; done;"
                "cat part-*.gz > all.gz; sort -T . -m part-*.sorted | head -n 20 > first.txt; wc -c < all.gz > size.txt");
            if (status)
                exit(93);
        }
        """,
        TABLES,
        files=1,
        rows=rng.randint(500, 20_000),
        lines=rng.choice([200, 1000, 4000]),
    )
