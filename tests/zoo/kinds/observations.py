"""Data of instruments in formats of their own: ROOT, FITS, SEG-Y."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import c


@kind("sciences")
def trees_of_events(rng: random.Random) -> Program:
    """ROOT: events fill baskets of branches, which are appended when full; keys and a list of free space end the file.

    The header in front is written again with each autosave. Files are then read as by a cache that takes the baskets
    of the wanted branches of a cluster at once, and merged by copying their baskets.
    """
    return c(
        rng,
        """
        static char *data;

        static void header(int file)
        {
            NEED(lseek(file, 0, SEEK_SET));
            NEED(write(file, data, 100));
        }

        static long append(int file, long end, long size)
        {
            NEED(lseek(file, end, SEEK_SET));
            NEED(write(file, data, size));
            return end + size;
        }

        /* Writes a tree, or copies the baskets of others if there are any. */
        static void fill(const char *path, long clusters, long branches, int from)
        {
            int file = NEED(open(path, O_RDWR | O_CREAT | O_TRUNC, 0644));
            header(file);
            long end = append(file, 100, 150), at = 250;
            for (long i = 0; i < clusters; i++) {
                for (long j = 0; j < branches; j++) {
                    long size = 80 + get("basket") / (1 + j % 4);
                    if (from >= 0) {
                        NEED(lseek(from, at, SEEK_SET));
                        NEED(read(from, data, size));
                        at += size;
                    }
                    end = append(file, end, size);
                }
                if (from < 0 && i % get("autosave") == get("autosave") - 1) {
                    append(file, end, 500 + branches * 120 + i * branches * 12);
                    header(file);
                }
            }
            end = append(file, end, 500 + branches * 120 + clusters * branches * 12);
            end = append(file, end, 2400);
            end = append(file, end, 120);
            end = append(file, end, 60);
            header(file);
            NEED(close(file));
        }

        static int opened(const char *path)
        {
            struct stat state;
            int file = NEED(open(path, O_RDONLY));
            NEED(fstat(file, &state));
            NEED(read(file, data, 300));
            NEED(lseek(file, state.st_size - 2580, SEEK_SET));
            NEED(read(file, data, 2400));
            return file;
        }

        static void run(void)
        {
            long clusters = get("clusters"), branches = get("branches");
            data = block(1 << 20);
            for (long i = 0; i < get("files"); i++)
                fill(name("events-%ld.root", i), clusters, branches, -1);
            for (long i = 0; i < get("files"); i++) {
                int file = opened(name("events-%ld.root", i));
                long at = 250, wanted = 1 + below(branches);
                for (long j = 0; j < clusters; j++)
                    for (long k = 0; k < branches; k++) {
                        long size = 80 + get("basket") / (1 + k % 4);
                        if (k < wanted) {
                            NEED(lseek(file, at, SEEK_SET));
                            NEED(read(file, data, size));
                        }
                        at += size;
                    }
                NEED(close(file));
                if (get("merge")) {
                    file = opened(name("events-%ld.root", i));
                    fill(name("merged-%ld.root", i), clusters, branches, file);
                    NEED(close(file));
                }
            }
        }
        """,
        files=rng.randint(1, 3),
        clusters=rng.randint(1, 20),
        branches=rng.randint(1, 25),
        basket=rng.choice([500, 8000, 30_000]),
        autosave=rng.randint(2, 10),
        merge=rng.randint(0, 1),
    )


@kind("sciences")
def exposures_stacked(rng: random.Random) -> Program:
    """CFITSIO: exposures have headers and images in blocks of 2880 bytes; they are corrected in place and stacked.

    A header is read card block by card block, the image row by row; the stack takes the same rows of all exposures.
    A table of sources is appended as an extension, whose size is put in its header afterwards.
    """
    return c(
        rng,
        """
        static char *data;

        static void padded(FILE *file, long size)
        {
            NEED(fwrite(data, 1, (size_t)size, file));
            if (size % 2880)
                NEED(fwrite(data, 1, (size_t)(2880 - size % 2880), file));
        }

        static void cards(FILE *file)
        {
            for (int i = 0; i < 2; i++)
                NEED(fread(data, 1, 2880, file));
        }

        static void run(void)
        {
            long wide = get("wide"), high = get("high"), count = get("exposures");
            FILE *exposure[40];
            data = block(1 << 20);
            for (long i = 0; i < count; i++) {
                FILE *file = HAVE(fopen(name("exposure-%03ld.fits", i), "w+b"));
                padded(file, 2 * 2880);
                padded(file, wide * high * 2);
                NEED(fclose(file));
            }
            for (long i = 0; i < count && get("correct"); i++) {
                FILE *file = HAVE(fopen(name("exposure-%03ld.fits", i), "r+b"));
                cards(file);
                for (long row = 0; row < high; row++) {
                    NEED(fseek(file, 5760 + row * wide * 2, SEEK_SET));
                    NEED(fread(data, 2, (size_t)wide, file));
                    NEED(fseek(file, 5760 + row * wide * 2, SEEK_SET));
                    NEED(fwrite(data, 2, (size_t)wide, file));
                }
                NEED(fseek(file, 0, SEEK_SET));
                NEED(fwrite(data, 1, 2880, file));
                NEED(fclose(file));
            }
            for (long i = 0; i < count; i++) {
                exposure[i] = HAVE(fopen(name("exposure-%03ld.fits", i), "rb"));
                cards(exposure[i]);
            }
            FILE *stack = HAVE(fopen("stack.fits", "w+b"));
            padded(stack, 2880);
            for (long row = 0; row < high; row += get("rows")) {
                long rows = high - row < get("rows") ? high - row : get("rows");
                for (long i = 0; i < count; i++) {
                    NEED(fseek(exposure[i], 5760 + row * wide * 2, SEEK_SET));
                    NEED(fread(data, 2, (size_t)(wide * rows), exposure[i]));
                }
                NEED(fwrite(data, 4, (size_t)(wide * rows), stack));
            }
            NEED(fwrite(data, 1, (size_t)((2880 - wide * high * 4 % 2880) % 2880), stack));
            for (long i = 0; i < count; i++)
                NEED(fclose(exposure[i]));
            long at = NEED(ftell(stack));
            padded(stack, 2880);
            for (long i = 0; i < get("sources"); i++)
                NEED(fwrite(data, 1, 72, stack));
            NEED(fwrite(data, 1, (size_t)((2880 - get("sources") * 72 % 2880) % 2880), stack));
            NEED(fseek(stack, at, SEEK_SET));
            NEED(fwrite(data, 1, 2880, stack));
            NEED(fclose(stack));
        }
        """,
        wide=rng.choice([64, 500, 1000]),
        high=rng.randint(10, 400),
        exposures=rng.randint(1, 12),
        rows=rng.randint(1, 16),
        correct=rng.randint(0, 1),
        sources=rng.randint(0, 500),
    )


@kind("sciences")
def traces_gathered(rng: random.Random) -> Program:
    """SEG-Y: shots of traces follow a text and a binary header; trace headers are scanned, then gathers are collected.

    A gather takes one trace of each of many shots; it is written sorted, after the same headers.
    """
    return c(
        rng,
        """
        static void run(void)
        {
            long shots = get("shots"), receivers = get("receivers"), trace = 240 + get("samples") * 4;
            char *data = block(trace > 3600 ? trace : 3600);
            int line = NEED(open("line.sgy", O_RDWR | O_CREAT | O_TRUNC, 0644));
            NEED(write(line, data, 3200));
            NEED(write(line, data, 400));
            for (long i = 0; i < shots * receivers; i++) {
                NEED(write(line, data, 240));
                NEED(write(line, data, trace - 240));
            }
            NEED(close(line));
            line = NEED(open("line.sgy", O_RDONLY));
            NEED(read(line, data, 3200));
            NEED(read(line, data, 400));
            for (long i = 0; i < shots * receivers && get("scan"); i++)
                NEED(pread(line, data, 240, 3600 + i * trace));
            int sorted = NEED(open("gathers.sgy", O_WRONLY | O_CREAT | O_TRUNC, 0644));
            NEED(write(sorted, data, 3600));
            for (long middle = 0; middle < shots + receivers - 1; middle += get("every"))
                for (long shot = 0; shot < shots; shot++) {
                    long receiver = middle - shot;
                    if (receiver < 0 || receiver >= receivers)
                        continue;
                    NEED(pread(line, data, trace, 3600 + (shot * receivers + receiver) * trace));
                    NEED(write(sorted, data, trace));
                }
            NEED(close(sorted));
            NEED(close(line));
        }
        """,
        shots=rng.randint(2, 40),
        receivers=rng.randint(2, 40),
        samples=rng.choice([50, 500, 2000]),
        scan=rng.randint(0, 1),
        every=rng.randint(1, 4),
    )
