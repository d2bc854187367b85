#include "core/memory.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/export.h"
#include "core/sandbox.h"
void* memory_map(size_t bytes, int flags, int fd) {
    if (sandboxed()) return NULL;
    const long pages = REAL(syscall)(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)0);
    return pages == -1 ? NULL : (void*)pages;
}

void* memory_pages(size_t bytes) {
    return memory_map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

void memory_release(void* pages, size_t bytes) {
    if (pages && !sandboxed()) munmap(pages, bytes);
}

static bool buffer_grow(struct buffer* buffer, size_t needed) {
    size_t room = buffer->room ? buffer->room : 65536;
    while (room < needed) room *= 2;
    if (sandboxed()) return false;
    void* data = buffer->data ? mremap(buffer->data, buffer->room, room, MREMAP_MAYMOVE) : memory_pages(room);
    if (!data || data == MAP_FAILED) return false;
    buffer->data = data;
    buffer->room = room;
    return true;
}

void* buffer_add(struct buffer* buffer, size_t bytes) {
    if (buffer->failed) return NULL;
    if (buffer->used + bytes > buffer->room && !buffer_grow(buffer, buffer->used + bytes)) {
        buffer->failed = true;
        return NULL;
    }
    void* place = buffer->data + buffer->used;
    buffer->used += bytes;
    return place;
}

void buffer_append(struct buffer* buffer, const void* data, size_t bytes) {
    void* place = buffer_add(buffer, bytes);
    if (place && bytes) memcpy(place, data, bytes);
}

void buffer_release(struct buffer* buffer) {
    memory_release(buffer->data, buffer->room);
    *buffer = (struct buffer){0};
}
