"""Bioinformatics: sorted and indexed alignments, sequences by an index, counts of k-mers in bins."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import INPUTS, c


@kind("genomics")
def alignments_sorted(rng: random.Random) -> Program:
    """samtools sort and index: alignments in blocks of BGZF are sorted by parts, which are merged; then an index.

    Blocks are a header of 18 bytes and at most 64 KiB; a reader takes the header, then the rest, through a buffer. The
    merge has all temporary files open, and takes from whichever is next. The index reads the result and goes to .bai.
    """
    return c(
        rng,
        """
        static char *data;

        static void put(int file, long size, long buffer)
        {
            for (long done = 0; done < size; done += buffer)
                NEED(write(file, data, size - done < buffer ? size - done : buffer));
        }

        static void run(void)
        {
            long buffer = get("buffer"), room = get("memory"), got, held = 0, parts = 0, left = 0;
            int part[64], input = NEED(open("input-0000", O_RDONLY));
            long size[64];
            struct stat state;
            data = block(1 << 20);
            NEED(fstat(input, &state));
            while ((got = NEED(read(input, data, buffer))) > 0) {
                held += got;
                if (held < room)
                    continue;
                part[parts] = NEED(open(name("sorted.tmp.%04ld.bam", parts), O_WRONLY | O_CREAT | O_EXCL, 0666));
                put(part[parts], held, buffer);
                NEED(close(part[parts]));
                size[parts++] = held;
                held = 0;
            }
            NEED(close(input));
            int out = NEED(open("sorted.bam", O_RDWR | O_CREAT | O_TRUNC, 0666));
            for (long i = 0; i < parts; i++) {
                part[i] = NEED(open(name("sorted.tmp.%04ld.bam", i), O_RDONLY));
                left += size[i];
            }
            for (long ready = held; left > 0;) {
                long next = below(parts);
                if (!size[next])
                    continue;
                got = NEED(read(part[next], data, buffer));
                size[next] -= got;
                left -= got;
                for (ready += got; ready >= buffer || (!left && ready > 0); ready -= buffer)
                    NEED(write(out, data, ready < buffer ? ready : buffer));
            }
            if (!parts)
                put(out, held, buffer);
            NEED(write(out, data, 28));
            for (long i = 0; i < parts; i++) {
                NEED(close(part[i]));
                NEED(unlink(name("sorted.tmp.%04ld.bam", i)));
            }
            NEED(close(out));
            out = NEED(open("sorted.bam", O_RDONLY));
            NEED(lseek(out, -28, SEEK_END));
            NEED(read(out, data, 28));
            NEED(lseek(out, 0, SEEK_SET));
            while (NEED(read(out, data, buffer)) > 0)
                ;
            NEED(close(out));
            FILE *index = HAVE(fopen("sorted.bam.bai", "wb"));
            NEED(fwrite("BAI\\1", 1, 4, index));
            for (long i = 0; i < get("contigs"); i++) {
                for (int bin = 0; bin < 30; bin++) {
                    NEED(fwrite(data, 4, 1, index));
                    NEED(fwrite(data, 4, 1, index));
                    NEED(fwrite(data, 16, 1 + bin % 3, index));
                }
                NEED(fwrite(data, 8, 100, index));
            }
            NEED(fclose(index));
            if (!get("queries"))
                return;
            index = HAVE(fopen("sorted.bam.bai", "rb"));
            while (fread(data, 1, 4096, index) == 4096)
                ;
            NEED(fclose(index));
            out = NEED(open("sorted.bam", O_RDONLY));
            for (long i = 0; i < get("queries"); i++) {
                NEED(lseek(out, below(state.st_size), SEEK_SET));
                for (long j = 0; j < 1 + i % 3; j++)
                    NEED(read(out, data, buffer));
            }
            NEED(close(out));
        }
        """,
        INPUTS,
        files=1,
        size=rng.randint(100_000, 8_000_000),
        memory=rng.choice([300_000, 600_000, 2_000_000]),
        buffer=rng.choice([32_768, 65_536]),
        contigs=rng.randint(1, 25),
        queries=rng.choice([0, 10, 100]),
    )


@kind("genomics")
def sequences_by_index(rng: random.Random) -> Program:
    """faidx: a FASTA file is read once to make its index; regions are then fetched line by line from their places."""
    return c(
        rng,
        """
        static void run(void)
        {
            char line[256];
            long start[1000], length[1000], width = 0, contigs = 0, place = 0;
            FILE *fasta = HAVE(fopen("genome.fa", "rb"));
            while (fgets(line, sizeof line, fasta)) {
                long got = (long)strlen(line);
                place += got;
                if (line[0] == '>') {
                    start[contigs] = place;
                    length[contigs++] = 0;
                } else {
                    length[contigs - 1] += got - 1;
                    width = got > width ? got : width;
                }
            }
            NEED(fclose(fasta));
            FILE *index = HAVE(fopen("genome.fa.fai", "wb"));
            for (long i = 0; i < contigs; i++)
                fprintf(index, "chr%ld\\t%ld\\t%ld\\t%ld\\t%ld\\n", i, length[i], start[i], width - 1, width);
            NEED(fclose(index));
            index = HAVE(fopen("genome.fa.fai", "rb"));
            while (fgets(line, sizeof line, index))
                ;
            NEED(fclose(index));
            fasta = HAVE(fopen("genome.fa", "rb"));
            FILE *regions = HAVE(fopen("regions.fa", "wb"));
            for (long i = 0; i < get("regions"); i++) {
                long contig = below(contigs), from = below(length[contig]), left = 1 + below(get("longest"));
                fprintf(regions, ">chr%ld:%ld\\n", contig, from);
                NEED(fseek(fasta, start[contig] + from / (width - 1) * width + from % (width - 1), SEEK_SET));
                for (; left > 0 && fgets(line, sizeof line, fasta) && line[0] != '>'; left -= width - 1)
                    fputs(line, regions);
            }
            NEED(fclose(regions));
            NEED(fclose(fasta));
        }
        """,
        """
with open("genome.fa", "w") as file:
    for contig in range(p.contigs):
        file.write(f">chr{contig} a contig\\n")
        for _ in range(rng.randint(1, p.lines)):
            file.write("".join(rng.choices("ACGT", k=60)) + "\\n")
""",
        contigs=rng.randint(1, 30),
        lines=rng.choice([20, 400, 2500]),
        regions=rng.randint(5, 300),
        longest=rng.choice([60, 2000]),
    )


@kind("genomics")
def counted_kmers(rng: random.Random) -> Program:
    """A counter of k-mers: reads are spread over many bin files by their hash, then bins are read, counted and deleted.

    All bins are open at once and get a buffer whenever theirs is full. The counts go to two files, suffixes and
    prefixes, whose headers are written last.
    """
    return c(
        rng,
        """
        static void run(void)
        {
            long bins = get("bins"), room = get("buffer"), got, *filled = HAVE(calloc((size_t)bins, sizeof *filled));
            long *all = HAVE(calloc((size_t)bins, sizeof *all));
            char *data = block(1 << 20);
            FILE **bin = HAVE(malloc((size_t)bins * sizeof *bin));
            for (long i = 0; i < bins; i++) {
                bin[i] = HAVE(fopen(name("kmc_%05ld.bin", i), "wb+"));
                setvbuf(bin[i], 0, _IONBF, 0);
            }
            for (long i = 0; i < get("files"); i++) {
                int input = NEED(open(name("input-%04ld", i), O_RDONLY));
                while ((got = NEED(read(input, data, 1 << 18))) > 0)
                    for (long done = 0; done < got; done += 150) {
                        long number = below(bins) * below(bins) / bins;
                        filled[number] += 60 + below(90);
                        if (filled[number] >= room) {
                            NEED(fwrite(data, 1, (size_t)room, bin[number]));
                            filled[number] -= room;
                            all[number] += room;
                        }
                    }
                NEED(close(input));
            }
            FILE *suffixes = HAVE(fopen("counts.kmc_suf", "wb")), *prefixes = HAVE(fopen("counts.kmc_pre", "wb"));
            NEED(fwrite("KMCS", 1, 4, suffixes));
            NEED(fwrite("KMCP", 1, 4, prefixes));
            for (long i = 0; i < bins; i++) {
                if (filled[i])
                    NEED(fwrite(data, 1, (size_t)filled[i], bin[i]));
                all[i] += filled[i];
                rewind(bin[i]);
                for (long left = all[i]; left > 0; left -= 1 << 20)
                    NEED(fread(data, 1, (size_t)(left < 1 << 20 ? left : 1 << 20), bin[i]));
                NEED(fclose(bin[i]));
                NEED(unlink(name("kmc_%05ld.bin", i)));
                NEED(fwrite(data, 1, (size_t)(all[i] / 3 < 1 << 20 ? all[i] / 3 : 1 << 20), suffixes));
                NEED(fwrite(data, 8, 64, prefixes));
            }
            NEED(fwrite("KMCS", 1, 4, suffixes));
            NEED(fwrite(data, 4, 13, prefixes));
            NEED(fclose(suffixes));
            NEED(fclose(prefixes));
        }
        """,
        INPUTS,
        files=rng.randint(1, 4),
        size=rng.randint(50_000, 2_500_000),
        bins=rng.randint(8, 120),
        buffer=rng.choice([2000, 16_384]),
    )
