/* The log of a process without MPI, and what happens to its counters when it becomes another program. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/export.h"
#include "core/mapping.h"
#include "core/module.h"
#include "core/own_io.h"
#include "core/process.h"
#include "core/sandbox.h"
#include "core/settings.h"
#include "log/events.h"
#include "log/heatmap.h"
#include "log/libraries.h"
#include "log/log.h"
#include "log/side_file.h"

static bool write_regions(int fd, const struct log_plan* plan, const struct buffer* job,
                          const struct log_packed* packed) {
    unsigned char header[LOG_HEADER];
    log_header(header, plan);
    bool done = own_write_all(fd, header, sizeof header) && own_write_all(fd, job->data, job->used);
    for (int region = 0; done && region < LOG_REGIONS; ++region) {
        done = own_write_all(fd, packed->region[region].data, packed->region[region].used);
    }
    return done;
}

/* The log is written under another name and renamed when complete, so that a log is never found in part. */
static bool write_file(const char* path, const struct log_plan* plan, const struct buffer* job,
                       const struct log_packed* packed) {
    char partly[1400];
    snprintf(partly, sizeof partly, "%s_partial", path);
    const int fd = own_open(partly, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0) return false;
    bool done = write_regions(fd, plan, job, packed);
    done = REAL(syscall)(SYS_fchmod, fd, 0400) == 0 && done;
    own_close(fd);
    if (done) done = own_rename(partly, path);
    const int error = errno;
    if (!done) own_unlink(partly);
    errno = error;
    return done;
}

static void write_log(void) {
    struct log_content content = {0};
    struct log_packed packed = {0};
    struct buffer job = {0};
    struct side_texts side = {0};
    char path[1300];
    const struct job_times times = log_times();
    log_collect(&content, 0, &times);
    log_pack_job(&job, &times, 1);
    log_path(path, sizeof path);
    log_complete(&content, &times, 0, &side);
    libraries_text(&side.part[SIDE_LIBRARIES]);
    bool too_large = false, done = log_pack(&content, &packed) && !job.failed;
    if (done) {
        struct log_plan plan = {.job_length = job.used, .partial = log_partial()};
        for (int region = 0; region < LOG_REGIONS; ++region) plan.length[region] = packed.region[region].used;
        too_large = !log_fits(&plan, &packed);
        log_make_folders(path);
        done = !too_large && write_file(path, &plan, &job, &packed);
    }
    const int error = errno;
    if (done) side_write(path, &side);
    if (done || too_large) mapping_remove();
    if (too_large) {
        own_warn("the log is larger than WORKALIKE_CAPTURE_MAX_LOG and is not written");
    } else if (!done) {
        log_warn_unwritten(path, error);
        mapping_note_loss();
    }
    log_release(&packed);
    buffer_release(&job);
    side_release(&side);
}

/* Leaves the counters in the mapping, marked as whole; the command that started the program makes the log
   from it. */
static void leave_mapping(bool whole) {
    struct mapping_header* header = mapping_header();
    header->end_ns = whole ? clock_ns() : 0;
    atomic_store(&header->state, whole ? MAPPING_WHOLE : MAPPING_RUNNING);
}

static void finish(void) {
    if (settings.mpi_only) {
        mapping_remove();
    } else if (sandboxed()) {
        leave_mapping(true);
    } else {
        write_log();
    }
}

static void on_exec(bool leaving) {
    if (!mapping_header()) return;
    if (leaving && settings.mpi_only && !process_in_job()) {
        mapping_remove(); /* no log of this program is wanted */
    } else {
        leave_mapping(leaving);
    }
}

static void on_fork(void) {
    events_after_fork();
    heatmap_after_fork();
}

static void add_to_log(struct log_content* content, const struct job_times* job, int64_t rank,
                       struct buffer* part) {
    const double late = log_seconds_late(job);
    heatmap_collect(&content->records[MODULE_HEATMAP], rank, job, late);
    events_text(part, rank, late);
}

static const struct record_kind* const kinds[] = {
    &(const struct record_kind){.module = MODULE_DXT_POSIX, .version = 1},
    &(const struct record_kind){.module = MODULE_DXT_MPIIO, .version = 2},
    &(const struct record_kind){.module = MODULE_HEATMAP, .version = 1},
    NULL,
};

const struct capture_module log_module = {
    .name = "log",
    .kinds = kinds,
    .part = "events",
    .part_wanted = &events_wanted,
    .start = events_start,
    .fork = on_fork,
    .exec = on_exec,
    .finish = finish,
    .log = add_to_log,
};
