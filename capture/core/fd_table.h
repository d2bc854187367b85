/* What this process has open: a table from descriptors to open files. Copies made by dup share an open
   file, as they share the offset in the kernel. */
#ifndef WORKALIKE_CAPTURE_FD_TABLE_H
#define WORKALIKE_CAPTURE_FD_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct posix_record;

/* An open file description: one offset and any number of descriptors. Its memory is never freed, so that a
   thread racing with a close accesses valid memory. */
struct open_file {
    _Atomic(struct posix_record*) record; /* NULL after a fork, until the child uses the file */
    const char* name;
    int64_t offset;
    int64_t append_end; /* with O_APPEND: where the latest write ended, -1 before the first */
    int references;
    bool append;
    bool shared;            /* other processes may move the offset, so that the kernel is asked for it */
    struct open_file* next; /* links all open files, or the free ones */
};

enum { FD_CHUNK = 1024, FD_CHUNKS = 1024 };

extern _Atomic(struct open_file*)* _Atomic fd_chunks[FD_CHUNKS];

/* The open file of a descriptor; NULL if it is not counted. */
static inline struct open_file* fd_file(int fd) {
    if ((unsigned)fd >= FD_CHUNK * FD_CHUNKS) return 0;
    _Atomic(struct open_file*)* chunk =
        atomic_load_explicit(&fd_chunks[(unsigned)fd / FD_CHUNK], memory_order_acquire);
    return chunk ? atomic_load_explicit(&chunk[(unsigned)fd % FD_CHUNK], memory_order_acquire) : 0;
}

/* Enters a new open file with one descriptor; returns NULL without memory. */
struct open_file* fd_opened(int fd, struct posix_record* record, const char* name, bool append);
/* Makes `copy` another descriptor of the open file of `fd`. What `copy` was before is closed. */
struct open_file* fd_copied(int fd, int copy);
void fd_closed(int fd);

/* In the child of a fork: keeps the descriptors, but without records. */
void fd_table_after_fork(void);

#endif
