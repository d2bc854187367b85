#include "log/side_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/own_io.h"
#include "core/records.h"

void side_add(struct buffer* text, const char* words) {
    buffer_append(text, words, strlen(words));
}

void side_add_quoted(struct buffer* text, const char* words) {
    char escaped[8];
    side_add(text, "\"");
    for (const unsigned char* at = (const unsigned char*)words; *at; ++at) {
        if (*at == '"' || *at == '\\' || *at < 0x20) {
            snprintf(escaped, sizeof escaped, "\\u%04x", *at);
            side_add(text, escaped);
        } else {
            buffer_append(text, at, 1);
        }
    }
    side_add(text, "\"");
}

static void add_number(struct buffer* text, const char* name, long long number) {
    char words[64];
    snprintf(words, sizeof words, ", \"%s\": %lld", name, number);
    side_add(text, words);
}

void side_begin(struct buffer* text, const struct base_record* base) {
    const char* name = records_name(base->id);
    side_add(text, text->used ? ",\n  {\"file\": " : "  {\"file\": ");
    side_add_quoted(text, name ? name : "");
    add_number(text, "rank", (long long)base->rank);
}

void side_text(struct buffer* text, const struct side_counters* counters, const struct buffer* records) {
    const size_t size = sizeof(struct side_stored) + (size_t)counters->count * sizeof(int64_t);
    for (size_t at = 0; at + size <= records->used; at += size) {
        const struct side_stored* stored = (const struct side_stored*)(const void*)(records->data + at);
        side_begin(text, &stored->base);
        for (int i = 0; i < counters->count; ++i) {
            add_number(text, counters->names[i], (long long)stored->counter[i]);
        }
        side_add(text, "}");
    }
}

static const char* key_of(int part) {
    if (part == SIDE_CLOCKS) return "clocks";
    if (part == SIDE_LIBRARIES) return "libraries";
    const struct capture_module* module = capture_modules[part];
    return module->counters ? module->counters->part : module->part;
}

static bool write_text(int fd, const char* text) {
    return own_write_all(fd, text, strlen(text));
}

static bool write_part(int fd, const char* key, const struct buffer* text) {
    return write_text(fd, ", \"") && write_text(fd, key) && write_text(fd, "\": [\n") &&
           own_write_all(fd, text->data, text->used) && write_text(fd, "\n]");
}

void side_write(const char* log_path, const struct side_texts* texts) {
    char path[1400];
    bool any = false;
    for (int part = 0; part < SIDE_PARTS; ++part) {
        if (texts->part[part].failed) return;
        any |= texts->part[part].used > 0;
    }
    if (!any) return;
    snprintf(path, sizeof path, "%s.extra.json", log_path);
    const int fd = own_open(path, O_WRONLY | O_CREAT | O_EXCL, 0400);
    /* From version 2 on removals are counted: a file without any was not removed. */
    bool done = fd >= 0 && write_text(fd, "{\"version\": 2");
    for (int part = 0; done && part < SIDE_PARTS; ++part) {
        const struct buffer* text = &texts->part[part];
        if (text->used) done = write_part(fd, key_of(part), text);
    }
    done = done && write_text(fd, "}\n");
    if (fd >= 0) own_close(fd);
    if (!done) own_warn("%s cannot be written", path);
}

void side_release(struct side_texts* texts) {
    for (int part = 0; part < SIDE_PARTS; ++part) buffer_release(&texts->part[part]);
}
