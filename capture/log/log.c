#include "log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/export.h"
#include "core/mapping.h"
#include "core/module.h"
#include "core/mounts.h"
#include "core/own_io.h"
#include "core/settings.h"
#include "core/utf8.h"
#include "log/deflate.h"

enum { METADATA = 1024, TEXT = 3016, MAGIC = 6567223, AT_NAMES = 32, AT_MODULES = 48, AT_VERSIONS = 1072 };

struct job_times log_times(void) {
    const struct mapping_header* header = mapping_header();
    const int64_t run = clock_ns() - header->origin_ns;
    const int64_t end = header->start_nsec + run;
    return (struct job_times){header->start_sec, header->start_nsec, header->start_sec + end / 1000000000,
                              end % 1000000000};
}

static void write_metadata(char* text, const struct mapping_header* header) {
    int used = snprintf(text, METADATA, "lib_ver=%s\nh=romio_no_indep_rw=true;cb_nodes=4\n",
                        CAPTURE_LIBRARY_VERSION);
    if (header->fork_parent) {
        snprintf(text + used, (size_t)(METADATA - used), "fork_parent=%lld\n",
                 (long long)header->fork_parent);
    }
}

void log_pack_job(struct buffer* out, const struct job_times* times, int64_t ranks) {
    const struct mapping_header* header = mapping_header();
    struct {
        int64_t number[7];
        char metadata[METADATA];
        char text[TEXT];
    } job;
    memset(&job, 0, sizeof job);
    const int64_t number[7] = {header->uid,    times->start_sec, times->start_nsec,
                               times->end_sec, times->end_nsec,  ranks,
                               header->job_id};
    memcpy(job.number, number, sizeof number);
    write_metadata(job.metadata, header);
    /* A long command leaves room for at least one mount: without any, readers do not find the command
       either. */
    snprintf(job.text, TEXT - 512, "%s", header->command);
    utf8_clean(job.text, TEXT - 512); /* a character may be cut */
    const size_t used = strlen(job.text);
    const size_t mounts = mounts_text(job.text + used, TEXT - used);
    deflate_stream(out, (const unsigned char*)&job, sizeof job - TEXT + used + mounts + 1);
}

uint64_t log_lay_out(struct log_plan* plan) {
    uint64_t at = LOG_HEADER + plan->job_length;
    for (int region = 0; region < LOG_REGIONS; ++region) {
        plan->offset[region] = at;
        at += plan->length[region];
    }
    return at;
}

static void store(unsigned char* header, size_t at, const void* value, size_t bytes) {
    memcpy(header + at, value, bytes);
}

void log_header(unsigned char header[LOG_HEADER], const struct log_plan* plan) {
    const int64_t magic = MAGIC;
    memset(header, 0, LOG_HEADER);
    store(header, 0, "3.41", 4);
    store(header, 8, &magic, sizeof magic);
    store(header, 24, &plan->partial, sizeof plan->partial);
    for (int region = 0; region < LOG_REGIONS; ++region) {
        const size_t at = region == LOG_NAMES ? AT_NAMES : AT_MODULES + 16 * (size_t)region;
        if (region != LOG_NAMES && !plan->length[region]) continue;
        store(header, at, &plan->offset[region], 8);
        store(header, at + 8, &plan->length[region], 8);
        const struct record_kind* kind = module_kind((enum module)region);
        if (kind) store(header, AT_VERSIONS + 4 * (size_t)region, &kind->version, 4);
    }
}

static const char* user_name(void) {
    const char* name = getenv("LOGNAME");
    if (!name || !*name) name = getenv("USER");
    return name && *name && !strchr(name, '/') ? name : "user";
}

bool log_fits(struct log_plan* plan, struct log_packed* packed) {
    static const int droppable[] = {MODULE_DXT_POSIX, MODULE_DXT_MPIIO, MODULE_HEATMAP};
    uint64_t bytes = log_lay_out(plan);
    for (size_t i = 0; i < sizeof droppable / sizeof *droppable; ++i) {
        if (!settings.max_log || bytes <= settings.max_log) return true;
        const int region = droppable[i];
        if (!plan->length[region]) continue;
        plan->length[region] = 0;
        plan->partial |= UINT64_C(1) << region;
        buffer_release(&packed->region[region]);
        bytes = log_lay_out(plan);
    }
    return !settings.max_log || bytes <= settings.max_log;
}

/* The folder for logs. Only the parts of a date are filled in; any other % of the name is kept. */
static void folder_of(char* folder, size_t room, const struct tm* day) {
    size_t used = 0;
    const char* at = settings.log_folder;
    for (; *at && used + 5 < room; ++at) {
        const char word[] = {'%', at[1], '\0'};
        if (settings.dated && at[0] == '%' && at[1] && strchr("Ymd", at[1])) {
            used += strftime(folder + used, room - used, word, day);
            ++at;
        } else {
            folder[used++] = *at;
        }
    }
    folder[used] = '\0';
}

/* All users write to these folders, and no user may remove another's log. */
void log_make_folders(const char* path) {
    enum { FOR_ALL = 01777 };
    char folder[1400];
    if (!settings.dated) return;
    snprintf(folder, sizeof folder, "%s", path);
    /* The part before the date has the same length in the setting and here. */
    char* slash = strchr(folder + (strchr(settings.log_folder, '%') - settings.log_folder), '/');
    for (; slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (REAL(syscall)(SYS_mkdirat, AT_FDCWD, folder, FOR_ALL) == 0) {
            REAL(syscall)(SYS_fchmodat, AT_FDCWD, folder, FOR_ALL); /* the umask may have removed rights */
        }
        *slash = '/';
    }
}

/* The folder that `workalike profile` makes is its user's alone, and a server may have become another user.
 */
void log_warn_unwritten(const char* path, int error) {
    const char* reason = error ? strerror(error) : "a rank failed";
    const int user = (int)geteuid();
    if (error != EACCES && error != EPERM) {
        own_warn("the log %s cannot be written: %s", path, reason);
    } else if (settings.own_folder && mapping_file()) {
        own_warn(
            "the log %s cannot be written by user %d: %s (workalike profile makes it from the counters in "
            "%s)",
            path, user, reason, mapping_file());
    } else if (settings.own_folder) {
        own_warn(
            "the log %s cannot be written by user %d: %s (programs that change their user are captured "
            "without "
            "workalike profile: set LD_PRELOAD, and WORKALIKE_CAPTURE_LOG_DIR to a folder of mode 1777)",
            path, user, reason);
    } else {
        own_warn(
            "the log %s cannot be written by user %d: %s (let all users write into the folder of "
            "WORKALIKE_CAPTURE_LOG_DIR: chmod 1777)",
            path, user, reason);
    }
}

void log_path(char* path, size_t room) {
    const struct mapping_header* header = mapping_header();
    struct tm day;
    char folder[1100];
    const time_t start = header->start_sec;
    gmtime_r(&start, &day);
    folder_of(folder, sizeof folder, &day);
    snprintf(path, room, "%s/%s_%s_id%lld-%lld_%d-%d-%d-%llu.darshan", folder, user_name(),
             program_invocation_short_name, (long long)header->job_id, (long long)header->pid, day.tm_mon + 1,
             day.tm_mday, day.tm_hour * 3600 + day.tm_min * 60 + day.tm_sec,
             (unsigned long long)header->origin_ns);
}
