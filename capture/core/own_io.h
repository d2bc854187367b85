/* Our own calls of the system: straight to the kernel, so that neither our wrappers nor another tool's see
 * them. */
#ifndef WORKALIKE_CAPTURE_OWN_IO_H
#define WORKALIKE_CAPTURE_OWN_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

int own_open(const char* path, int flags, int mode);
void own_close(int fd);
ssize_t own_read(int fd, void* data, size_t bytes);
bool own_write_all(int fd, const void* data, size_t bytes);
/* Takes room on the disk; false if there is none. True where the file system cannot say. */
bool own_reserve(int fd, int64_t bytes);
/* Bytes of a file, -1 if there is none. */
int64_t own_size(const char* path);
bool own_rename(const char* from, const char* to);
void own_unlink(const char* path);

/* A whole small file such as those of /proc, NUL-terminated; the bytes read, 0 if there is nothing. */
size_t own_slurp(const char* path, char* text, size_t room);

/* One line on stderr: "workalike-capture: ...". */
void own_warn(const char* format, ...) __attribute__((format(printf, 1, 2)));

#endif
