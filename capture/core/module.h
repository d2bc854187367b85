/* The modules of the capture library. Each is a folder with one `struct capture_module` NAME_module; the
   list in CMakeLists.txt becomes the table below. Common code (the life of a process, logs, MPI jobs) uses
   the table and names no module. */
#ifndef WORKALIKE_CAPTURE_MODULE_H
#define WORKALIKE_CAPTURE_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record_kind.h"

struct buffer;
struct job_times;
struct log_content;
struct side_counters;

/* Everything but the name may be left out. */
struct capture_module {
    const char* name;
    const struct record_kind* const* kinds; /* the kinds of its records in the log; NULL at the end */
    const struct side_counters* counters;   /* per file, for the side file; needs no hook */
    const char* part;                       /* the key of what `log` writes into the side file */
    const bool* part_wanted;                /* whether `log` was requested; NULL: always */

    /* Called when the process begins and is captured; modules read their own settings here. */
    void (*start)(void);
    /* Called in the child of a fork: counters begin at zero, and no other thread holds a lock. */
    void (*fork)(void);
    /* Called before a long jump to a frame at or above this stack position: everything below is left. */
    void (*jump)(uintptr_t stack);
    /* Called before an open file is closed; returns whether it need not be called for this file again. `name`
       is absolute. */
    bool (*closing)(int fd, const char* name);
    /* Called when the process is about to become another program (`leaving`), and if that failed. */
    void (*exec)(bool leaving);
    /* Called when a process without MPI ends. */
    void (*finish)(void);
    /* Called in an MPI job: combines the records of a file at rank 0, beyond the rules of the kinds. */
    void (*reduce)(struct log_content* content, intptr_t comm, int rank);
    /* Called when a log is made: adds what has no entry to the content, and to its part of the side file. */
    void (*log)(struct log_content* content, const struct job_times* job, int64_t rank, struct buffer* part);
};

/* Made by CMake from the list of modules. In a linked program, the modules of libraries that it does not
   use are NULL. */
extern const struct capture_module* const capture_modules[];
extern const int capture_module_count;

enum { MODULES_AT_MOST = 16 };

/* Calls a hook of every module that has it, as in FOR_MODULES(closing, fd, name). */
#define FOR_MODULES(hook, ...)                                                   \
    for (int module_at = 0; module_at < capture_module_count; ++module_at) {     \
        const struct capture_module* module_there = capture_modules[module_at];  \
        if (module_there && module_there->hook) module_there->hook(__VA_ARGS__); \
    }

/* Shows a file that is about to be closed to all modules; returns whether none needs to see it again. */
bool modules_closing(int fd, const char* name);

/* The kind of a module's records; NULL if it has none of its own. */
const struct record_kind* module_kind(enum module module);

/* The module number in the mapping of a module's counters for the side file. */
enum module module_of_counters(const struct side_counters* counters);

/* Collects the kinds of all modules; must precede all counting. */
void modules_collect_kinds(void);

#endif
