/* Records by module and name. A record is found or made when a file is opened, never by a read or write. */
#ifndef WORKALIKE_CAPTURE_RECORDS_H
#define WORKALIKE_CAPTURE_RECORDS_H

#include "core/mapping.h"
#include "core/memory.h"
#include "core/paths.h"
#include "core/pause.h"

/* What the entries of a module look like. */
struct record_shape {
    enum module module;
    size_t entry_size;
    uint16_t record_at, record_size, access_at, access_width, stride_at;
    bool file_only; /* nothing that could be counted for several files together */
};

/* The name of all files of a process for which it has no room. Each module has one record of them, so that
   their calls and bytes are in the log. */
#define OTHER_FILES "<OTHER FILES>"

/* The record of this name; that of OTHER_FILES without room, NULL if there is none. A new record has its id
   set, the rest is zero, and `made` is true. */
struct entry* records_find(const struct record_shape* shape, const char* name, bool* made);

/* The same, but NULL if the settings exclude the name. */
struct entry* records_find_counted(const struct record_shape* shape, const char* name, bool* made);

/* Whether this is the record of OTHER_FILES, and whether this is their name. */
bool records_is_others(const struct entry* head);
bool records_is_others_name(const char* name);

/* Changes when all records are forgotten, so that pointers to them may be kept elsewhere. */
extern _Atomic(unsigned) records_generation;

/* The name in the log of a file opened through a library; returns false if the file is not counted. */
bool records_path(const char* path, char name[NAME_ROOM]);

static inline void record_lock(struct entry* head) {
    spin_acquire(&head->lock);
}

static inline void record_unlock(struct entry* head) {
    spin_release(&head->lock);
}

/* Whether calls are counted now. If so, the record of this locked entry goes into the log. */
static inline bool record_counts(struct entry* head) {
    if (pause_active()) return false;
    atomic_store_explicit(&head->counted, 1, memory_order_relaxed);
    return true;
}

/* Locks the record for counting. In a pause it returns false and does not lock. */
static inline bool record_begin(struct entry* head) {
    if (pause_active()) return false;
    record_lock(head);
    return record_counts(head);
}

/* Whether there is a record of this name. */
bool records_known(enum module module, const char* name);

/* The name of a record id (in the mapping), or NULL. */
const char* records_name(uint64_t id);

/* Enters a name without a record, for ids that are in other records. */
void records_enter_name(const char* name);

/* For the log: marks a name as needed, and gathers the marked names in the form of a log. */
void records_mark_name(uint64_t id);
void records_collect_names(struct buffer* names);

void records_forget(void);

#endif
