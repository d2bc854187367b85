#include "core/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/children.h"
#include "core/clock.h"
#include "core/mapping.h"
#include "core/own_io.h"
#include "core/sandbox.h"
#include "core/utf8.h"

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

/* The arguments of this process with spaces between them, as in a shell. */
static void read_command(char* text) {
    size_t length = own_slurp("/proc/self/cmdline", text, COMMAND_ROOM);
    while (length && !text[length - 1]) --length;
    for (size_t i = 0; i < length; ++i) {
        if (text[i] == '\0' || text[i] == '\n' || text[i] == '\t') text[i] = ' ';
    }
    if (length == COMMAND_ROOM - 1) strcpy(text + length - 11, "<TRUNCATED>");
    utf8_clean(text, COMMAND_ROOM);
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

/* Fills in the process and the time. */
static void describe(struct mapping_header* header) {
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

bool process_begin(void) {
    const int now = atomic_load_explicit(&process.phase, memory_order_acquire);
    if (now != PHASE_WAITING) return now == PHASE_RUNNING;
    spin_acquire(&process.lock);
    int phase = atomic_load(&process.phase);
    if (phase == PHASE_WAITING) {
        struct mapping_header* header = mapping_start();
        phase = header ? PHASE_RUNNING : PHASE_OFF;
        if (header) {
            describe(header);
            mapping_begin();
        }
        atomic_store_explicit(&process.phase, phase, memory_order_release);
        if (phase == PHASE_OFF) {
            own_warn("no memory for counters: this process is not captured");
            mapping_note_loss();
        }
    }
    spin_release(&process.lock);
    return phase == PHASE_RUNNING;
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
    clock_begin();
    process.pid = getpid();
    children_start();
}

void process_start(void) {
    begin_clock();
    atomic_store(&process.phase, PHASE_WAITING);
}

bool process_start_again(void) {
    if (atomic_load(&process.phase) == PHASE_OFF) return false;
    const pid_t parent = process.pid;
    mapping_forget();
    memset(&process, 0, sizeof process);
    process.forked_from = parent;
    if (!sandboxed())
        process_start(); /* otherwise a child counts nothing, because it may not even ask for its process
                            number */
    return true;
}
