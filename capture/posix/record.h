/* The POSIX counters of one file. */
#ifndef WORKALIKE_CAPTURE_POSIX_RECORD_H
#define WORKALIKE_CAPTURE_POSIX_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/fd_table.h"
#include "core/mapping.h"
#include "log/trace.h"
#include "posix/layout.h"

enum { MEMORY_ALIGNMENT = 8 };

struct posix_record {
    struct entry head;
    struct posix_history history;
    double read_end, write_end, meta_end;
    struct trace_chains traces;
    const char* name;     /* in the mapping */
    _Atomic(bool) looked; /* the modules need not see the file again before it is closed */
    struct posix_stored log;
};

/* The record of an absolute name; NULL if it is not counted or there is no room. */
struct posix_record* posix_record_of(const char* name);

/* The record of a path that is relative to `folder`, as openat takes it. */
struct posix_record* posix_record_at(int folder, const char* path);

/* Shows a file that is about to be closed to the modules. */
void posix_show_closing(int fd, struct posix_record* record);

/* The name of a record; valid as long as the process lives. */
const char* posix_record_name(const struct posix_record* record);

/* The record of an open file; after a fork the child gets its own here. */
struct posix_record* posix_record_of_file(struct open_file* file);

/* The same, but NULL where this process has not used the file that it inherited: its close alone is not
   counted. */
static inline struct posix_record* posix_record_in_use(struct open_file* file) {
    return atomic_load_explicit(&file->record, memory_order_acquire);
}

/* An offset is explicit (pread), or this value for the offset of the file, which moves. */
enum { CURRENT_OFFSET = -1 };
void posix_count_transfer(int fd, struct open_file* file, enum transfer kind, int64_t offset, int64_t size,
                          const void* memory, struct span span);

/* Counts a successful open; `mode` is the mode argument of a creating call. */
void posix_count_open(struct posix_record* record, int mode, struct span span);
/* Counts a copy of a descriptor (DUPS) or the descriptor of a stream (FILENOS); each counts as an open
   too. */
void posix_count_copy(struct posix_record* record, enum posix_counter counter, struct span span);
void posix_count_close(struct posix_record* record, struct span span);
void posix_count_seek(struct open_file* file, int64_t offset, struct span span);

/* Adds one to a counter, and the time to that of metadata. */
void posix_count_meta(struct posix_record* record, enum posix_counter counter, struct span span);
/* Counts fsync and fdatasync, whose time counts as writing. */
void posix_count_sync(struct posix_record* record, enum posix_counter counter, struct span span);
/* Counts, for the side file, that a file which this process has written is opened and emptied. Darshan's
   format does not distinguish a file that is written anew from one that is overwritten. */
void posix_count_truncation(const char* name);
/* Counts, for the side file, that the name of a file is deleted. Darshan's format has no counter for it. */
void posix_count_removal(const char* name);
void posix_count_rename(const char* from, const char* to, struct span span);

#endif
