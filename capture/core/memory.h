/* Memory that does not come from malloc: _exit in a signal handler may interrupt malloc and still write a
 * log. */
#ifndef WORKALIKE_CAPTURE_MEMORY_H
#define WORKALIKE_CAPTURE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Pages to read and write, of a file or, without one (-1), zeroed; NULL if there are none. Straight from the
   kernel: our wrapper of mmap, and other tools', see nothing of it. */
void* memory_map(size_t bytes, int flags, int fd);

/* Zeroed pages, or NULL. */
void* memory_pages(size_t bytes);
void memory_release(void* pages, size_t bytes);

/* A growing run of bytes. After a failed growth `failed` stays set and nothing is added. */
struct buffer {
    unsigned char* data;
    size_t used, room;
    bool failed;
};

void* buffer_add(struct buffer* buffer, size_t bytes);
void buffer_append(struct buffer* buffer, const void* data, size_t bytes);
void buffer_release(struct buffer* buffer);

#endif
