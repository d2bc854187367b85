"""Tools of developers: compilers under make, and Git."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import c

SOURCES = """
os.mkdir("src")
os.mkdir("include")
for number in range(p.headers):
    with open(f"include/header{number:02d}.h", "w") as file:
        file.writelines(f"int function{number}_{i}(int);\\n" for i in range(rng.randint(1, 200)))
for number in range(p.units):
    with open(f"src/unit{number:03d}.c", "w") as file:
        file.writelines(f"int value{i} = {i};\\n" for i in range(rng.randint(5, 600)))
"""


@kind("builds")
def parallel_make(rng: random.Random) -> Program:
    """make -j: targets and sources are compared by their times, then compilers run side by side, and a linker.

    A compiler looks for each header along its path, reads it and the source whole, passes its assembly on in a
    temporary file, and writes an object and its dependencies. Then some sources change, and make runs again.
    """
    return c(
        rng,
        """
        static char *data;

        static long whole(int file)
        {
            struct stat state;
            NEED(fstat(file, &state));
            if (state.st_size)
                NEED(read(file, data, state.st_size));
            NEED(close(file));
            return state.st_size;
        }

        static void spill(const char *path, long size, long part)
        {
            int file = NEED(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
            for (long done = 0; done < size; done += part)
                NEED(write(file, data, size - done < part ? size - done : part));
            NEED(close(file));
        }

        static void compile(long unit)
        {
            static const char *const places[4] = {"src", "generated", "third/include", "include"};
            long size = whole(NEED(open(name("src/unit%03ld.c", unit), O_RDONLY | O_NOCTTY)));
            for (long i = 0; i < get("used"); i++)
                for (int j = 0; j < 4; j++) {
                    int file = open(name("%s/header%02ld.h", places[j], (unit + i * 3) % get("headers")), O_RDONLY | O_NOCTTY);
                    if (file < 0)
                        continue;
                    size += whole(file) / 4;
                    break;
                }
            size = size * 2 + 900;
            spill(name("build/tmp/cc%03ld.s", unit), size, 4096);
            whole(NEED(open(name("build/tmp/cc%03ld.s", unit), O_RDONLY)));
            int file = NEED(open(name("build/unit%03ld.o", unit), O_RDWR | O_CREAT | O_TRUNC, 0666));
            NEED(lseek(file, 64, SEEK_SET));
            for (long done = 64; done < size; done += 4096)
                NEED(write(file, data, 4096));
            NEED(lseek(file, 0, SEEK_SET));
            NEED(write(file, data, 64));
            NEED(close(file));
            spill(name("build/unit%03ld.d", unit), 30 * get("used") + 20, 4096);
            NEED(unlink(name("build/tmp/cc%03ld.s", unit)));
        }

        static void make(long first, long every)
        {
            struct stat state;
            long running = 0;
            for (long unit = 0; unit < get("units"); unit++) {
                stat(name("build/unit%03ld.o", unit), &state);
                NEED(stat(name("src/unit%03ld.c", unit), &state));
            }
            for (long i = 0; i < get("headers"); i++)
                NEED(stat(name("include/header%02ld.h", i), &state));
            for (long unit = first; unit < get("units"); unit += every) {
                if (running == get("jobs")) {
                    wait(0);
                    running--;
                }
                if (!NEED(fork())) {
                    compile(unit);
                    exit(0);
                }
                running++;
            }
            while (wait(0) > 0)
                ;
            long size = 0;
            for (long unit = 0; unit < get("units"); unit++) {
                int file = NEED(open(name("build/unit%03ld.o", unit), O_RDONLY));
                NEED(fstat(file, &state));
                NEED(read(file, data, 64));
                NEED(pread(file, data, 1024, state.st_size - 1024 > 0 ? state.st_size - 1024 : 0));
                NEED(pread(file, data, state.st_size, 64));
                NEED(close(file));
                size += state.st_size;
            }
            unlink("build/program");
            spill("build/program", size, 65536);
            NEED(chmod("build/program", 0755));
        }

        static void run(void)
        {
            data = block(4 << 20);
            NEED(mkdir("build", 0755));
            NEED(mkdir("build/tmp", 0755));
            make(0, 1);
            for (long i = 0; i < get("again"); i++) {
                for (long unit = 0; unit < get("units"); unit += 4)
                    spill(name("src/unit%03ld.c", unit), 3000 + 100 * i, 4096);
                make(0, 4);
            }
        }
        """,
        SOURCES,
        units=rng.randint(3, 40),
        headers=rng.randint(2, 20),
        used=rng.randint(1, 10),
        jobs=rng.randint(1, 4),
        again=rng.randint(0, 2),
    )


@kind("builds")
def git_commits(rng: random.Random) -> Program:
    """Git: a commit hashes changed files into loose objects, replaces the index by its lock, and moves the branch.

    All tracked files are asked for their state first. An object is written under a temporary name in its folder, and
    linked or renamed to its own; logs are appended.
    """
    return c(
        rng,
        """
        static char *data;

        static void object(long number, long size)
        {
            const char *folder = name(".git/objects/%02lx", number * 37 % 256);
            mkdir(folder, 0755);
            const char *temporary = name("%s/tmp_obj_%06ld", folder, number), *final = name("%s/%038lx", folder, number);
            int file = NEED(open(temporary, O_RDWR | O_CREAT | O_EXCL, 0444));
            for (long done = 0; done < size; done += 4096)
                NEED(write(file, data, size - done < 4096 ? size - done : 4096));
            if (get("sync"))
                NEED(fsync(file));
            NEED(close(file));
            NEED(link(temporary, final));
            NEED(unlink(temporary));
        }

        static void locked(const char *path, long size)
        {
            const char *lock = name("%s.lock", path);
            int file = NEED(open(lock, O_RDWR | O_CREAT | O_EXCL, 0666));
            for (long done = 0; done < size; done += 8192)
                NEED(write(file, data, size - done < 8192 ? size - done : 8192));
            NEED(close(file));
            NEED(rename(lock, path));
        }

        static long slurp(const char *path)
        {
            struct stat state;
            int file = open(path, O_RDONLY);
            if (file < 0)
                return 0;
            NEED(fstat(file, &state));
            long got = NEED(read(file, data, state.st_size));
            NEED(close(file));
            return got;
        }

        static void run(void)
        {
            static const char *const folders[6] = {".git", ".git/objects", ".git/refs", ".git/refs/heads", ".git/logs", ".git/hooks"};
            long files = get("files"), next = 1;
            struct stat state;
            data = block(1 << 20);
            for (int i = 0; i < 6; i++)
                NEED(mkdir(folders[i], 0755));
            locked(".git/config", 92);
            locked(".git/HEAD", 23);
            for (long i = 0; i < files; i++) {
                int file = NEED(open(name("file-%04ld", i), O_WRONLY | O_CREAT, 0644));
                NEED(write(file, data, 100 + below(get("largest"))));
                NEED(close(file));
            }
            for (long commit = 0; commit < get("commits"); commit++) {
                slurp(".git/config");
                slurp(".git/HEAD");
                slurp(".git/index");
                long changed = commit ? get("changed") : files;
                for (long i = 0; i < files; i++)
                    NEED(lstat(name("file-%04ld", i), &state));
                for (long i = 0; i < changed; i++)
                    object(next++, slurp(name("file-%04ld", commit ? below(files) : i)) / 2 + 20);
                locked(".git/index", 12 + files * 72 + 20);
                access(".git/hooks/pre-commit", X_OK);
                object(next++, 40 + files * 3);
                object(next++, 150);
                locked(".git/refs/heads/main", 41);
                int log = NEED(open(".git/logs/HEAD", O_WRONLY | O_CREAT | O_APPEND, 0666));
                NEED(write(log, data, 160));
                NEED(close(log));
            }
        }
        """,
        files=rng.randint(5, 150),
        largest=rng.choice([500, 9000, 100_000]),
        commits=rng.randint(1, 12),
        changed=rng.randint(1, 8),
        sync=rng.randint(0, 1),
    )


@kind("builds")
def git_gc(rng: random.Random) -> Program:
    """git gc: loose objects are read in order and packed, the pack is read again for its index, loose ones are pruned.

    The pack and the index get their names when they are complete; references are packed by a lock that is renamed.
    """
    return c(
        rng,
        """
        static int ahead(const void *left, const void *right)
        {
            return *(const long *)left < *(const long *)right ? -1 : 1;
        }

        static void run(void)
        {
            char *data = block(1 << 20), path[300];
            long found = 0, *number = HAVE(malloc(sizeof *number * 4096)), got;
            struct stat state;
            int lock = NEED(open(".git/gc.pid.lock", O_RDWR | O_CREAT | O_EXCL, 0666));
            NEED(write(lock, data, 20));
            NEED(close(lock));
            NEED(rename(".git/gc.pid.lock", ".git/gc.pid"));
            for (long i = 0; i < 256; i++) {
                DIR *folder = opendir(name(".git/objects/%02lx", i));
                if (!folder)
                    continue;
                for (struct dirent *entry; (entry = readdir(folder));)
                    if (entry->d_name[0] == 'o')
                        number[found++] = atol(entry->d_name + 1);
                closedir(folder);
            }
            qsort(number, (size_t)found, sizeof *number, ahead);
            long *order = shuffled(found);
            int pack = NEED(open(".git/objects/pack/tmp_pack_A1b2C3", O_RDWR | O_CREAT | O_EXCL, 0444));
            NEED(write(pack, data, 12));
            for (long i = 0; i < found; i++) {
                snprintf(path, sizeof path, ".git/objects/%02lx/o%ld", number[order[i]] % 256, number[order[i]]);
                int file = NEED(open(path, O_RDONLY));
                NEED(fstat(file, &state));
                NEED(read(file, data, state.st_size));
                NEED(close(file));
                for (long done = 0; done < state.st_size; done += 8192)
                    NEED(write(pack, data, state.st_size - done < 8192 ? state.st_size - done : 8192));
            }
            NEED(lseek(pack, 0, SEEK_SET));
            while ((got = NEED(read(pack, data, 65536))) > 0)
                ;
            NEED(write(pack, data, 20));
            NEED(fsync(pack));
            NEED(close(pack));
            int index = NEED(open(".git/objects/pack/tmp_idx_D4e5F6", O_RDWR | O_CREAT | O_EXCL, 0444));
            NEED(write(index, data, 8 + 1024));
            for (long left = found * 28 + 40; left > 0; left -= 8192)
                NEED(write(index, data, left < 8192 ? left : 8192));
            NEED(fsync(index));
            NEED(close(index));
            NEED(rename(".git/objects/pack/tmp_pack_A1b2C3", ".git/objects/pack/pack-0a.pack"));
            NEED(rename(".git/objects/pack/tmp_idx_D4e5F6", ".git/objects/pack/pack-0a.idx"));
            for (long i = 0; i < found; i++) {
                NEED(access(name(".git/objects/%02lx/o%ld", number[i] % 256, number[i]), F_OK));
                NEED(unlink(name(".git/objects/%02lx/o%ld", number[i] % 256, number[i])));
            }
            for (long i = 0; i < 256; i++)
                rmdir(name(".git/objects/%02lx", i));
            for (long i = 0; i < get("refs"); i++) {
                int file = NEED(open(name(".git/refs/r%ld", i), O_RDONLY));
                NEED(read(file, data, 256));
                NEED(close(file));
            }
            lock = NEED(open(".git/packed-refs.lock", O_RDWR | O_CREAT | O_EXCL, 0666));
            NEED(write(lock, data, 50 + 60 * get("refs")));
            NEED(close(lock));
            NEED(rename(".git/packed-refs.lock", ".git/packed-refs"));
            for (long i = 0; i < get("refs"); i++)
                NEED(unlink(name(".git/refs/r%ld", i)));
            NEED(unlink(".git/gc.pid"));
        }
        """,
        """
os.makedirs(".git/objects/pack")
os.makedirs(".git/refs")
for number in range(p.objects):
    folder = f".git/objects/{number * 7 % 256:02x}"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/o{number * 7}", "wb") as file:
        file.write(rng.randbytes(rng.randint(40, p.largest)))
for number in range(p.refs):
    with open(f".git/refs/r{number}", "w") as file:
        file.write("0" * 40 + "\\n")
""",
        objects=rng.randint(10, 400),
        largest=rng.choice([300, 5000, 60_000]),
        refs=rng.randint(1, 20),
    )
