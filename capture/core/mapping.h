/* The counters of one process in a mapped file, so that they outlive the process.

   The file is a header page and then entries, one after the other; src/workalike/capture/mapping.py reads it
   when the process could not write its log. An entry never moves and never shrinks. */
#ifndef WORKALIKE_CAPTURE_MAPPING_H
#define WORKALIKE_CAPTURE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/layouts.h"
#include "core/spin.h"

enum { MAPPING_VERSION = 1, MAPPING_HEADER = 8192, COMMAND_ROOM = 3016 };

enum mapping_state {
    MAPPING_RUNNING = 1,
    MAPPING_WHOLE = 2 /* left on purpose: who finds it makes the log */
};

struct mapping_header {
    char magic[8]; /* "WACAPMAP" */
    uint32_t version;
    _Atomic(uint32_t) state;
    int64_t pid, fork_parent;
    int64_t rank, ranks; /* of an MPI job, else 0 and 1 */
    uint64_t job;        /* what the processes of one MPI job have in common, 0 without MPI */
    int64_t job_id, uid;
    int64_t start_sec, start_nsec; /* wall clock at the origin of all times */
    int64_t origin_ns;             /* monotonic clock at that moment */
    int64_t end_ns;                /* monotonic clock at the end, 0 while running */
    _Atomic(uint64_t) used;        /* bytes of the file in use */
    _Atomic(uint64_t) partial;     /* bit of each module that ran out of room */
    char command[COMMAND_ROOM];
};

enum entry_kind {
    ENTRY_RECORD = 1,
    ENTRY_NAME = 2,
    ENTRY_TRACE = 3,
    ENTRY_HEATMAP = 4,
    ENTRY_EVENTS = 5,
    ENTRY_WORDS = 6
};

/* What every entry begins with. Places are bytes from the entry's start, 0 where there is nothing. */
struct entry {
    uint32_t kind, size;
    uint16_t module, record_size;
    uint16_t record_at, access_at, access_width, stride_at; /* width: numbers in a common access */
    _Atomic(uint32_t) ready;   /* set last: an entry without it was being made when the process died */
    _Atomic(uint32_t) counted; /* something was counted: worth a place in the log */
    spin_lock lock;
};

/* The mapping, or NULL before the first entry and after the last. */
struct mapping_header* mapping_header(void);

/* Makes the mapping of this process, whose header says nothing yet; NULL if there can be none. */
struct mapping_header* mapping_start(void);
/* The header says who and when: from here on the file counts as begun. */
void mapping_begin(void);

/* A new zeroed entry, not ready; NULL when the memory allowed is used up (the module is then marked partial).
 */
struct entry* mapping_add(enum entry_kind kind, enum module module, size_t bytes);
void mapping_ready(struct entry* entry);

/* Takes room for so many more bytes now, if that is allowed. */
void mapping_widen(size_t bytes);

/* Walks all entries: NULL gives the first, the last gives NULL. */
struct entry* mapping_next(const struct entry* entry);

/* The log is written: the file goes. The memory stays mapped, since other threads may still count. */
void mapping_remove(void);

/* What this process counts, or would have counted, is lost: leaves a sign in the folder for logs where
   whoever started the program made that folder for it alone. Nothing is lost while the mapping lies in a
   file. */
void mapping_note_loss(void);

/* In a fork's child: the parent's mapping is no longer ours. */
void mapping_forget(void);

#endif
