/* Memory that is not from malloc: _exit in a signal handler may interrupt malloc, and must still write a
   log. */
#ifndef WORKALIKE_CAPTURE_MEMORY_H
#define WORKALIKE_CAPTURE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Pages for reading and writing, of a file or (fd -1) zeroed; NULL if there are none. The kernel is called
   directly, so that our wrapper of mmap and other tools do not see the call. */
void* memory_map(size_t bytes, int flags, int fd);

/* Zeroed pages, or NULL. */
void* memory_pages(size_t bytes);
void memory_release(void* pages, size_t bytes);

/* A growing array of bytes. If it cannot grow, `failed` is set permanently and nothing more is added. */
struct buffer {
    unsigned char* data;
    size_t used, room;
    bool failed;
};

void* buffer_add(struct buffer* buffer, size_t bytes);
void buffer_append(struct buffer* buffer, const void* data, size_t bytes);
void buffer_release(struct buffer* buffer);

#endif
