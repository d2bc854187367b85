/* The file systems of this process, for the log and for the alignment that belongs to a path. */
#ifndef WORKALIKE_CAPTURE_MOUNTS_H
#define WORKALIKE_CAPTURE_MOUNTS_H

#include <stddef.h>
#include <stdint.h>

/* The block size of the file system of a path. Each file system is asked once, and a file never. */
int64_t mounts_block_size(const char* path);

/* Whether files in the file system of a path can have a Lustre layout; unknown until one was asked. NULL
   for a path on a file system that is not listed. */
enum { MOUNT_NOT_ASKED, MOUNT_WITH_LAYOUTS, MOUNT_WITHOUT_LAYOUTS };
typedef _Atomic(int) mount_layouts;
mount_layouts* mounts_layouts(const char* path);

/* Writes lines "
   <type>\t<path>", longest paths first, as many as fit, and returns the bytes used. There is at least one
   line. */
size_t mounts_text(char* text, size_t room);

/* In the child of a fork, because another thread of the parent may have been in this code. */
void mounts_forget(void);

#endif
