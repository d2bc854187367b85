#include "log/side_file.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/own_io.h"
#include "core/records.h"

static const struct record_shape shape = {
    .module = MODULE_EXTRA,
    .entry_size = sizeof(struct extra_record),
    .record_at = offsetof(struct extra_record, log),
    .record_size = sizeof(struct extra_stored),
};

static const char* const counter_names[EXTRA_COUNTERS] = {
    "attributes_created", "attributes_opened", "attributes_read",  "attributes_written",
    "attributes_closed",  "groups_created",    "datasets_created",
};

struct extra_record* extra_record_of(const struct hdf5_api* api, hid object) {
    char path[PATH_MAX], name[NAME_ROOM];
    bool made;
    if (api->Fget_name(object, path, sizeof path) <= 0) return NULL;
    if (!records_path(path, name)) return NULL;
    return (struct extra_record*)records_find(&shape, name, &made);
}

void extra_count(struct extra_record* record, enum extra_counter counter) {
    if (!record_begin(&record->head)) return;
    ++record->log.counter[counter];
    record_unlock(&record->head);
}

void extra_add(struct buffer* text, const char* words) {
    buffer_append(text, words, strlen(words));
}

void extra_add_quoted(struct buffer* text, const char* words) {
    char escaped[8];
    extra_add(text, "\"");
    for (const unsigned char* at = (const unsigned char*)words; *at; ++at) {
        if (*at == '"' || *at == '\\' || *at < 0x20) {
            snprintf(escaped, sizeof escaped, "\\u%04x", *at);
            extra_add(text, escaped);
        } else {
            buffer_append(text, at, 1);
        }
    }
    extra_add(text, "\"");
}

static void add_number(struct buffer* text, const char* name, long long number) {
    char words[64];
    snprintf(words, sizeof words, ", \"%s\": %lld", name, number);
    extra_add(text, words);
}

void extra_begin(struct buffer* text, const struct base_record* base) {
    const char* name = records_name(base->id);
    extra_add(text, text->used ? ",\n  {\"file\": " : "  {\"file\": ");
    extra_add_quoted(text, name ? name : "");
    add_number(text, "rank", (long long)base->rank);
}

void extra_text(struct buffer* text, const struct buffer* records) {
    const struct extra_stored* all = (const struct extra_stored*)records->data;
    for (size_t i = 0; i < records->used / sizeof *all; ++i) {
        extra_begin(text, &all[i].base);
        for (int counter = 0; counter < EXTRA_COUNTERS; ++counter) {
            add_number(text, counter_names[counter], (long long)all[i].counter[counter]);
        }
        extra_add(text, "}");
    }
}

static bool write_text(int fd, const char* text) {
    return own_write_all(fd, text, strlen(text));
}

void extra_write(const char* log_path, const struct extra_texts* texts) {
    static const char* const names[EXTRA_PARTS] = {"hdf5", "stdio_sizes", "clocks", "events"};
    char path[1400];
    bool any = false;
    for (int part = 0; part < EXTRA_PARTS; ++part) {
        if (texts->part[part].failed) return;
        any |= texts->part[part].used > 0;
    }
    if (!any) return;
    snprintf(path, sizeof path, "%s.extra.json", log_path);
    const int fd = own_open(path, O_WRONLY | O_CREAT | O_EXCL, 0400);
    bool done = fd >= 0 && write_text(fd, "{\"version\": 1");
    for (int part = 0; done && part < EXTRA_PARTS; ++part) {
        const struct buffer* text = &texts->part[part];
        if (!text->used) continue;
        done = write_text(fd, ", \"") && write_text(fd, names[part]) && write_text(fd, "\": [\n") &&
               own_write_all(fd, text->data, text->used) && write_text(fd, "\n]");
    }
    done = done && write_text(fd, "}\n");
    if (fd >= 0) own_close(fd);
    if (!done) own_warn("%s cannot be written", path);
}

void extra_release(struct extra_texts* texts) {
    for (int part = 0; part < EXTRA_PARTS; ++part) buffer_release(&texts->part[part]);
}
