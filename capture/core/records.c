#include "core/records.h"

#include <string.h>

#include "core/hash.h"
#include "core/process.h"
#include "core/settings.h"

/* An open hash table in private memory, from (module, id) to entries; module 0 has the names. */
struct slot {
    uint64_t id;
    uint32_t module;
    struct entry* entry;
};

static struct {
    struct slot* slots;
    size_t room, used;
    spin_lock lock;
} table;

struct name_entry {
    struct entry head;
    uint64_t id;
    char text[];
};

/* What OTHER_FILES stands for; not in the table, whose memory may be what is missing. */
static struct {
    uint64_t id;
    struct entry* name;
    struct entry* record[MODULES];
} others;

typedef struct entry* mapping_adder(enum entry_kind kind, enum module module, size_t bytes);

static struct slot* place_of(struct slot* slots, size_t room, uint32_t module, uint64_t id) {
    size_t at = (id ^ module * 0x9e3779b97f4a7c13u) & (room - 1);
    while (slots[at].entry && (slots[at].id != id || slots[at].module != module)) at = (at + 1) & (room - 1);
    return &slots[at];
}

static bool make_room(void) {
    if (table.used * 2 < table.room) return true;
    const size_t room = table.room ? table.room * 4 : 128;
    struct slot* slots = memory_pages(room * sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < table.room; ++i) {
        if (table.slots[i].entry) {
            *place_of(slots, room, table.slots[i].module, table.slots[i].id) = table.slots[i];
        }
    }
    memory_release(table.slots, table.room * sizeof *slots);
    table.slots = slots;
    table.room = room;
    return true;
}

static void enter(uint32_t module, uint64_t id, struct entry* entry) {
    *place_of(table.slots, table.room, module, id) = (struct slot){id, module, entry};
    ++table.used;
}

static struct entry* known(uint32_t module, uint64_t id) {
    return table.room ? place_of(table.slots, table.room, module, id)->entry : NULL;
}

static struct entry* known_name(uint64_t id) {
    return others.name && id == others.id ? others.name : known(0, id);
}

static struct entry* new_name(mapping_adder* add, enum module module, uint64_t id, const char* name) {
    const size_t length = strlen(name) + 1;
    struct name_entry* entry =
        (struct name_entry*)add(ENTRY_NAME, module, sizeof(struct name_entry) + length);
    if (!entry) return NULL;
    entry->id = id;
    memcpy(entry->text, name, length);
    mapping_ready(&entry->head);
    return &entry->head;
}

static bool enter_name(enum module module, uint64_t id, const char* name) {
    if (known(0, id)) return true;
    struct entry* entry = make_room() ? new_name(mapping_add, module, id, name) : NULL;
    if (entry) enter(0, id, entry);
    return entry != NULL;
}

static struct entry* new_record(mapping_adder* add, const struct record_shape* shape, uint64_t id) {
    struct entry* entry = add(ENTRY_RECORD, shape->module, shape->entry_size);
    if (!entry) return NULL;
    entry->record_at = shape->record_at;
    entry->record_size = shape->record_size;
    entry->access_at = shape->access_at;
    entry->access_width = shape->access_width;
    entry->stride_at = shape->stride_at;
    ((struct base_record*)((char*)entry + shape->record_at))->id = id;
    mapping_ready(entry);
    return entry;
}

static struct entry* make(const struct record_shape* shape, uint64_t id, const char* name) {
    if (!enter_name(shape->module, id, name) || !make_room()) return NULL;
    struct entry* entry = new_record(mapping_add, shape, id);
    if (entry) enter(shape->module, id, entry);
    return entry;
}

bool records_is_others_name(const char* name) {
    return name[0] == '<' && strcmp(name, OTHER_FILES) == 0;
}

bool records_is_others(const struct entry* head) {
    return head == others.record[head->module];
}

/* The record of all files of a module for which there is no room. */
static struct entry* find_others(const struct record_shape* shape, bool* made) {
    mapping_note_partial(shape->module);
    if (shape->file_only) return NULL;
    if (!others.id) others.id = record_id(OTHER_FILES);
    if (!others.name) others.name = new_name(mapping_add_spare, shape->module, others.id, OTHER_FILES);
    struct entry** record = &others.record[shape->module];
    if (others.name && !*record) {
        *record = new_record(mapping_add_spare, shape, others.id);
        *made = *record != NULL;
    }
    return *record;
}

static struct entry* find(const struct record_shape* shape, uint64_t id, const char* name, bool* made) {
    *made = false;
    if (!process_begin()) return NULL;
    spin_acquire(&table.lock);
    struct entry* entry = known(shape->module, id);
    if (!entry && !records_is_others_name(name)) {
        entry = make(shape, id, name);
        *made = entry != NULL;
    }
    if (!entry) entry = find_others(shape, made);
    spin_release(&table.lock);
    return entry;
}

struct entry* records_find(const struct record_shape* shape, const char* name, bool* made) {
    return find(shape, record_id(name), name, made);
}

/* A record that exists is of a name that is counted, which need not be asked again. */
struct entry* records_find_counted(const struct record_shape* shape, const char* name, bool* made) {
    const uint64_t id = record_id(name);
    spin_acquire(&table.lock);
    struct entry* entry = known(shape->module, id);
    spin_release(&table.lock);
    *made = false;
    if (entry) return entry;
    const bool counted = records_is_others_name(name) || settings_count_path(name);
    return counted ? find(shape, id, name, made) : NULL;
}

bool records_path(const char* path, char name[NAME_ROOM]) {
    return path_absolute(path_without_prefix(path), name) && settings_count_path(name);
}

bool records_known(enum module module, const char* name) {
    const uint64_t id = record_id(name);
    spin_acquire(&table.lock);
    const bool exists = known(module, id) != NULL;
    spin_release(&table.lock);
    return exists;
}

const char* records_name(uint64_t id) {
    spin_acquire(&table.lock);
    const struct name_entry* entry = (const struct name_entry*)known_name(id);
    spin_release(&table.lock);
    return entry ? entry->text : NULL;
}

void records_enter_name(const char* name) {
    if (!process_begin()) return;
    spin_acquire(&table.lock);
    enter_name(MODULE_POSIX, record_id(name), name);
    spin_release(&table.lock);
}

void records_mark_name(uint64_t id) {
    struct entry* entry = known_name(id);
    if (entry) atomic_store(&entry->counted, 1);
}

void records_collect_names(struct buffer* names) {
    for (struct entry* entry = mapping_next(NULL); entry; entry = mapping_next(entry)) {
        if (entry->kind != ENTRY_NAME || !atomic_load(&entry->ready) || !atomic_load(&entry->counted))
            continue;
        const struct name_entry* name = (const struct name_entry*)entry;
        buffer_append(names, &name->id, sizeof name->id);
        buffer_append(names, name->text, strlen(name->text) + 1);
    }
}

_Atomic(unsigned) records_generation;

void records_forget(void) {
    atomic_fetch_add(&records_generation, 1);
    memory_release(table.slots, table.room * sizeof *table.slots);
    memset(&table, 0, sizeof table);
    memset(&others, 0, sizeof others);
}
