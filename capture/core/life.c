/* The life of a captured process: start, fork, exit. What a module has to do with it, its hooks say. */
#include <pthread.h>
#include <unistd.h>

#include "core/export.h"
#include "core/fd_table.h"
#include "core/guard.h"
#include "core/handle_table.h"
#include "core/module.h"
#include "core/mounts.h"
#include "core/process.h"
#include "core/records.h"
#include "core/settings.h"

/* A child counts for itself, from zero; its mapping begins with the first thing that it counts. */
static void after_fork_in_child(void) {
    (void)guard_enter();
    spin_held.count = 0; /* what the parent held is its own affair */
    if (process_start_again()) {
        records_forget();
        mounts_forget();
        fd_table_after_fork();
        handle_tables_after_fork();
        FOR_MODULES(fork)
    }
    guard_leave();
}

__attribute__((constructor)) static void start(void) {
    settings_read();
    modules_collect_kinds();
    if (!settings.wanted) return;
    FOR_MODULES(start)
    pthread_atfork(NULL, NULL, after_fork_in_child);
    process_start();
}

/* The end of a process outside MPI. Inside our own code (a signal came) the mapping is left for recovery,
   and so it is when an MPI job ends without MPI_Finalize: its ranks may be anywhere. */
static void finish(void) {
    if (!process_is_ours() || process_in_job() || !guard_enter()) return;
    if (process_end()) FOR_MODULES(finish)
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
