#include "core/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/own_io.h"
#include "core/sandbox.h"
#include "core/settings.h"

static struct {
    struct mapping_header* header;
    size_t room;    /* bytes of the file that may be accessed */
    size_t longest; /* bytes mapped */
    bool in_file;
    bool warned;
    char path[1200];
    spin_lock lock;
} mapping;

struct mapping_header* mapping_header(void) {
    return mapping.header;
}

/* Reserves space for the file, because touching a mapped page that the file system cannot store kills the
   process. The file is opened anew each time, so that the application has no descriptor of ours. */
static bool give_room(size_t room) {
    if (!mapping.in_file) return true;
    if (sandboxed()) return false;
    const int fd = own_open(mapping.path, O_RDWR, 0);
    if (fd < 0) return false;
    const bool done = own_allocate(fd, (int64_t)room);
    own_close(fd);
    return done;
}

/* The part of the file's name by which `workalike profile` knows a mapping of its own command: a process that
   has changed its user cannot reach the folder for mappings, and makes it in another one. */
static const char* session_part(void) {
    static const char begin[] = "/.workalike-capture";
    const char* last = settings.own_folder ? strrchr(settings.log_folder, '/') : NULL;
    return last && strncmp(last, begin, sizeof begin - 1) == 0 ? last + sizeof begin - 1 : "";
}

static bool map_file(size_t longest) {
    snprintf(mapping.path, sizeof mapping.path, "%s/workalike-%d-%d-%lld%s.map", settings.map_folder,
             (int)geteuid(), (int)getpid(), (long long)clock_origin, session_part());
    const int fd = own_open(mapping.path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0) return false;
    const bool room = own_allocate(fd, (int64_t)mapping.room);
    void* pages = room ? memory_map(longest, MAP_SHARED, fd) : NULL;
    own_close(fd);
    if (!pages) {
        own_unlink(mapping.path);
        return false;
    }
    mapping.header = pages;
    mapping.in_file = true;
    return true;
}

static bool map_anonymous(size_t longest) {
    void* pages = memory_map(longest, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (!pages) return false;
    mapping.header = pages;
    mapping.in_file = false;
    return true;
}

static struct entry* spare_entry(void) {
    return (struct entry*)((char*)mapping.header + MAPPING_HEADER);
}

struct mapping_header* mapping_start(void) {
    mapping.room = 65536;
    mapping.longest = settings.max_memory;
    mapping.warned = false;
    if (!map_file(mapping.longest)) {
        if (!map_anonymous(mapping.longest)) return NULL;
        own_warn(
            "no room for a mapping in %s: if this process is killed, its counters are lost "
            "(set WORKALIKE_CAPTURE_MAPS to a folder on this node)",
            settings.map_folder);
    }
    struct mapping_header* header = mapping.header;
    header->version = MAPPING_VERSION;
    struct entry* spare = spare_entry();
    spare->kind = ENTRY_SPARE;
    spare->size = MAPPING_SPARE;
    atomic_store(&header->used, MAPPING_HEADER + MAPPING_SPARE);
    atomic_store(&header->state, MAPPING_RUNNING);
    return header;
}

void mapping_begin(void) {
    memcpy(mapping.header->magic, "WACAPMAP",
           8); /* last: without it, a reader takes the file as never begun */
}

static bool reserve(size_t end) {
    if (end <= mapping.room) return true;
    size_t room = mapping.room;
    while (room < end) room += room < (1 << 20) ? room : (1 << 20);
    if (room > mapping.longest) room = mapping.longest;
    if (end > room || !give_room(room)) return false;
    mapping.room = room;
    return true;
}

void mapping_widen(size_t bytes) {
    spin_acquire(&mapping.lock);
    const size_t used = atomic_load(&mapping.header->used);
    if (used + bytes <= mapping.longest) reserve(used + bytes);
    spin_release(&mapping.lock);
}

static void warn_full(void) {
    if (mapping.warned) return;
    mapping.warned = true;
    own_warn(
        "process %d: no memory left for further files: they are counted together, as <OTHER FILES>, and the "
        "log will "
        "be partial (raise --max-memory, now %zu bytes)",
        (int)getpid(), settings.max_memory);
}

void mapping_note_partial(enum module module) {
    struct mapping_header* header = mapping.header;
    if (!header) return;
    atomic_fetch_or(&header->partial, (uint64_t)1 << module);
    warn_full();
}

static void begin_entry(struct entry* entry, enum entry_kind kind, enum module module, size_t size) {
    entry->kind = kind;
    entry->size = (uint32_t)size;
    entry->module = (uint16_t)module;
}

static size_t entry_size(size_t bytes) {
    return (bytes + 15) / 16 * 16;
}

struct entry* mapping_add(enum entry_kind kind, enum module module, size_t bytes) {
    struct mapping_header* header = mapping.header;
    if (!header) return NULL;
    const size_t size = entry_size(bytes);
    struct entry* entry = NULL;
    spin_acquire(&mapping.lock);
    const uint64_t at = atomic_load(&header->used);
    if (reserve(at + size)) {
        entry = (struct entry*)((char*)header + at);
        begin_entry(entry, kind, module, size);
        atomic_store_explicit(&header->used, at + size, memory_order_release);
    }
    spin_release(&mapping.lock);
    if (!entry) mapping_note_partial(module);
    return entry;
}

struct entry* mapping_add_spare(enum entry_kind kind, enum module module, size_t bytes) {
    if (!mapping.header) return NULL;
    const size_t size = entry_size(bytes);
    struct entry *spare = spare_entry(), *entry = NULL;
    spin_acquire(&mapping.lock);
    if (spare->size >= sizeof *spare + size) {
        entry = (struct entry*)((char*)spare + spare->size - size);
        begin_entry(entry, kind, module, size);
        atomic_thread_fence(memory_order_release); /* a reader never finds a gap */
        spare->size -= (uint32_t)size;
    }
    spin_release(&mapping.lock);
    return entry;
}

void mapping_ready(struct entry* entry) {
    atomic_store_explicit(&entry->ready, 1, memory_order_release);
}

struct entry* mapping_next(const struct entry* entry) {
    char* start = (char*)mapping.header;
    if (!start) return NULL;
    const char* next = entry ? (const char*)entry + entry->size : start + MAPPING_HEADER;
    const size_t at = (size_t)(next - start);
    return at < atomic_load_explicit(&mapping.header->used, memory_order_acquire)
               ? (struct entry*)(start + at)
               : NULL;
}

void mapping_remove(void) {
    if (!mapping.header) return;
    memset(mapping.header->magic, 0,
           sizeof mapping.header->magic); /* if the file remains, a reader takes it as never begun */
    if (mapping.in_file && !sandboxed()) own_unlink(mapping.path);
    mapping.in_file = false;
}

const char* mapping_file(void) {
    return mapping.in_file ? mapping.path : NULL;
}

void mapping_note_loss(void) {
    char path[1200];
    if (mapping.in_file || !settings.own_folder || sandboxed()) return;
    snprintf(path, sizeof path, "%s/workalike-%d.lost", settings.log_folder, (int)getpid());
    const int fd = own_open(path, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0) own_close(fd);
}

void mapping_forget(void) {
    memset(&mapping, 0, sizeof mapping);
}
