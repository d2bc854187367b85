/* Bytes over time for each interface, in a few hundred bins for any length of the run. */
#ifndef WORKALIKE_CAPTURE_HEATMAP_H
#define WORKALIKE_CAPTURE_HEATMAP_H

#include "core/clock.h"
#include "core/mapping.h"
#include "log/log.h"

enum heatmap_api { HEATMAP_POSIX, HEATMAP_MPIIO, HEATMAP_STDIO, HEATMAP_APIS };

enum { HEATMAP_BINS = 200, HEATMAP_LEVELS = 24 };

/* The bins of a job: their width in seconds, and their number. */
struct heatmap_frame {
    double width;
    int64_t count;
};

/* What a process moved while its run was at most as long as 200 bins, but longer than 200 bins of half the
   width. Widths are 0.1 s times a power of two, so the bins of all levels fit into those of the last one.
   No bin ever moves, so adding to one takes no lock. */
struct heatmap_entry {
    struct entry head;
    uint32_t api, level;
    _Atomic(int64_t) bins[2][HEATMAP_BINS]; /* written, read */
};

void heatmap_count(enum heatmap_api api, bool write, int64_t size, struct span span);

/* Appends the records of this process to a log. All ranks have the same bins, since the job's times are
   the same. */
void heatmap_collect(struct buffer* records, int64_t rank, const struct job_times* job, double late);

struct heatmap_frame heatmap_frame(const struct job_times* job);

void heatmap_after_fork(void);

#endif
