/* The file systems of this process: for the log, and for the alignment that belongs to a path. */
#ifndef WORKALIKE_CAPTURE_MOUNTS_H
#define WORKALIKE_CAPTURE_MOUNTS_H

#include <stddef.h>
#include <stdint.h>

/* Block size of the file system that a path lies on. The file itself is never asked: each file system is,
 * once. */
int64_t mounts_block_size(const char* path);

/* Whether files of the file system that a path lies on can have a Lustre layout: not known until one was
   asked. NULL for a path on no file system that is listed. */
enum { MOUNT_NOT_ASKED, MOUNT_WITH_LAYOUTS, MOUNT_WITHOUT_LAYOUTS };
typedef _Atomic(int) mount_layouts;
mount_layouts* mounts_layouts(const char* path);

/* Lines "\n<type>\t<path>", longest paths first, as many as fit; the bytes used. There is at least one. */
size_t mounts_text(char* text, size_t room);

/* In a fork's child, where another thread may have been at work here. */
void mounts_forget(void);

#endif
