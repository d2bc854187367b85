"""Storage engines that append and merge: a tree of sorted tables, a log with hints."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import c


@kind("stores")
def merge_tree(rng: random.Random) -> Program:
    """LevelDB: a write-ahead log, tables of a memory that is full, and compactions into levels below.

    Each new table is a record in the MANIFEST; CURRENT is renamed into place and names it. A table has blocks, an
    index and a footer, which is read first when it is opened. Keys are looked up between.
    """
    return c(
        rng,
        """
        static char *data;
        static long next = 2;
        static int manifest, table_of[2000];
        static long size_of[2000];

        static void edit(void)
        {
            NEED(write(manifest, data, 7));
            NEED(write(manifest, data, 60 + below(30)));
            NEED(fsync(manifest));
        }

        static void begin(long number)
        {
            table_of[number] = NEED(open(name("%06ld.ldb", number), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
            size_of[number] = 0;
        }

        static void end(long number)
        {
            long index = 30 + size_of[number] / 4096 * 24;
            NEED(write(table_of[number], data, index));
            NEED(write(table_of[number], data, 48));
            size_of[number] += index + 48;
            NEED(fsync(table_of[number]));
            NEED(close(table_of[number]));
            int file = table_of[number] = NEED(open(name("%06ld.ldb", number), O_RDONLY | O_CLOEXEC));
            NEED(pread(file, data, 48, size_of[number] - 48));
            NEED(pread(file, data, index, size_of[number] - 48 - index));
        }

        static void drop(long number)
        {
            NEED(close(table_of[number]));
            NEED(unlink(name("%06ld.ldb", number)));
        }

        static void add(long number)
        {
            long size = 4000 + below(200);
            NEED(write(table_of[number], data, size));
            size_of[number] += size;
        }

        /* Merges tables into new ones of at most some blocks each; returns how many these are. */
        static long compact(long *from, long count, long *into)
        {
            long made = 0, left = 0, room = 0, place[64] = {0};
            for (long i = 0; i < count; i++)
                left += size_of[from[i]] / 4101;
            while (left > 0) {
                long i = below(count);
                if (place[i] + 4101 > size_of[from[i]])
                    continue;
                left--;
                NEED(pread(table_of[from[i]], data, 4101, place[i]));
                place[i] += 4101;
                if (!room) {
                    if (made)
                        end(into[made - 1]);
                    begin(into[made++] = next++);
                    room = get("largest");
                }
                add(into[made - 1]);
                room--;
            }
            if (made)
                end(into[made - 1]);
            edit();
            for (long i = 0; i < count; i++)
                drop(from[i]);
            return made;
        }

        static void run(void)
        {
            long upper[64], lower[64], above = 0, under = 0;
            data = block(1 << 18);
            FILE *text = HAVE(fopen("LOG", "w"));
            NEED(close(NEED(open("LOCK", O_RDWR | O_CREAT | O_CLOEXEC, 0644))));
            manifest = NEED(open("MANIFEST-000001", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
            edit();
            int current = NEED(open("000001.dbtmp", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
            NEED(write(current, "MANIFEST-000001\\n", 16));
            NEED(fdatasync(current));
            NEED(close(current));
            NEED(rename("000001.dbtmp", "CURRENT"));
            for (long flush = 0; flush < get("flushes"); flush++) {
                long log = next++, old = next;
                int file = NEED(open(name("%06ld.log", log), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
                for (long i = 0; i < get("writes"); i++) {
                    NEED(write(file, data, 7));
                    NEED(write(file, data, get("value") + below(30)));
                    if (get("sync") && i % get("sync") == 0)
                        NEED(fdatasync(file));
                    if (above + under && below(100) < get("lookups")) {
                        long which = below(above + under), number = which < above ? upper[which] : lower[which - above];
                        NEED(pread(table_of[number], data, 4101, below(size_of[number] / 4101) * 4101));
                    }
                }
                NEED(close(file));
                begin(upper[above++] = next++);
                for (long i = 0; i <= get("writes") * get("value") / 4096; i++)
                    add(upper[above - 1]);
                end(upper[above - 1]);
                edit();
                NEED(unlink(name("%06ld.log", log)));
                fprintf(text, "Level-0 table #%ld: done\\n", old);
                NEED(fflush(text));
                if (above < 4)
                    continue;
                for (long i = 0; i < under; i++)
                    upper[above++] = lower[i];
                under = compact(upper, above, lower);
                above = 0;
                if (under > 8)
                    under = 8; /* the others belong to the level below from now on */
            }
            NEED(fclose(text));
            NEED(close(manifest));
        }
        """,
        flushes=rng.randint(2, 14),
        writes=rng.randint(10, 150),
        value=rng.choice([100, 400, 2000]),
        largest=rng.randint(8, 60),
        lookups=rng.randint(0, 60),
        sync=rng.choice([0, 0, 10]),
    )


@kind("stores")
def log_with_hints(rng: random.Random) -> Program:
    """Bitcask: values are appended to a data file until it is full, and read by their places; then old files merge.

    The merge reads each record of the full files, writes those that live to new files with hints beside them, and
    deletes the old ones. The store is then opened again by its hints.
    """
    return c(
        rng,
        """
        static void run(void)
        {
            long keys = get("keys"), limit = get("limit"), files = 0, used = limit, out = -1, merged = 0;
            long *file_of = HAVE(calloc((size_t)keys, sizeof *file_of)), *at = HAVE(calloc((size_t)keys, sizeof *at));
            long *size = HAVE(calloc((size_t)keys, sizeof *size));
            int *reader = HAVE(malloc(1000 * sizeof *reader));
            char *data = block(1 << 17);
            NEED(close(NEED(open("bitcask.write.lock", O_RDWR | O_CREAT | O_EXCL, 0600))));
            for (long i = 0; i < get("puts"); i++) {
                long key = below(keys);
                if (used >= limit) {
                    if (out >= 0)
                        NEED(close(out));
                    out = NEED(open(name("%ld.bitcask.data", files), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600));
                    reader[files] = NEED(open(name("%ld.bitcask.data", files), O_RDONLY));
                    files++;
                    used = 0;
                }
                file_of[key] = files - 1;
                at[key] = used;
                size[key] = 14 + 8 + below(get("value"));
                NEED(write(out, data, size[key]));
                used += size[key];
                key = below(keys);
                if (size[key] && below(100) < get("lookups"))
                    NEED(pread(reader[file_of[key]], data, size[key], at[key]));
            }
            NEED(close(out));
            int hints = -1;
            used = limit;
            for (long i = 0; i < files; i++) {
                for (long key = 0; key < keys; key++) {
                    if (!size[key] || file_of[key] != i)
                        continue;
                    NEED(pread(reader[i], data, 14, at[key]));
                    NEED(pread(reader[i], data, size[key] - 14, at[key] + 14));
                    if (used >= limit) {
                        if (hints >= 0) {
                            NEED(fsync(out));
                            NEED(close(out));
                            NEED(close(hints));
                        }
                        out = NEED(open(name("m%ld.bitcask.data", merged), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600));
                        hints = NEED(open(name("m%ld.bitcask.hint", merged++), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600));
                        used = 0;
                    }
                    NEED(write(out, data, size[key]));
                    NEED(write(hints, data, 18 + 8));
                    used += size[key];
                }
                NEED(close(reader[i]));
                NEED(unlink(name("%ld.bitcask.data", i)));
            }
            NEED(fsync(out));
            NEED(close(out));
            NEED(close(hints));
            for (long i = 0; i < merged; i++) {
                hints = NEED(open(name("m%ld.bitcask.hint", i), O_RDONLY));
                while (NEED(read(hints, data, 65536)) > 0)
                    ;
                NEED(close(hints));
            }
            NEED(unlink("bitcask.write.lock"));
        }
        """,
        keys=rng.randint(5, 200),
        puts=rng.randint(20, 800),
        value=rng.choice([40, 800, 9000]),
        limit=rng.choice([20_000, 100_000, 500_000]),
        lookups=rng.randint(0, 60),
    )
