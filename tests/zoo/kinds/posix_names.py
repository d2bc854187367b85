"""Files by their names: renames, locks, states, probing, temporary files."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import INPUTS, c


@kind("names")
def renamed_into_place(rng: random.Random) -> Program:
    """Each checkpoint is written to a temporary name, synced and renamed to a name of its own."""
    return c(
        rng,
        """
        static void run(void)
        {
            long size = get("block");
            char *data = block(size);
            for (long i = 0; i < get("checkpoints"); i++) {
                const char *target = name("checkpoint-%ld", i), *temporary = name("%s.tmp", target);
                int file = NEED(open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0644));
                for (long j = 0; j < get("blocks"); j++)
                    NEED(write(file, data, size));
                NEED(fsync(file));
                NEED(close(file));
                NEED(rename(temporary, target));
                compute(20);
            }
        }
        """,
        checkpoints=rng.randint(2, 10),
        blocks=rng.randint(1, 30),
        block=rng.choice([1000, 20_000, 131_072]),
    )


@kind("names")
def renamed_over_one(rng: random.Random) -> Program:
    """One state file is replaced again and again; the state before is kept as a backup, if asked for."""
    return c(
        rng,
        """
        static void run(void)
        {
            long size = get("block");
            char *data = block(size);
            for (long i = 0; i < get("states"); i++) {
                int file = NEED(open("state.new", O_WRONLY | O_CREAT | O_TRUNC, 0644));
                for (long j = 0; j < get("blocks"); j++)
                    NEED(write(file, data, size));
                NEED(get("sync") ? fsync(file) : 0);
                NEED(close(file));
                if (i && get("backup"))
                    NEED(rename("state", "state.old"));
                NEED(rename("state.new", "state"));
                compute(20);
            }
        }
        """,
        states=rng.randint(2, 15),
        blocks=rng.randint(1, 20),
        block=rng.choice([500, 8192, 100_000]),
        sync=rng.randint(0, 1),
        backup=rng.randint(0, 1),
    )


@kind("names")
def small_states(rng: random.Random) -> Program:
    """Each task writes a small state file; later all are read and those that are done are written again."""
    return c(
        rng,
        """
        static void run(void)
        {
            char *data = block(4096);
            long tasks = get("tasks");
            NEED(mkdir("states", 0755));
            for (long i = 0; i < tasks; i++) {
                int file = NEED(open(name("states/%05ld", i), O_WRONLY | O_CREAT | O_TRUNC, 0644));
                NEED(write(file, data, 20 + below(get("spread"))));
                NEED(close(file));
            }
            for (long i = 0; i < tasks; i++) {
                int file = NEED(open(name("states/%05ld", i), O_RDONLY));
                NEED(read(file, data, 4096));
                NEED(close(file));
            }
            for (long i = 0; i < tasks; i += get("every")) {
                int file = NEED(open(name("states/%05ld", i), O_WRONLY | O_TRUNC));
                NEED(write(file, data, 30));
                NEED(close(file));
            }
        }
        """,
        tasks=rng.randint(30, 600),
        spread=rng.choice([1, 60, 2000]),
        every=rng.randint(1, 9),
    )


@kind("names")
def lock_files(rng: random.Random) -> Program:
    """A lock file with a process number guards each update of a shared counter, and is deleted after it."""
    return c(
        rng,
        """
        static void run(void)
        {
            char text[64] = "0";
            for (long i = 0; i < get("updates"); i++) {
                int lock = NEED(open("counter.lock", O_WRONLY | O_CREAT | O_EXCL, 0600));
                if (get("number"))
                    NEED(write(lock, text, (size_t)sprintf(text, "%ld", (long)getpid())));
                NEED(close(lock));
                int file = NEED(open("counter", O_RDWR | O_CREAT, 0600));
                NEED(read(file, text, sizeof text));
                NEED(pwrite(file, text, (size_t)sprintf(text, "%08ld", i), 0));
                NEED(close(file));
                NEED(unlink("counter.lock"));
            }
        }
        """,
        updates=rng.randint(10, 200),
        number=rng.randint(0, 1),
    )


@kind("names")
def markers(rng: random.Random) -> Program:
    """Empty marker files say which steps are done: made, synced, asked for, and opened again; few carry bytes."""
    return c(
        rng,
        """
        static void run(void)
        {
            struct stat about;
            for (long i = 0; i < get("steps"); i++) {
                int file = NEED(open(name("step-%04ld.done", i), O_WRONLY | O_CREAT, 0644));
                if (get("sync"))
                    NEED(fsync(file));
                NEED(close(file));
                for (long j = 0; j < get("asks"); j++)
                    NEED(stat(name("step-%04ld.done", below(i + 1)), &about));
            }
            int file = NEED(open("summary", O_WRONLY | O_CREAT, 0644));
            NEED(write(file, &about, sizeof about));
            NEED(close(file));
        }
        """,
        steps=rng.randint(10, 300),
        sync=rng.randint(0, 1),
        asks=rng.randint(0, 5),
    )


@kind("names")
def only_empty(rng: random.Random) -> Program:
    """No byte is moved at all: files are made, opened, synced, asked for and closed."""
    return c(
        rng,
        """
        static void run(void)
        {
            struct stat about;
            for (long round = 0; round < get("rounds"); round++)
                for (long i = 0; i < get("files"); i++) {
                    int file = NEED(open(name("token-%04ld", i), O_RDWR | O_CREAT, 0644));
                    NEED(fstat(file, &about));
                    if (get("sync"))
                        NEED(fsync(file));
                    NEED(close(file));
                }
        }
        """,
        rounds=rng.randint(1, 4),
        files=rng.randint(5, 200),
        sync=rng.randint(0, 1),
    )


@kind("names")
def probing(rng: random.Random) -> Program:
    """A search path: candidates are asked for, most of them missing, and those that exist are opened and read."""
    return c(
        rng,
        """
        static void run(void)
        {
            char data[4096];
            struct stat about;
            for (long i = 0; i < get("searches"); i++) {
                const char *found = name("input-%04ld", below(get("files")));
                for (long j = 0; j < get("missing"); j++)
                    stat(name("missing-%ld-%ld", i, j), &about);
                NEED(stat(found, &about));
                NEED(access(found, R_OK));
                if (below(get("rare")) == 0) {
                    int file = NEED(open(found, O_RDONLY));
                    NEED(read(file, data, sizeof data));
                    NEED(close(file));
                }
            }
        }
        """,
        INPUTS,
        files=rng.randint(3, 100),
        size=rng.randint(100, 20_000),
        searches=rng.randint(30, 400),
        missing=rng.randint(0, 5),
        rare=rng.randint(1, 10),
    )


@kind("names")
def scratch_files(rng: random.Random) -> Program:
    """Temporary files lose their name while they are open; sorted runs go out and are merged from there."""
    return c(
        rng,
        """
        static void run(void)
        {
            long size = get("block"), runs = get("runs"), blocks = get("blocks");
            char *data = block(size);
            int *file = HAVE(malloc((size_t)runs * sizeof *file));
            for (long i = 0; i < runs; i++) {
                char *path = strdup("run-XXXXXX");
                file[i] = NEED(mkstemp(path));
                NEED(unlink(path));
                for (long j = 0; j < blocks; j++)
                    NEED(write(file[i], data, size));
                NEED(lseek(file[i], 0, SEEK_SET));
            }
            int merged = NEED(open("merged", O_WRONLY | O_CREAT | O_TRUNC, 0644));
            for (long j = 0; j < blocks; j++)
                for (long i = 0; i < runs; i++) {
                    NEED(read(file[i], data, size));
                    NEED(write(merged, data, size));
                }
            NEED(close(merged));
            for (long i = 0; i < runs; i++)
                NEED(close(file[i]));
        }
        """,
        runs=rng.randint(2, 12),
        blocks=rng.randint(3, 30),
        block=rng.choice([4096, 30_000, 65_536]),
    )


@kind("names")
def truncated_log(rng: random.Random) -> Program:
    """A log is cut to its head when it has become too long, and grows again; the file stays open."""
    return c(
        rng,
        """
        static void run(void)
        {
            char *data = block(5000);
            long length = 0;
            int file = NEED(open("history", O_RDWR | O_CREAT | O_TRUNC, 0644));
            for (long i = 0; i < get("entries"); i++) {
                long size = 50 + below(get("spread"));
                NEED(write(file, data, size));
                length += size;
                if (length > get("limit")) {
                    length = get("head");
                    NEED(ftruncate(file, length));
                    NEED(lseek(file, length, SEEK_SET));
                }
            }
            NEED(close(file));
        }
        """,
        entries=rng.randint(50, 500),
        spread=rng.choice([1, 200, 4000]),
        limit=rng.randint(20_000, 100_000),
        head=rng.choice([0, 1000]),
    )


@kind("names")
def tree_walk(rng: random.Random) -> Program:
    """A tree of folders is listed, every file is asked for its size, and those below a size are read whole."""
    return c(
        rng,
        """
        static void walk(const char *folder)
        {
            DIR *entries = HAVE(opendir(folder));
            struct dirent *entry;
            while ((entry = readdir(entries))) {
                char path[600];
                struct stat about;
                if (entry->d_name[0] == '.')
                    continue;
                snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
                NEED(lstat(path, &about));
                if (S_ISDIR(about.st_mode)) {
                    walk(path);
                } else if (about.st_size < get("limit")) {
                    char *data = block(about.st_size);
                    int file = NEED(open(path, O_RDONLY));
                    NEED(read(file, data, (size_t)about.st_size));
                    NEED(close(file));
                    free(data);
                }
            }
            closedir(entries);
        }

        static void run(void)
        {
            walk("tree");
        }
        """,
        """
for number in range(p.files):
    folder = f"tree/{number % p.folders}/{number % 3}"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/{number}", "wb") as file:
        file.write(rng.randbytes(rng.randint(10, 20_000)))
""",
        files=rng.randint(20, 300),
        folders=rng.randint(1, 10),
        limit=rng.choice([1000, 10_000, 100_000]),
    )


@kind("names")
def copied(rng: random.Random) -> Program:
    """Inputs are staged: copied to a folder of the job, by read and write or by copy_file_range, with their mode."""
    return c(
        rng,
        """
        static void run(void)
        {
            char *data = block(get("buffer"));
            NEED(mkdir("job", 0755));
            for (long i = 0; i < get("files"); i++) {
                struct stat about;
                int from = NEED(open(name("input-%04ld", i), O_RDONLY));
                NEED(fstat(from, &about));
                int to = NEED(open(name("job/input-%04ld", i), O_WRONLY | O_CREAT | O_EXCL, about.st_mode));
                if (get("kernel")) {
                    for (long left = about.st_size; left > 0;)
                        left -= NEED(copy_file_range(from, 0, to, 0, (size_t)left, 0));
                } else {
                    long got;
                    while ((got = NEED(read(from, data, get("buffer")))) > 0)
                        NEED(write(to, data, got));
                }
                NEED(fchmod(to, about.st_mode));
                NEED(close(to));
                NEED(close(from));
            }
        }
        """,
        INPUTS,
        files=rng.randint(1, 20),
        size=rng.randint(1000, 800_000),
        buffer=rng.choice([4096, 131_072]),
        kernel=rng.randint(0, 1),
    )


@kind("names")
def given_away(rng: random.Random) -> Program:
    """A descriptor is duplicated and made a stream: a binary header by write, then text by fprintf."""
    return c(
        rng,
        """
        static void run(void)
        {
            char *data = block(512);
            for (long i = 0; i < get("files"); i++) {
                int file = NEED(open(name("table-%ld.txt", i), O_RDWR | O_CREAT | O_TRUNC, 0644));
                NEED(write(file, data, 128));
                FILE *stream = HAVE(fdopen(get("duplicate") ? NEED(dup(file)) : file, "w+"));
                for (long j = 0; j < get("rows"); j++)
                    fprintf(stream, "%ld %ld\\n", j, below(1000000));
                if (get("sync")) {
                    NEED(fflush(stream));
                    NEED(fsync(fileno(stream)));
                }
                NEED(fclose(stream));
                if (get("duplicate"))
                    NEED(close(file));
            }
        }
        """,
        files=rng.randint(1, 12),
        rows=rng.randint(5, 400),
        duplicate=rng.randint(0, 1),
        sync=rng.randint(0, 1),
    )
