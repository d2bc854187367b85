"""Pictures and film: segments with a playlist, a film with its index in front, tiled rasters with overviews."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import c


@kind("media")
def live_segments(rng: random.Random) -> Program:
    """FFmpeg's HLS: packets are collected into segments of 32 KiB writes; a playlist is replaced after each.

    Only the last segments are in the playlist of a live stream, and older ones are deleted; a recording keeps all, and
    its playlist grows. A segment may have a temporary name until it is complete.
    """
    return c(
        rng,
        """
        static void playlist(long first, long last, int complete, const char *data)
        {
            int file = NEED(open("stream.m3u8.tmp", O_WRONLY | O_CREAT | O_TRUNC, 0666));
            NEED(write(file, data, 90 + 36 * (last - first + 1) + (complete ? 15 : 0)));
            NEED(close(file));
            NEED(rename("stream.m3u8.tmp", "stream.m3u8"));
        }

        static void run(void)
        {
            long most = get("most"), variants = get("variants");
            char *data = block(1 << 16);
            for (long variant = 0; variant < variants; variant++)
                NEED(mkdir(name("v%ld", variant), 0755));
            int master = NEED(open("master.m3u8", O_WRONLY | O_CREAT | O_TRUNC, 0666));
            NEED(write(master, data, 60 + 90 * variants));
            NEED(close(master));
            for (long segment = 0; segment < get("segments"); segment++) {
                for (long variant = 0; variant < variants; variant++) {
                    const char *final = name("v%ld/stream%05ld.ts", variant, segment), *path = final;
                    if (get("temporary"))
                        path = name("%s.tmp", final);
                    int file = NEED(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666));
                    long left = get("size") / (variant + 1) * (80 + below(40)) / 100 / 188 * 188;
                    for (; left > 0; left -= 32768)
                        NEED(write(file, data, left < 32768 ? left : 32768));
                    NEED(close(file));
                    if (get("temporary"))
                        NEED(rename(path, final));
                    if (most && segment >= most + 1)
                        NEED(unlink(name("v%ld/stream%05ld.ts", variant, segment - most - 1)));
                }
                long first = most && segment >= most ? segment - most + 1 : 0;
                playlist(first, segment, 0, data);
            }
            playlist(0, most ? most : get("segments"), 1, data);
        }
        """,
        segments=rng.randint(2, 60),
        variants=rng.randint(1, 3),
        size=rng.choice([20_000, 150_000, 500_000]),
        most=rng.choice([0, 3, 5]),
        temporary=rng.randint(0, 1),
    )


@kind("media")
def index_to_the_front(rng: random.Random) -> Program:
    """A film of MP4: samples go out as they come, their size is patched; the index comes last, or in front.

    To make room in front all samples are read by a second descriptor and written further back, two buffers in turn. A
    player then reads the index and seeks to some samples.
    """
    return c(
        rng,
        """
        static void run(void)
        {
            for (long film = 0; film < get("films"); film++) {
                const char *path = name("film-%ld.mp4", film);
                long used = 40, size = 0, moov, got, samples = get("samples");
                char *data[2] = {block(1 << 21), block(1 << 21)};
                int file = NEED(open(path, O_RDWR | O_CREAT | O_TRUNC, 0666));
                for (long i = 0; i < samples; i++) {
                    used += get("sample") / (i % 12 ? 8 : 1) + below(200);
                    for (; used >= 32768; used -= 32768, size += 32768)
                        NEED(write(file, data[0], 32768));
                }
                NEED(write(file, data[0], used));
                size += used;
                NEED(lseek(file, 32, SEEK_SET));
                NEED(write(file, data[0], 8));
                NEED(lseek(file, size, SEEK_SET));
                moov = 600 + samples * 9;
                if (get("front")) {
                    int reader = NEED(open(path, O_RDONLY));
                    long from = 32, which = 0, waiting = 0, held[2];
                    NEED(lseek(reader, from, SEEK_SET));
                    NEED(lseek(file, 32 + moov, SEEK_SET));
                    held[0] = NEED(read(reader, data[0], size - from < moov ? size - from : moov));
                    for (from += held[0]; held[which] > 0; which = !which) {
                        long room = size - from < moov ? size - from : moov;
                        held[!which] = room > 0 ? NEED(read(reader, data[!which], room)) : 0;
                        from += held[!which];
                        for (waiting += held[which]; waiting >= 32768; waiting -= 32768)
                            NEED(write(file, data[which], 32768));
                    }
                    NEED(write(file, data[0], waiting));
                    NEED(close(reader));
                    NEED(lseek(file, 32, SEEK_SET));
                }
                for (long left = moov; left > 0; left -= 32768)
                    NEED(write(file, data[0], left < 32768 ? left : 32768));
                NEED(close(file));
                if (!get("plays"))
                    continue;
                file = NEED(open(path, O_RDONLY));
                NEED(read(file, data[0], 32768));
                if (!get("front"))
                    NEED(lseek(file, size, SEEK_SET));
                for (long left = moov; left > 0 && (got = NEED(read(file, data[0], 32768))) > 0; left -= got)
                    ;
                for (long i = 0; i < get("plays"); i++) {
                    NEED(lseek(file, 32 + below(size), SEEK_SET));
                    for (long j = 0; j < 4; j++)
                        NEED(read(file, data[0], 32768));
                }
                NEED(close(file));
            }
        }
        """,
        films=rng.randint(1, 3),
        samples=rng.randint(20, 1500),
        sample=rng.choice([500, 6000, 40_000]),
        front=rng.choice([0, 1, 1]),
        plays=rng.choice([0, 5, 30]),
    )


@kind("media")
def tiles_and_overviews(rng: random.Random) -> Program:
    """GDAL: a GeoTIFF is written tile by tile, and its directory at the end; overviews are made from its own tiles.

    Each level reads four tiles for each of its own, appends them, and links a directory to the one before. Then
    windows of chance are read at the level that fits.
    """
    return c(
        rng,
        """
        static char *data;
        static long end, last;
        static long *place[8];
        static int *bytes[8], across[8];

        static void tile(int file, long level, long number)
        {
            bytes[level][number] = (int)(get("packed") ? get("tile") / 2 + below(get("tile") / 2) : get("tile"));
            place[level][number] = end;
            NEED(lseek(file, end, SEEK_SET));
            NEED(write(file, data, bytes[level][number]));
            end += bytes[level][number];
        }

        static void directory(int file, long level)
        {
            long tiles = (long)across[level] * across[level], size = 2 + 12 * 14 + 4;
            end += end & 1;
            NEED(lseek(file, end + size, SEEK_SET));
            NEED(write(file, data, tiles * 4));
            NEED(write(file, data, tiles * 4));
            NEED(lseek(file, end, SEEK_SET));
            NEED(write(file, data, size));
            NEED(lseek(file, last, SEEK_SET));
            NEED(write(file, &end, 4));
            last = end + size - 4;
            end += size + tiles * 8;
        }

        static void run(void)
        {
            long levels = get("levels");
            struct stat state;
            data = block((get("tile") > 8 * get("across") * get("across") ? get("tile") : 8 * get("across") * get("across")) + 1);
            for (long level = 0; level < levels; level++) {
                across[level] = (int)((get("across") + (1 << level) - 1) >> level);
                place[level] = HAVE(calloc((size_t)(across[level] * across[level]), sizeof(long)));
                bytes[level] = HAVE(calloc((size_t)(across[level] * across[level]), sizeof(int)));
            }
            int file = NEED(open("raster.tif", O_RDWR | O_CREAT | O_TRUNC, 0666));
            NEED(write(file, data, 8));
            end = 8;
            last = 4;
            for (long i = 0; i < (long)across[0] * across[0]; i++)
                tile(file, 0, i);
            directory(file, 0);
            NEED(close(file));
            file = NEED(open("raster.tif", O_RDWR));
            NEED(fstat(file, &state));
            NEED(read(file, data, 8));
            for (long level = 1; level < levels; level++) {
                for (long i = 0; i < (long)across[level] * across[level]; i++) {
                    long y = i / across[level] * 2, x = i % across[level] * 2;
                    for (long j = 0; j < 4; j++) {
                        long above = (y + j / 2) * across[level - 1] + x + j % 2;
                        if (y + j / 2 >= across[level - 1] || x + j % 2 >= across[level - 1])
                            continue;
                        NEED(lseek(file, place[level - 1][above], SEEK_SET));
                        NEED(read(file, data, bytes[level - 1][above]));
                    }
                    tile(file, level, i);
                }
                directory(file, level);
            }
            NEED(close(file));
            file = NEED(open("raster.tif", O_RDONLY));
            NEED(read(file, data, 8));
            for (long i = 0; i < get("windows"); i++) {
                long level = below(levels), wide = across[level] < 3 ? across[level] : 3;
                long y = below(across[level] - wide + 1), x = below(across[level] - wide + 1);
                for (long j = 0; j < wide * wide; j++) {
                    long number = (y + j / wide) * across[level] + x + j % wide;
                    NEED(lseek(file, place[level][number], SEEK_SET));
                    NEED(read(file, data, bytes[level][number]));
                }
            }
            NEED(close(file));
        }
        """,
        tile=rng.choice([4096, 16_384, 65_536]),
        across=rng.randint(1, 16),
        levels=rng.randint(1, 5),
        packed=rng.randint(0, 1),
        windows=rng.choice([0, 5, 40]),
    )
