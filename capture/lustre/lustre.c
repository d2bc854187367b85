/* The LUSTRE records: how files are striped over servers, read once for each file before it is closed. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/xattr.h>

#include "core/memory.h"
#include "core/module.h"
#include "core/mounts.h"
#include "core/records.h"
#include "core/sandbox.h"
#include "lustre/layout.h"
#include "lustre/share.h"

struct lustre_entry {
    struct entry head;
    int64_t record[];
};

static void store(const char* name, const int64_t* record, size_t bytes) {
    const struct record_shape shape = {
        .module = MODULE_LUSTRE,
        .entry_size = sizeof(struct lustre_entry) + bytes,
        .record_at = offsetof(struct lustre_entry, record),
        .record_size = (uint16_t)bytes,
        .file_only = true,
    };
    bool made;
    struct lustre_entry* entry = (struct lustre_entry*)records_find(&shape, name, &made);
    if (!made) return;
    const size_t head = sizeof(struct base_record);
    memcpy((char*)entry->record + head, (const char*)record + head, bytes - head);
    atomic_store(&entry->head.counted, 1);
}

static void ask(int fd, const char* name, mount_layouts* has_layouts) {
    const size_t room = LUSTRE_VALUE + LUSTRE_RECORD;
    unsigned char* value =
        memory_pages(room); /* the stack belongs to the application, so it gets no large array */
    if (!value) return;
    int64_t* record = (int64_t*)(void*)(value + LUSTRE_VALUE);
    const ssize_t length = fgetxattr(fd, "lustre.lov", value, LUSTRE_VALUE);
    int asked = MOUNT_NOT_ASKED;
    atomic_compare_exchange_strong(has_layouts, &asked,
                                   length > 0 ? MOUNT_WITH_LAYOUTS : MOUNT_WITHOUT_LAYOUTS);
    const size_t bytes = length > 0 ? lustre_record(value, (size_t)length, record) : 0;
    if (bytes) store(name, record, bytes);
    memory_release(value, room);
}

/* Makes no system call if the file system has no such layouts, except for the first file on it. */
static bool note(int fd, const char* name) {
    const int error = errno;
    if (sandboxed()) return false;
    mount_layouts* has_layouts = mounts_layouts(name);
    if (!has_layouts || atomic_load(has_layouts) == MOUNT_WITHOUT_LAYOUTS) return true;
    if (records_known(MODULE_LUSTRE, name)) return true;
    ask(fd, name, has_layouts);
    errno = error;
    return false;
}

static const struct record_kind lustre_kind = {.module = MODULE_LUSTRE, .word = "LUSTRE", .version = 2};

const struct capture_module lustre_module = {
    .name = "lustre",
    .kinds = (const struct record_kind* const[]){&lustre_kind, NULL},
    .closing = note,
    .reduce = lustre_share,
};
