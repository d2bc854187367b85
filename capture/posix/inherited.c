#include "posix/inherited.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/keep_errno.h"
#include "core/memory.h"
#include "core/own_io.h"
#include "core/paths.h"
#include "core/process.h"
#include "core/sandbox.h"
#include "core/settings.h"
#include "posix/record.h"

#define REMOVED " (deleted)"

/* The name of the regular file of a descriptor, if it is one that is counted. */
static bool name_of(int fd, char name[NAME_ROOM]) {
    struct statx status;
    char link[64], target[PATH_MAX];
    if (REAL(syscall)(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_NLINK, &status) != 0) return false;
    if (!S_ISREG(status.stx_mode)) return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = REAL(syscall)(SYS_readlinkat, AT_FDCWD, link, target, sizeof target - 1);
    if (length <= 0 || *target != '/') return false;
    target[length] = '\0';
    char* end = target + length - (sizeof REMOVED - 1);
    if (status.stx_nlink == 0 && end > target && !strcmp(end, REMOVED)) *end = '\0';
    if (!strncmp(target, "/memfd:", 7)) return false;
    return path_absolute(target, name) && settings_count_path(name);
}

/* `name` lives as long as the process. */
static void enter(int fd, struct posix_record* record, const char* name) {
    const long flags = REAL(syscall)(SYS_fcntl, fd, F_GETFL, 0);
    if (flags < 0 || flags & O_PATH) return;
    struct open_file* file = fd_opened(fd, record, name, flags & O_APPEND);
    if (!file) return;
    const int64_t at = REAL(syscall)(SYS_lseek, fd, (off_t)0, SEEK_CUR);
    file->offset = at > 0 ? at : 0;
    file->shared = true;
}

/* Names are kept in pages of our own: a process that never uses what it inherited shall not need a mapping.
 */
static const char* kept(const char* name) {
    static char* pages;
    static size_t room;
    const size_t length = strlen(name) + 1;
    if (room < length) {
        room = 2 * NAME_ROOM;
        pages = memory_pages(room);
        if (!pages) room = 0;
    }
    if (room < length) return NULL;
    char* copy = memcpy(pages, name, length);
    pages += length;
    room -= length;
    return copy;
}

/* An entry of a folder as the kernel writes it. */
struct kernel_entry {
    uint64_t inode, next;
    unsigned short length;
    unsigned char type;
    char name[];
};

void inherited_find(void) {
    char name[NAME_ROOM];
    union {
        char bytes[4096];
        uint64_t aligned;
    } entries;
    const int folder = own_open("/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
    long got;
    while (folder >= 0 && (got = REAL(syscall)(SYS_getdents64, folder, &entries, sizeof entries)) > 0) {
        const struct kernel_entry* entry;
        for (long at = 0; at < got; at += entry->length) {
            entry = (const struct kernel_entry*)(entries.bytes + at);
            const int fd = *entry->name == '.' ? folder : atoi(entry->name);
            if (fd == folder || fd_file(fd) || !name_of(fd, name)) continue;
            const char* copy = kept(name);
            if (copy) enter(fd, NULL, copy);
        }
    }
    if (folder >= 0) own_close(folder);
}

static void receive(int fd) {
    char name[NAME_ROOM];
    fd_closed(fd); /* its number was closed without our knowledge and is used again */
    struct posix_record* record = name_of(fd, name) ? posix_record_of(name) : NULL;
    if (record) enter(fd, record, posix_record_name(record));
}

static void receive_all(struct msghdr* message) {
    for (struct cmsghdr* part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; ++i) {
            int fd;
            memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
            receive(fd);
        }
    }
}

EXPORT ssize_t recvmsg(int socket, struct msghdr* message, int flags) {
    const ssize_t got = REAL(recvmsg)(socket, message, flags);
    if (got < 0 || !message->msg_controllen || sandboxed()) return got;
    if (!process_counts() || !process_is_ours() || !guard_enter()) return got;
    KEEP_ERRNO();
    receive_all(message);
    guard_leave();
    return got;
}
