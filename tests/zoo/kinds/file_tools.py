"""Tools that move whole trees of files: tar, rsync, a package manager."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import c

TREE = """
for folder in range(p.folders):
    os.makedirs(f"tree/d{folder % 3}/d{folder}")
    for number in range(rng.randint(1, p.files)):
        with open(f"tree/d{folder % 3}/d{folder}/f{number:03d}", "wb") as file:
            file.write(rng.randbytes(int(rng.random() ** 3 * p.largest)))
"""
"""A tree of folders whose files are small for the most part."""


@kind("builds")
def tar_tree(rng: random.Random) -> Program:
    """tar: a tree goes into an archive in records of 10 KiB, and comes out of it again in another folder.

    Headers and contents are padded to 512 bytes, and collected in the record; contents are read as the record has
    room for them. Extraction makes each file anew, then sets its mode.
    """
    return c(
        rng,
        """
        static char record[10240];
        static long used, archive, members;
        static char names[4096][64];
        static long sizes[4096];

        static void put(long size)
        {
            used += size;
            if (used == sizeof record) {
                NEED(write(archive, record, sizeof record));
                used = 0;
            }
        }

        static void add(const char *path)
        {
            struct stat state;
            NEED(lstat(path, &state));
            strcpy(names[members], path);
            sizes[members++] = S_ISDIR(state.st_mode) ? -1 : state.st_size;
            put(512);
            if (S_ISDIR(state.st_mode)) {
                struct dirent **entries;
                long count = NEED(scandir(path, &entries, 0, alphasort));
                for (long i = 0; i < count; i++)
                    if (entries[i]->d_name[0] != '.') {
                        char inner[512];
                        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
                        add(inner);
                    }
                return;
            }
            if (!state.st_size)
                return;
            int file = NEED(open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
            NEED(fstat(file, &state));
            for (long left = state.st_size; left > 0;) {
                long room = (long)sizeof record - used, part = left < room ? left : room;
                NEED(read(file, record + used, part));
                left -= part;
                put((part + 511) / 512 * 512);
            }
            NEED(close(file));
        }

        static void take(long size)
        {
            if (used == sizeof record) {
                NEED(read(archive, record, sizeof record));
                used = 0;
            }
            used += size;
        }

        static void run(void)
        {
            archive = NEED(open("tree.tar", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
            add("tree");
            put(512);
            used = used ? sizeof record : 0;
            if (used)
                NEED(write(archive, record, sizeof record));
            NEED(close(archive));
            if (!get("extract"))
                return;
            NEED(mkdir("copy", 0755));
            archive = NEED(open("tree.tar", O_RDONLY | O_CLOEXEC));
            used = sizeof record;
            for (long i = 0; i < members; i++) {
                const char *target = name("copy/%s", names[i]);
                take(512);
                if (sizes[i] < 0) {
                    NEED(mkdir(target, 0700));
                    continue;
                }
                int file = NEED(open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0600));
                for (long left = sizes[i]; left > 0;) {
                    if (used == sizeof record)
                        take(0);
                    long room = (long)sizeof record - used, part = left < room ? left : room;
                    NEED(write(file, record + used, part));
                    left -= part;
                    used += (part + 511) / 512 * 512;
                }
                NEED(fchmod(file, 0644));
                NEED(close(file));
            }
            NEED(close(archive));
        }
        """,
        TREE,
        folders=rng.randint(1, 12),
        files=rng.randint(1, 30),
        largest=rng.choice([900, 30_000, 300_000]),
        extract=rng.randint(0, 1),
    )


@kind("builds")
def rsync_mirror(rng: random.Random) -> Program:
    """rsync: a mirror is brought up to date. States are compared file by file, and only what differs is sent.

    The old copy is read for checksums of its blocks, the source is read whole; the new copy goes to a hidden temporary
    file, which gets the time and mode of the source and is renamed. What the source has lost is deleted.
    """
    return c(
        rng,
        """
        static char *data;

        static void update(const char *from, const char *to, const char *temporary, struct stat *state)
        {
            long piece = get("piece"), got;
            int old = open(to, O_RDONLY), source;
            if (old >= 0)
                while ((got = NEED(read(old, data, piece))) > 0)
                    ;
            source = NEED(open(from, O_RDONLY));
            int copy = NEED(open(temporary, O_RDWR | O_CREAT | O_EXCL, 0600));
            for (long done = 0; (got = NEED(read(source, data, 32768))) > 0; done += got)
                for (long part = 0; part < got; part += piece) {
                    long size = got - part < piece ? got - part : piece;
                    if (old >= 0 && below(10) < 8)
                        NEED(pread(old, data, size, done + part));
                    NEED(write(copy, data, size));
                }
            struct timespec times[2] = {state->st_atim, state->st_mtim};
            NEED(fchmod(copy, 0644));
            NEED(close(copy));
            NEED(close(source));
            if (old >= 0)
                NEED(close(old));
            NEED(utimensat(AT_FDCWD, temporary, times, 0));
            NEED(rename(temporary, to));
        }

        static void mirror(const char *from, const char *to)
        {
            struct dirent **entries;
            struct stat here, there;
            long count = NEED(scandir(from, &entries, 0, alphasort));
            mkdir(to, 0755);
            for (long i = 0; i < count; i++) {
                char source[512], target[512], temporary[512];
                const char *entry = entries[i]->d_name;
                if (entry[0] == '.')
                    continue;
                snprintf(source, sizeof source, "%s/%s", from, entry);
                snprintf(target, sizeof target, "%s/%s", to, entry);
                snprintf(temporary, sizeof temporary, "%s/.%s.Xy%04ld", to, entry, i);
                NEED(lstat(source, &here));
                int absent = lstat(target, &there);
                if (S_ISDIR(here.st_mode))
                    mirror(source, target);
                else if (absent || here.st_size != there.st_size || here.st_mtime != there.st_mtime)
                    update(source, target, temporary, &here);
            }
            if (!get("deleting"))
                return;
            count = NEED(scandir(to, &entries, 0, alphasort));
            for (long i = 0; i < count; i++)
                if (entries[i]->d_name[0] != '.' && lstat(name("%s/%s", from, entries[i]->d_name), &here))
                    NEED(unlink(name("%s/%s", to, entries[i]->d_name)));
        }

        static void run(void)
        {
            data = block(1 << 17);
            mirror("tree", "mirror");
            for (long pass = 0; pass < get("passes"); pass++) {
                for (long folder = 0; folder < get("folders"); folder++) {
                    const char *path = name("tree/d%ld/d%ld/f%03ld", folder % 3, folder, pass);
                    int file = NEED(open(path, O_WRONLY | O_CREAT | O_APPEND, 0644));
                    NEED(write(file, data, 700));
                    NEED(close(file));
                }
                unlink("tree/d0/d0/f000");
                mirror("tree", "mirror");
            }
        }
        """,
        TREE,
        folders=rng.randint(1, 10),
        files=rng.randint(2, 25),
        largest=rng.choice([5000, 60_000, 400_000]),
        piece=rng.choice([700, 2048]),
        passes=rng.randint(1, 3),
        deleting=rng.randint(0, 1),
    )


@kind("builds")
def package_upgrade(rng: random.Random) -> Program:
    """A package manager as dpkg is: files are unpacked beside the old ones, synced, and renamed over them.

    The list of the package's files and the database of states are written anew each time, the latter with a backup;
    updates between are numbered files in a journal folder.
    """
    return c(
        rng,
        """
        static char *data;

        static void spill(const char *path, long size, int synced)
        {
            int file = NEED(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
            for (long done = 0; done < size; done += 32768)
                NEED(write(file, data, size - done < 32768 ? size - done : 32768));
            NEED(synced ? fsync(file) : 0);
            NEED(close(file));
        }

        static void run(void)
        {
            long files = get("files"), updates = 0;
            struct stat state;
            data = block(1 << 15);
            NEED(mkdir("info", 0755));
            NEED(mkdir("updates", 0755));
            NEED(mkdir("usr", 0755));
            spill("status", get("status"), 1);
            for (long package = 0; package < get("packages"); package++)
                for (long version = 0; version < 2; version++) {
                    int file = NEED(open("status", O_RDONLY));
                    while (NEED(read(file, data, 32768)) > 0)
                        ;
                    NEED(close(file));
                    mkdir(name("usr/p%ld", package), 0755);
                    for (long i = 0; i < files; i++) {
                        const char *path = name("usr/p%ld/f%03ld", package, i);
                        int there = !lstat(path, &state);
                        spill(name("%s.dpkg-new", path), below(get("largest")), 0);
                        if (there) {
                            unlink(name("%s.dpkg-tmp", path));
                            NEED(link(path, name("%s.dpkg-tmp", path)));
                        }
                    }
                    for (long i = 0; i < files; i++) {
                        int file = NEED(open(name("usr/p%ld/f%03ld.dpkg-new", package, i), O_WRONLY));
                        NEED(fsync(file));
                        NEED(close(file));
                    }
                    for (long i = 0; i < files; i++) {
                        const char *path = name("usr/p%ld/f%03ld", package, i);
                        NEED(rename(name("%s.dpkg-new", path), path));
                    }
                    for (long i = 0; i < files; i++)
                        unlink(name("usr/p%ld/f%03ld.dpkg-tmp", package, i));
                    spill(name("info/p%ld.list-new", package), files * 20, 1);
                    NEED(rename(name("info/p%ld.list-new", package), name("info/p%ld.list", package)));
                    for (int stage = 0; stage < 3; stage++) {
                        spill("updates/tmp.i", 1200, 1);
                        NEED(rename("updates/tmp.i", name("updates/%04ld", updates++)));
                    }
                    if (updates < get("most"))
                        continue;
                    spill("status-new", get("status") + 300 * package, 1);
                    unlink("status-old");
                    NEED(link("status", "status-old"));
                    NEED(rename("status-new", "status"));
                    while (updates)
                        NEED(unlink(name("updates/%04ld", --updates)));
                }
        }
        """,
        packages=rng.randint(1, 4),
        files=rng.randint(2, 30),
        largest=rng.choice([2000, 20_000, 150_000]),
        status=rng.choice([20_000, 400_000]),
        most=rng.randint(1, 12),
    )
