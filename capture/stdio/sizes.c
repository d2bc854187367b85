#include "stdio/sizes.h"

#include <stddef.h>
#include <stdio.h>

#include "core/records.h"
#include "core/settings.h"
#include "log/side_file.h"

bool sizes_wanted;

static const struct record_shape shape = {
    .module = MODULE_SIZES,
    .entry_size = sizeof(struct sizes_record),
    .record_at = offsetof(struct sizes_record, log),
    .record_size = sizeof(struct sizes_stored),
};

void sizes_start(void) {
    sizes_wanted = settings_flag("WORKALIKE_CAPTURE_STDIO_SIZES");
}

struct sizes_record* sizes_record_of(const char* name) {
    bool made;
    return sizes_wanted ? (struct sizes_record*)records_find(&shape, name, &made) : NULL;
}

void sizes_count(struct sizes_record* record, enum sized which, int64_t size, int64_t calls) {
    common_values_add(&record->log.calls[which], size, calls);
    atomic_store_explicit(&record->head.counted, 1, memory_order_relaxed);
}

static void add_table(struct buffer* text, const char* name, const struct common_values* calls) {
    char words[96];
    snprintf(words, sizeof words, ", \"%s\": [", name);
    side_add(text, words);
    for (uint32_t i = 0; i < calls->used; ++i) {
        snprintf(words, sizeof words, "%s[%lld, %lld]", i ? ", " : "", (long long)calls->value[i],
                 (long long)calls->count[i]);
        side_add(text, words);
    }
    side_add(text, "]");
}

void sizes_text(struct buffer* text, const struct buffer* records) {
    const struct sizes_stored* all = (const struct sizes_stored*)records->data;
    for (size_t i = 0; i < records->used / sizeof *all; ++i) {
        side_begin(text, &all[i].base);
        add_table(text, "reads", &all[i].calls[SIZED_READS]);
        add_table(text, "writes", &all[i].calls[SIZED_WRITES]);
        side_add(text, "}");
    }
}
