/* A log in Darshan's format 3.41, made from the mapping of this process. */
#ifndef WORKALIKE_CAPTURE_LOG_H
#define WORKALIKE_CAPTURE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/layouts.h"
#include "core/memory.h"
#include "log/side_file.h"

enum { LOG_HEADER = 1328, LOG_NAMES = 0, LOG_REGIONS = MODULES };

/* The part of a process in a log: stored records by module. */
struct log_content {
    struct buffer records[MODULES];
};

/* The same after packing: region 0 holds the names, the others are by module. */
struct log_packed {
    struct buffer region[LOG_REGIONS];
};

/* Where the regions are in the whole log. */
struct log_plan {
    uint64_t offset[LOG_REGIONS], length[LOG_REGIONS];
    uint64_t partial, job_length;
};

struct job_times {
    int64_t start_sec, start_nsec, end_sec, end_nsec;
};

/* Gathers the records of this process; `rank` goes into each. Times count from the start of the job. */
void log_collect(struct log_content* content, int64_t rank, const struct job_times* job);

/* Called after the records of several ranks are combined: adds what modules contribute to the content and
   the side file. */
void log_complete(struct log_content* content, const struct job_times* job, int64_t rank,
                  struct side_texts* side);

/* A bit for each module of the log for which this process had no room. */
uint64_t log_partial(void);

/* The seconds from the start of the job to the origin of this process' times. */
double log_seconds_late(const struct job_times* job);

/* Packs the records and the names that they need, and releases the content. Returns false without memory. */
bool log_pack(struct log_content* content, struct log_packed* packed);
void log_release(struct log_packed* packed);

/* Packs the job region. */
void log_pack_job(struct buffer* out, const struct job_times* times, int64_t ranks);

/* Gives each region its offset, in the order of the file; returns the length of the log. */
uint64_t log_lay_out(struct log_plan* plan);
void log_header(unsigned char header[LOG_HEADER], const struct log_plan* plan);

/* The wall clock of this process, from its origin to now. */
struct job_times log_times(void);

/* Whether a log may be as large as planned. A log that is too large loses its traces, then its heatmaps,
   and is marked partial for each. */
bool log_fits(struct log_plan* plan, struct log_packed* packed);

/* Makes the folders of a log that has a date in its path. */
void log_make_folders(const char* path);

/* Warns about a log that cannot be written and says what helps; `error` is an errno, 0 where it is unknown.
 */
void log_warn_unwritten(const char* path, int error);

/* The final name of the log:
   "<folder>/<user>_<program>_id<job>-<pid>_<month>-<day>-<second>-<random>.darshan" */
void log_path(char* path, size_t room);

#endif
