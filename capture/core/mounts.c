#include "core/mounts.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "core/memory.h"
#include "core/own_io.h"
#include "core/sandbox.h"
#include "core/spin.h"
#include "core/utf8.h"

enum { MOUNTS = 64, MOUNT_PATH = 256, TABLE_TEXT = 1 << 20, USUAL_BLOCK = 4096, LUSTRE_BLOCK = 1 << 20 };

struct mount {
    char path[MOUNT_PATH], type[32];
    size_t length;
    int64_t block; /* 0: not asked yet */
    mount_layouts layouts;
};

static struct mount mounts[MOUNTS];
static int mount_count = -1;
static spin_lock mounts_lock;

static bool worth_listing(const char* type) {
    static const char* const kernel_types[] = {
        "proc",    "sysfs",    "tmpfs",       "devpts", "devtmpfs", "cgroup",  "cgroup2",
        "mqueue",  "debugfs",  "securityfs",  "pstore", "bpf",      "tracefs", "hugetlbfs",
        "fusectl", "configfs", "binfmt_misc", "autofs", "nsfs",     NULL};
    for (const char* const* kind = kernel_types; *kind; ++kind) {
        if (strcmp(*kind, type) == 0) return false;
    }
    return true;
}

static void insert(const char* path, const char* type) {
    const size_t length = strlen(path);
    if (length >= MOUNT_PATH || mount_count == MOUNTS) return;
    int at = mount_count++;
    for (; at > 0 && mounts[at - 1].length < length; --at) mounts[at] = mounts[at - 1];
    memset(&mounts[at], 0, sizeof mounts[at]);
    strcpy(mounts[at].path, path);
    snprintf(mounts[at].type, sizeof mounts[at].type, "%s", type);
    mounts[at].length = length;
    if (strcmp(type, "lustre") == 0) atomic_store(&mounts[at].layouts, MOUNT_WITH_LAYOUTS);
}

static void read_table(void) {
    if (sandboxed()) return; /* the loops then find no mounts */
    mount_count = 0;
    char* text = memory_pages(TABLE_TEXT);
    if (!text) return;
    own_slurp("/proc/self/mounts", text, TABLE_TEXT);
    char* rest = NULL;
    for (char* line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char path[MOUNT_PATH], type[32];
        if (sscanf(line, "%*s %255s %31s", path, type) == 2 && worth_listing(type)) insert(path, type);
    }
    memory_release(text, TABLE_TEXT);
}

static bool below(const struct mount* mount, const char* path) {
    if (mount->length == 1) return true;
    return strncmp(mount->path, path, mount->length) == 0 &&
           (path[mount->length] == '/' || !path[mount->length]);
}

static int64_t ask(struct mount* mount) {
    struct statfs status;
    if (strcmp(mount->type, "lustre") == 0) return LUSTRE_BLOCK;
    if (sandboxed()) return USUAL_BLOCK;
    return statfs(mount->path, &status) == 0 && status.f_bsize > 0 ? status.f_bsize : USUAL_BLOCK;
}

int64_t mounts_block_size(const char* path) {
    int64_t block = USUAL_BLOCK;
    spin_acquire(&mounts_lock);
    if (mount_count < 0) read_table();
    for (int i = 0; i < mount_count; ++i) {
        if (!below(&mounts[i], path)) continue;
        if (!mounts[i].block) mounts[i].block = ask(&mounts[i]);
        block = mounts[i].block;
        break;
    }
    spin_release(&mounts_lock);
    return block;
}

mount_layouts* mounts_layouts(const char* path) {
    mount_layouts* layouts = NULL;
    spin_acquire(&mounts_lock);
    if (mount_count < 0) read_table();
    for (int i = 0; i < mount_count && !layouts; ++i) {
        if (below(&mounts[i], path)) layouts = &mounts[i].layouts;
    }
    spin_release(&mounts_lock);
    return layouts;
}

size_t mounts_text(char* text, size_t room) {
    size_t used = 0;
    spin_acquire(&mounts_lock);
    if (mount_count < 0) read_table();
    for (int i = 0; i < mount_count; ++i) {
        const size_t length = strlen(mounts[i].type) + mounts[i].length + 2;
        if (used + length + 1 > room) break;
        used += (size_t)snprintf(text + used, room - used, "\n%s\t%s", mounts[i].type, mounts[i].path);
    }
    spin_release(&mounts_lock);
    if (!used) snprintf(text, room, "\nunknown\t/");
    utf8_clean(text, room);
    return strlen(text);
}

void mounts_forget(void) {
    mounts_lock = 0;
}
