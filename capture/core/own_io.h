/* Our own system calls. They call the kernel directly, so that neither our wrappers nor another tool's see
   them. */
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
/* Gives a file its space on the disk; returns false if that failed, also beyond the limit on file sizes. */
bool own_allocate(int fd, int64_t bytes);
/* Reserves space on the disk; returns false if there is none. Returns true if the file system cannot say. */
bool own_reserve(int fd, int64_t bytes);
/* The size of a file in bytes, -1 if it does not exist. */
int64_t own_size(const char* path);
bool own_rename(const char* from, const char* to);
void own_unlink(const char* path);

/* Reads a whole small file, such as those of /proc, and ends it with NUL. Returns the bytes read, 0 if
   there are none. */
size_t own_slurp(const char* path, char* text, size_t room);

/* Prints one line on stderr: "workalike-capture: ...". */
void own_warn(const char* format, ...) __attribute__((format(printf, 1, 2)));

#endif
