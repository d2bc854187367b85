"""Storage engines that commit: an index of texts, a database with a write-ahead log."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import c


@kind("stores")
def text_index(rng: random.Random) -> Program:
    """Lucene: each flush is a segment of several files; a commit syncs them and renames pending_segments_N.

    When there are enough segments they are read from front to back and merged into a larger one; those that no commit
    names any more are deleted. Searches read the dictionary and the postings at places of chance.
    """
    return c(
        rng,
        """
        static const char *const parts[7] = {"fdt", "fdx", "tim", "tip", "doc", "pos", "si"};
        static const long share[7] = {60, 2, 20, 1, 12, 30, 0};
        static char *data;

        static void spill(const char *path, long size)
        {
            int file = NEED(open(path, O_WRONLY | O_CREAT | O_EXCL, 0644));
            for (size += 400; size > 0; size -= 8192)
                NEED(write(file, data, size < 8192 ? size : 8192));
            NEED(close(file));
        }

        static void segment(long number, long documents)
        {
            for (int i = 0; i < 7; i++)
                spill(name("_%ld.%s", number, parts[i]), share[i] * documents);
        }

        static void synced(const char *path)
        {
            int file = NEED(open(path, O_WRONLY));
            NEED(fsync(file));
            NEED(close(file));
        }

        static void run(void)
        {
            long alive[32], documents[32], count = 0, next = 0, commit = 1;
            struct stat state;
            data = block(8192);
            int lock = NEED(open("write.lock", O_RDWR | O_CREAT, 0644));
            for (long flush = 0; flush < get("flushes"); flush++) {
                alive[count] = next;
                documents[count] = get("documents") + below(get("documents"));
                segment(next++, documents[count++]);
                long fresh = count - 1, dropped = 0;
                if (count == get("merged")) {
                    long all = 0;
                    for (long i = 0; i < count; i++) {
                        all += documents[i];
                        for (int j = 0; j < 7; j++) {
                            int file = NEED(open(name("_%ld.%s", alive[i], parts[j]), O_RDONLY));
                            NEED(fstat(file, &state));
                            NEED(pread(file, data, 16, state.st_size - 16));
                            for (long at = 0; at < state.st_size; at += 4096)
                                NEED(pread(file, data, state.st_size - at < 4096 ? state.st_size - at : 4096, at));
                            NEED(close(file));
                        }
                    }
                    segment(next, all);
                    dropped = count;
                }
                for (int j = 0; j < 7; j++)
                    synced(name("_%ld.%s", dropped ? next : alive[fresh], parts[j]));
                spill(name("pending_segments_%ld", commit), 120 * (dropped ? 1 : count) - 300);
                synced(name("pending_segments_%ld", commit));
                NEED(rename(name("pending_segments_%ld", commit), name("segments_%ld", commit)));
                if (commit > 1)
                    NEED(unlink(name("segments_%ld", commit - 1)));
                commit++;
                for (long i = 0; i < dropped; i++)
                    for (int j = 0; j < 7; j++)
                        NEED(unlink(name("_%ld.%s", alive[i], parts[j])));
                if (dropped) {
                    for (long i = 1; i < dropped; i++)
                        documents[0] += documents[i];
                    alive[0] = next++;
                    count = 1;
                }
                for (long i = 0; i < get("searches"); i++) {
                    int words = NEED(open(name("_%ld.tim", alive[count - 1]), O_RDONLY));
                    int postings = NEED(open(name("_%ld.doc", alive[count - 1]), O_RDONLY));
                    for (long j = 0; j < 5; j++) {
                        NEED(pread(words, data, 1024, below(documents[count - 1] * 20)));
                        NEED(pread(postings, data, 1024, below(documents[count - 1] * 12)));
                    }
                    NEED(close(words));
                    NEED(close(postings));
                }
            }
            NEED(close(lock));
        }
        """,
        flushes=rng.randint(2, 16),
        documents=rng.choice([10, 200, 2500]),
        merged=rng.randint(3, 8),
        searches=rng.randint(0, 5),
    )


@kind("stores")
def database_with_wal(rng: random.Random) -> Program:
    """PostgreSQL: commits write pages of a log segment that was filled with zeros, checkpoints write pages of tables.

    Full segments are renamed to be used again. Pages of 8 KiB are read on demand and written back in order of their
    files at a checkpoint, which syncs all of them and then the control file.
    """
    return c(
        rng,
        """
        static char *data;

        static int segment(long number, long kept)
        {
            const char *path = name("pg_wal/%024lX", number);
            if (kept >= 0) {
                NEED(rename(name("pg_wal/%024lX", kept), path));
                return NEED(open(path, O_RDWR | O_CLOEXEC));
            }
            const char *temporary = name("pg_wal/xlogtemp.%ld", number);
            int file = NEED(open(temporary, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
            for (long done = 0; done < get("segment"); done += 8192)
                NEED(write(file, data, 8192));
            NEED(fsync(file));
            NEED(close(file));
            NEED(rename(temporary, path));
            return NEED(open(path, O_RDWR | O_CLOEXEC));
        }

        static void run(void)
        {
            long tables = get("tables"), pages = get("pages"), place = 0, number = 1, oldest = 1, spare = -1;
            char *dirty = HAVE(calloc((size_t)(tables * pages), 1)), *cached = HAVE(calloc((size_t)(tables * pages), 1));
            int table[8];
            data = block(1 << 16);
            NEED(mkdir("pg_wal", 0700));
            NEED(mkdir("base", 0700));
            int control = NEED(open("pg_control", O_RDWR | O_CREAT | O_CLOEXEC, 0600)), log = segment(number, -1);
            NEED(write(control, data, 8192));
            for (long i = 0; i < tables; i++) {
                table[i] = NEED(open(name("base/%ld", 16384 + i), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
                for (long j = 0; j < pages; j++)
                    NEED(pwrite(table[i], data, 8192, j * 8192));
            }
            for (long i = 1; i <= get("transactions"); i++) {
                for (long j = 0; j < 1 + below(4); j++) {
                    long which = below(tables) * pages + below(pages);
                    if (!cached[which])
                        NEED(pread(table[which / pages], data, 8192, which % pages * 8192));
                    cached[which] = dirty[which] = 1;
                }
                long last = place + 1 + below(get("record")) / 8192;
                if (last * 8192 > get("segment")) {
                    NEED(close(log));
                    log = segment(++number, spare);
                    spare = -1;
                    last -= place;
                    place = 0;
                }
                NEED(pwrite(log, data, (last - place) * 8192, place * 8192));
                NEED(fdatasync(log));
                place = below(3) ? last - 1 : last;
                if (i % get("checkpoint"))
                    continue;
                for (long j = 0; j < tables; j++) {
                    for (long k = 0; k < pages; k++)
                        if (dirty[j * pages + k])
                            NEED(pwrite(table[j], data, 8192, k * 8192));
                    NEED(fsync(table[j]));
                }
                memset(dirty, 0, (size_t)(tables * pages));
                NEED(pwrite(control, data, 8192, 0));
                NEED(fsync(control));
                for (; oldest < number; oldest++)
                    if (spare < 0)
                        spare = oldest;
                    else
                        NEED(unlink(name("pg_wal/%024lX", oldest)));
            }
            for (long i = 0; i < tables; i++)
                NEED(close(table[i]));
            NEED(close(log));
            NEED(close(control));
        }
        """,
        tables=rng.randint(1, 6),
        pages=rng.randint(4, 150),
        segment=rng.choice([65_536, 262_144, 1_048_576]),
        transactions=rng.randint(20, 150),
        record=rng.choice([500, 20_000, 60_000]),
        checkpoint=rng.randint(10, 60),
    )
