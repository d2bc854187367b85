#include "core/process.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/export.h"
#include "core/fd_table.h"
#include "core/guard.h"
#include "core/handle_table.h"
#include "core/mounts.h"
#include "core/own_io.h"
#include "core/records.h"
#include "core/settings.h"
#include "log/events.h"
#include "log/heatmap.h"
#include "log/log.h"
#include "stdio/record.h"

int64_t clock_origin;
_Thread_local volatile int guard_inside __attribute__((tls_model("initial-exec")));

enum phase { PHASE_OFF, PHASE_WAITING, PHASE_RUNNING, PHASE_ENDED };

static struct {
    _Atomic(int) phase;
    pid_t pid, forked_from;
    struct timespec wall_start;
    int rank, ranks;
    uint64_t job;
    spin_lock lock;
} process;

bool process_counts(void) {
    const int phase = atomic_load_explicit(&process.phase, memory_order_relaxed);
    return phase == PHASE_WAITING || phase == PHASE_RUNNING;
}

bool process_is_ours(void) {
    return getpid() == process.pid;
}

bool process_begin(void) {
    const int now = atomic_load_explicit(&process.phase, memory_order_acquire);
    if (now != PHASE_WAITING) return now == PHASE_RUNNING;
    spin_acquire(&process.lock);
    int phase = atomic_load(&process.phase);
    if (phase == PHASE_WAITING) {
        phase = mapping_start() ? PHASE_RUNNING : PHASE_OFF;
        atomic_store_explicit(&process.phase, phase, memory_order_release);
        if (phase == PHASE_OFF) own_warn("no memory for counters: this process is not captured");
    }
    spin_release(&process.lock);
    return phase == PHASE_RUNNING;
}

/* The arguments of this process with spaces between, as a shell would show them. */
static void read_command(char* text) {
    size_t length = own_slurp("/proc/self/cmdline", text, COMMAND_ROOM);
    while (length && !text[length - 1]) --length;
    for (size_t i = 0; i < length; ++i) {
        if (text[i] == '\0' || text[i] == '\n' || text[i] == '\t') text[i] = ' ';
    }
    if (length == COMMAND_ROOM - 1) strcpy(text + length - 11, "<TRUNCATED>");
}

static int64_t job_id(void) {
    static const char* const names[] = {"SLURM_JOB_ID", "SLURM_JOBID", "PBS_JOBID",
                                        "LSB_JOBID",    "JOB_ID",      "COBALT_JOBID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char* text = getenv(names[i]);
        if (text && atoi(text) > 0) return atoi(text);
    }
    return process.pid;
}

void process_describe(struct mapping_header* header) {
    header->pid = process.pid;
    header->fork_parent = process.forked_from;
    header->rank = process.rank;
    header->ranks = process.ranks ? process.ranks : 1;
    header->job = process.job;
    header->job_id = job_id();
    header->uid = (int64_t)getuid();
    header->start_sec = process.wall_start.tv_sec;
    header->start_nsec = process.wall_start.tv_nsec;
    header->origin_ns = clock_origin;
    read_command(header->command);
}

void process_joins_job(int rank, int ranks, uint64_t job) {
    process.rank = rank;
    process.ranks = ranks;
    process.job = job;
    if (!process_begin()) return;
    struct mapping_header* header = mapping_header();
    header->rank = rank;
    header->ranks = ranks;
    header->job = job;
}

bool process_in_job(void) {
    return process.ranks > 0;
}

bool process_end(void) {
    return atomic_exchange(&process.phase, PHASE_ENDED) == PHASE_RUNNING;
}

static void begin_clock(void) {
    clock_gettime(CLOCK_REALTIME, &process.wall_start);
    clock_origin = clock_ns();
    process.pid = getpid();
}

/* A child counts for itself, from zero; its mapping begins with the first thing that it counts. */
static void after_fork_in_child(void) {
    if (atomic_load(&process.phase) == PHASE_OFF) return;
    const pid_t parent = process.pid;
    memset(&process, 0, sizeof process);
    process.forked_from = parent;
    begin_clock();
    mapping_forget();
    records_forget();
    mounts_forget();
    fd_table_after_fork();
    streams_after_fork();
    events_after_fork();
    heatmap_after_fork();
    handle_tables_after_fork();
    atomic_store(&process.phase, PHASE_WAITING);
    guard_inside = 0;
}

__attribute__((constructor)) static void start(void) {
    settings_read();
    begin_clock();
    if (!settings.wanted) return;
    pthread_atfork(NULL, NULL, after_fork_in_child);
    atomic_store(&process.phase, PHASE_WAITING);
}

/* The end of a process outside MPI. Inside our own code (a signal came) the mapping is left for recovery,
   and so it is when an MPI job ends without MPI_Finalize: its ranks may be anywhere. */
static void finish(void) {
    if (!process_is_ours() || process_in_job() || !guard_enter()) return;
    if (process_end()) {
        if (settings.mpi_only) {
            mapping_remove();
        } else {
            log_write_serial();
        }
    }
    guard_leave();
}

__attribute__((destructor)) static void stop(void) {
    finish();
}

EXPORT void _exit(int code) {
    finish();
    REAL(_exit)(code);
    __builtin_unreachable();
}
EXPORT_ALIAS(_Exit, _exit);
