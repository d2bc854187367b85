/* What this process has open: descriptor to open file, shared by dup as the kernel shares the offset. */
#ifndef WORKALIKE_CAPTURE_FD_TABLE_H
#define WORKALIKE_CAPTURE_FD_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct posix_record;

/* An open file description: one offset, any number of descriptors. Never given back to the system, so that a
   thread racing a close touches valid memory. */
struct open_file {
    _Atomic(struct posix_record*) record; /* NULL after a fork until the child uses the file */
    const char* name;
    int64_t offset;
    int64_t append_end; /* O_APPEND: where its latest write ended, -1 before the first */
    int references;
    bool append;
    struct open_file* next; /* all, or the free ones */
};

enum { FD_CHUNK = 1024, FD_CHUNKS = 1024 };

extern _Atomic(struct open_file*)* _Atomic fd_chunks[FD_CHUNKS];

/* The open file of a descriptor, NULL if it is not counted. */
static inline struct open_file* fd_file(int fd) {
    if ((unsigned)fd >= FD_CHUNK * FD_CHUNKS) return 0;
    _Atomic(struct open_file*)* chunk =
        atomic_load_explicit(&fd_chunks[(unsigned)fd / FD_CHUNK], memory_order_acquire);
    return chunk ? atomic_load_explicit(&chunk[(unsigned)fd % FD_CHUNK], memory_order_acquire) : 0;
}

/* Enters a new open file with one descriptor; NULL without memory. */
struct open_file* fd_opened(int fd, struct posix_record* record, const char* name, bool append);
/* `copy` is one more descriptor of what `fd` is; whatever `copy` was before is closed. */
struct open_file* fd_copied(int fd, int copy);
void fd_closed(int fd);

/* In a fork's child: same descriptors, no records yet. */
void fd_table_after_fork(void);

#endif
