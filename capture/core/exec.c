/* The exec family. Modules are called before the program is replaced by another, and again if exec fails. */
#include <alloca.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "core/export.h"
#include "core/module.h"
#include "core/process.h"

static bool before_exec(void) {
    const bool leaving = process_is_ours() && process_counts();
    if (leaving) FOR_MODULES(exec, true)
    return leaving;
}

static int after_failed_exec(bool left, int result) {
    if (left) FOR_MODULES(exec, false)
    return result;
}

EXPORT int execve(const char* path, char* const arguments[], char* const environment[]) {
    const bool left = before_exec();
    return after_failed_exec(left, REAL(execve)(path, arguments, environment));
}
EXPORT int execv(const char* path, char* const arguments[]) {
    const bool left = before_exec();
    return after_failed_exec(left, REAL(execv)(path, arguments));
}
EXPORT int execvp(const char* name, char* const arguments[]) {
    const bool left = before_exec();
    return after_failed_exec(left, REAL(execvp)(name, arguments));
}
EXPORT int execvpe(const char* name, char* const arguments[], char* const environment[]) {
    const bool left = before_exec();
    return after_failed_exec(left, REAL(execvpe)(name, arguments, environment));
}
EXPORT int fexecve(int fd, char* const arguments[], char* const environment[]) {
    const bool left = before_exec();
    return after_failed_exec(left, REAL(fexecve)(fd, arguments, environment));
}
EXPORT int execveat(int folder, const char* path, char* const arguments[], char* const environment[],
                    int flags) {
    const bool left = before_exec();
    return after_failed_exec(left, REAL(execveat)(folder, path, arguments, environment, flags));
}

/* The forms with a list of arguments, which becomes an array. The environment may follow in `given`. */
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
