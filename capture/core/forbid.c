/* The calls by which a program forbids itself system calls: prctl, and seccomp by its number. */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/children.h"
#include "core/clock.h"
#include "core/export.h"
#include "core/guard.h"
#include "core/keep_errno.h"
#include "core/mapping.h"
#include "core/process.h"
#include "core/sandbox.h"

enum { ROOM = 1 << 18 };

/* Prepares while it is still possible: reserves memory for what the program counts afterwards. */
static bool prepare(void) {
    KEEP_ERRNO();
    if (sandboxed() || !process_counts() || !process_is_ours()) return false;
    if (guard_enter()) {
        if (process_begin()) mapping_widen(ROOM);
        guard_leave();
    }
    return true;
}

/* `strict` is the moment if this is seccomp's strict mode, otherwise 0. */
static void enter(int64_t strict) {
    clock_stopped_ns = strict;
    atomic_store(&sandbox_entered, true);
}

static bool is_filter(long operation) {
    return operation == SECCOMP_SET_MODE_STRICT || operation == SECCOMP_SET_MODE_FILTER;
}

static bool makes_child(long number) {
#ifdef SYS_vfork
    if (number == SYS_vfork) return true;
#endif
    return number == SYS_clone || number == SYS_clone3;
}

/* Unused arguments are passed on with the contents of their registers. */
#define ARGUMENTS(count, last)                                       \
    long word[count];                                                \
    va_list given;                                                   \
    va_start(given, last);                                           \
    for (int i = 0; i < (count); ++i) word[i] = va_arg(given, long); \
    va_end(given)

EXPORT int prctl(int option, ...) {
    ARGUMENTS(4, option);
    const bool forbids = option == PR_SET_SECCOMP && prepare();
    const int64_t moment = forbids && word[0] == SECCOMP_MODE_STRICT ? clock_ns() : 0;
    const int result = REAL(prctl)(option, word[0], word[1], word[2], word[3]);
    if (forbids && result == 0) enter(moment);
    return result;
}

EXPORT long syscall(long number, ...) {
    ARGUMENTS(6, number);
    if (makes_child(number)) children_may_share_memory();
    const bool forbids = number == SYS_seccomp && is_filter(word[0]) && prepare();
    const int64_t moment = forbids && word[0] == SECCOMP_SET_MODE_STRICT ? clock_ns() : 0;
    const long result = REAL(syscall)(number, word[0], word[1], word[2], word[3], word[4], word[5]);
    if (forbids && result >= 0) enter(moment);
    return result;
}
