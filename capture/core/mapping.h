/* The counters of a process in a mapped file, so that they outlive the process.

   The file has a page with a header and then one entry after the other. If the process could not write its
   log, src/workalike/capture/mapping.py reads the file. An entry never moves, and only the spare one shrinks.
 */
#ifndef WORKALIKE_CAPTURE_MAPPING_H
#define WORKALIKE_CAPTURE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/layouts.h"
#include "core/spin.h"

enum { MAPPING_VERSION = 1, MAPPING_HEADER = 8192, MAPPING_SPARE = 24576, COMMAND_ROOM = 3016 };

enum mapping_state {
    MAPPING_RUNNING = 1,
    MAPPING_WHOLE = 2 /* left on purpose: the reader must make a log of it */
};

struct mapping_header {
    char magic[8]; /* "WACAPMAP" */
    uint32_t version;
    _Atomic(uint32_t) state;
    int64_t pid, fork_parent;
    int64_t rank, ranks; /* of an MPI job, otherwise 0 and 1 */
    uint64_t job;        /* the same in all processes of an MPI job, 0 without MPI */
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
    ENTRY_WORDS = 6,
    ENTRY_SPARE = 7, /* room that is taken from its end when there is no other */
    ENTRY_MESSAGES = 8
};

/* The start of every entry. Places are bytes from the start of the entry; 0 means that there is nothing. */
struct entry {
    uint32_t kind, size;
    uint16_t module, record_size;
    uint16_t record_at, access_at, access_width, stride_at; /* width: numbers per common access */
    _Atomic(uint32_t) ready;   /* set last: an entry without it was incomplete when the process died */
    _Atomic(uint32_t) counted; /* something was counted, so the entry goes into the log */
    spin_lock lock;
};

/* The mapping; NULL before the first entry and after the end. */
struct mapping_header* mapping_header(void);

/* Makes the mapping of this process with an empty header; returns NULL if that is impossible. */
struct mapping_header* mapping_start(void);
/* Completes the header with the process and the time. From here on the file counts as begun. */
void mapping_begin(void);

/* Adds a zeroed entry that is not ready yet. Returns NULL when the allowed memory is used up; the module
   is then marked partial. */
struct entry* mapping_add(enum entry_kind kind, enum module module, size_t bytes);
void mapping_ready(struct entry* entry);

/* The same from the spare room of MAPPING_SPARE bytes, which the mapping has from the start; NULL when that
   is used up, too. */
struct entry* mapping_add_spare(enum entry_kind kind, enum module module, size_t bytes);

/* Marks a module as partial, and warns at the first time. */
void mapping_note_partial(enum module module);

/* Reserves `bytes` more now, if that is allowed. */
void mapping_widen(size_t bytes);

/* Walks over all entries: NULL gives the first one, and the last one gives NULL. */
struct entry* mapping_next(const struct entry* entry);

/* Removes the file after the log is written. The memory remains mapped, because other threads may still
   count. */
void mapping_remove(void);

/* Notes that counters of this process are lost, with a mark in the folder for logs. It does so only if the
   folder was made for this program alone. Nothing is lost while the mapping is in a file. */
void mapping_note_loss(void);

/* The file that the mapping is in, which stays if the log cannot be written; NULL without one. */
const char* mapping_file(void);

/* In the child of a fork: gives up the parent's mapping. */
void mapping_forget(void);

#endif
