/* The exec family. The counters of the program that ends here stay in its mapping, marked as whole: who
   started the program makes the log from it. Should exec fail, the program goes on as before. */
#include <alloca.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/export.h"
#include "core/mapping.h"
#include "core/process.h"
#include "core/settings.h"

static struct mapping_header* before_exec(void) {
    struct mapping_header* header = process_is_ours() && process_counts() ? mapping_header() : NULL;
    if (header && settings.mpi_only && !process_in_job()) {
        mapping_remove(); /* nobody wants a log of this program */
        return NULL;
    }
    if (header) {
        header->end_ns = clock_ns();
        atomic_store(&header->state, MAPPING_EXECUTED);
    }
    return header;
}

static int after_failed_exec(struct mapping_header* header, int result) {
    if (header) {
        header->end_ns = 0;
        atomic_store(&header->state, MAPPING_RUNNING);
    }
    return result;
}

EXPORT int execve(const char* path, char* const arguments[], char* const environment[]) {
    struct mapping_header* header = before_exec();
    return after_failed_exec(header, REAL(execve)(path, arguments, environment));
}
EXPORT int execv(const char* path, char* const arguments[]) {
    struct mapping_header* header = before_exec();
    return after_failed_exec(header, REAL(execv)(path, arguments));
}
EXPORT int execvp(const char* name, char* const arguments[]) {
    struct mapping_header* header = before_exec();
    return after_failed_exec(header, REAL(execvp)(name, arguments));
}
EXPORT int execvpe(const char* name, char* const arguments[], char* const environment[]) {
    struct mapping_header* header = before_exec();
    return after_failed_exec(header, REAL(execvpe)(name, arguments, environment));
}
EXPORT int fexecve(int fd, char* const arguments[], char* const environment[]) {
    struct mapping_header* header = before_exec();
    return after_failed_exec(header, REAL(fexecve)(fd, arguments, environment));
}
EXPORT int execveat(int folder, const char* path, char* const arguments[], char* const environment[],
                    int flags) {
    struct mapping_header* header = before_exec();
    return after_failed_exec(header, REAL(execveat)(folder, path, arguments, environment, flags));
}

/* The forms with a list of arguments, made into an array; `given` may still yield the environment. */
#define LISTED(first, given, array)                     \
    va_list given;                                      \
    size_t count = 1;                                   \
    va_start(given, first);                             \
    while (va_arg(given, char*)) ++count;               \
    va_end(given);                                      \
    char** array = alloca((count + 1) * sizeof *array); \
    array[0] = (char*)(size_t)first;                    \
    va_start(given, first);                             \
    for (size_t i = 1; i <= count; ++i) array[i] = va_arg(given, char*)

EXPORT int execl(const char* path, const char* first, ...) {
    LISTED(first, given, array);
    va_end(given);
    return execv(path, array);
}
EXPORT int execlp(const char* name, const char* first, ...) {
    LISTED(first, given, array);
    va_end(given);
    return execvp(name, array);
}
EXPORT int execle(const char* path, const char* first, ...) {
    LISTED(first, given, array);
    char* const* environment = va_arg(given, char* const*);
    va_end(given);
    return execve(path, array, environment);
}
