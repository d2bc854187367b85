/* The modules of the capture library. Each is a folder with one `struct capture_module`, NAME_module; the
   list of them in CMakeLists.txt becomes the table below. What is common (the life of a process, logs, MPI
   jobs) goes by this table and names none of them. */
#ifndef WORKALIKE_CAPTURE_MODULE_H
#define WORKALIKE_CAPTURE_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record_kind.h"

struct buffer;
struct job_times;
struct log_content;
struct side_counters;

/* All of it but the name may be left out. */
struct capture_module {
    const char* name;
    const struct record_kind* const* kinds; /* of the records that it has in the log; NULL at the end */
    const struct side_counters* counters;   /* of each file, for the side file: written without a hook */
    const char* part;                       /* the key of what `log` writes into the side file */
    const bool* part_wanted;                /* whether it was asked for; NULL: always */

    /* The process begins, and is to be captured: the place to read a setting of the module's own. */
    void (*start)(void);
    /* In a fork's child: its counters begin from zero, and no other thread holds a lock. */
    void (*fork)(void);
    /* A long jump goes to a frame at or above this place of the stack: what lies below is left. */
    void (*jump)(uintptr_t stack);
    /* An open file is about to be closed. `name` is absolute. */
    void (*closing)(int fd, const char* name);
    /* The process goes on as another program (`leaving`), or could not. */
    void (*exec)(bool leaving);
    /* A process without MPI ends. */
    void (*finish)(void);
    /* In an MPI job: records of one file become one at rank 0, beyond what the rules of the kinds say. */
    void (*reduce)(struct log_content* content, intptr_t comm, int rank);
    /* A log is made: adds what is no record of an entry to the content, and to its part of the side file. */
    void (*log)(struct log_content* content, const struct job_times* job, int64_t rank, struct buffer* part);
};

/* Made by CMake from the list of modules. In a program that is linked statically, those of libraries that it
   does not use are NULL. */
extern const struct capture_module* const capture_modules[];
extern const int capture_module_count;

enum { MODULES_AT_MOST = 16 };

/* Calls HOOK(arguments) of every module that has it: FOR_MODULES(closing, fd, name). */
#define FOR_MODULES(hook, ...)                                                   \
    for (int module_at = 0; module_at < capture_module_count; ++module_at) {     \
        const struct capture_module* module_there = capture_modules[module_at];  \
        if (module_there && module_there->hook) module_there->hook(__VA_ARGS__); \
    }

/* What the records of a module are like; NULL if it has none of their own. */
const struct record_kind* module_kind(enum module module);

/* The number that a module's counters for the side file have in the mapping. */
enum module module_of_counters(const struct side_counters* counters);

/* Collects the kinds of all modules: before anything is counted. */
void modules_collect_kinds(void);

#endif
