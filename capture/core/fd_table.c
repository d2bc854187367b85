#include "core/fd_table.h"

#include <stddef.h>

#include "core/memory.h"
#include "core/spin.h"

enum { SLAB = 128 };

_Atomic(struct open_file*)* _Atomic fd_chunks[FD_CHUNKS];

static struct open_file* free_files;
static spin_lock table_lock;

static _Atomic(struct open_file*)* slot_of(int fd) {
    if ((unsigned)fd >= FD_CHUNK * FD_CHUNKS) return NULL;
    _Atomic(struct open_file*)* chunk = atomic_load_explicit(&fd_chunks[fd / FD_CHUNK], memory_order_acquire);
    if (!chunk) {
        chunk = memory_pages(FD_CHUNK * sizeof *chunk);
        if (!chunk) return NULL;
        atomic_store(&fd_chunks[fd / FD_CHUNK], chunk);
    }
    return &chunk[fd % FD_CHUNK];
}

static struct open_file* new_file(void) {
    if (!free_files) {
        struct open_file* slab = memory_pages(SLAB * sizeof *slab);
        if (!slab) return NULL;
        for (int i = 0; i < SLAB; ++i) {
            slab[i].next = free_files;
            free_files = &slab[i];
        }
    }
    struct open_file* file = free_files;
    free_files = file->next;
    return file;
}

static void release(struct open_file* file) {
    if (!file || --file->references > 0) return;
    file->next = free_files;
    free_files = file;
}

static void replace(_Atomic(struct open_file*)* slot, struct open_file* file) {
    struct open_file* before = atomic_load_explicit(slot, memory_order_relaxed);
    atomic_store_explicit(slot, file, memory_order_release);
    release(before);
}

struct open_file* fd_opened(int fd, struct posix_record* record, const char* name, bool append) {
    spin_acquire(&table_lock);
    _Atomic(struct open_file*)* slot = slot_of(fd);
    struct open_file* file = slot ? new_file() : NULL;
    if (file) {
        atomic_store_explicit(&file->record, record, memory_order_relaxed);
        file->name = name;
        file->offset = 0;
        file->references = 1;
        file->append = append;
        file->shared = false;
        file->append_end = -1;
        replace(slot, file);
    }
    spin_release(&table_lock);
    return file;
}

struct open_file* fd_copied(int fd, int copy) {
    spin_acquire(&table_lock);
    struct open_file* file = fd_file(fd);
    _Atomic(struct open_file*)* slot = file || fd_file(copy) ? slot_of(copy) : NULL;
    if (slot && fd != copy) {
        if (file) ++file->references;
        replace(slot, file);
    }
    spin_release(&table_lock);
    return file;
}

void fd_closed(int fd) {
    if (!fd_file(fd)) return;
    spin_acquire(&table_lock);
    replace(slot_of(fd), NULL);
    spin_release(&table_lock);
}

void fd_table_after_fork(void) {
    table_lock = 0;
    for (int i = 0; i < FD_CHUNKS; ++i) {
        _Atomic(struct open_file*)* chunk = atomic_load(&fd_chunks[i]);
        for (int fd = 0; chunk && fd < FD_CHUNK; ++fd) {
            struct open_file* file = atomic_load(&chunk[fd]);
            if (!file) continue;
            atomic_store(&file->record, NULL);
            file->shared = true;
        }
    }
}
