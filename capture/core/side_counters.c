#include "core/side_counters.h"

#include <string.h>

#include "core/module.h"
#include "core/records.h"

/* The names of the counters are stored in the mapping once, for readers of the mapping after the process
   has ended. */
struct words_entry {
    struct entry head;
    char text[]; /* the key of the part and the counters, each ended by NUL, and a final NUL */
};

static void describe(const struct side_counters* counters, enum module module) {
    static _Atomic(struct mapping_header*) described[MODULES_AT_MOST];
    struct mapping_header* header = mapping_header();
    if (atomic_exchange(&described[module - MODULE_SIDE], header) == header) return;
    size_t bytes = strlen(counters->part) + 2;
    for (int i = 0; i < counters->count; ++i) bytes += strlen(counters->names[i]) + 1;
    struct words_entry* entry =
        (struct words_entry*)mapping_add(ENTRY_WORDS, module, sizeof(struct words_entry) + bytes);
    if (!entry) return;
    char* end = stpcpy(entry->text, counters->part) + 1;
    for (int i = 0; i < counters->count; ++i) end = stpcpy(end, counters->names[i]) + 1;
    mapping_ready(&entry->head);
}

struct side_record* side_record_of(const struct side_counters* counters, const char* name) {
    const enum module module = module_of_counters(counters);
    const size_t size = sizeof(struct base_record) + (size_t)counters->count * sizeof(int64_t);
    const struct record_shape shape = {
        .module = module,
        .entry_size = offsetof(struct side_record, log) + size,
        .record_at = offsetof(struct side_record, log),
        .record_size = (uint16_t)size,
    };
    bool made;
    struct side_record* record = (struct side_record*)records_find(&shape, name, &made);
    if (record && made) describe(counters, module);
    return record;
}

void side_count(struct side_record* record, int counter) {
    if (!record_begin(&record->head)) return;
    ++record->log.counter[counter];
    record_unlock(&record->head);
}
