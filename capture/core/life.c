/* The life of a captured process: start, fork and exit. The modules take part through their hooks. */
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

/* A child counts for itself, from zero. Its mapping is made when it first counts something. */
static void after_fork_in_child(void) {
    (void)guard_enter();
    spin_held.count = 0; /* locks of the parent do not concern the child */
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

/* The end of a process outside MPI. The mapping is left for recovery in two cases: a signal interrupted
   our own code, or an MPI job ended without MPI_Finalize, so that its ranks may be anywhere. */
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
