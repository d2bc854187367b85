/* The side file, LOG.extra.json: what Darshan's format has no place for, where no Darshan tool stumbles over
   it. Each part is a list of JSON objects, of the module at the same place of the table or of the job. */
#ifndef WORKALIKE_CAPTURE_SIDE_FILE_H
#define WORKALIKE_CAPTURE_SIDE_FILE_H

#include "core/layouts.h"
#include "core/memory.h"
#include "core/module.h"
#include "core/side_counters.h"

/* How the clocks of the ranks differ is no module's. */
enum { SIDE_CLOCKS = MODULES_AT_MOST, SIDE_PARTS };

struct side_texts {
    struct buffer part[SIDE_PARTS];
};

/* Appends the counters of each file. */
void side_text(struct buffer* text, const struct side_counters* counters, const struct buffer* records);

/* For those who write other objects. */
void side_add(struct buffer* text, const char* words);
void side_add_quoted(struct buffer* text, const char* words);

/* Begins the object of a record: its file and rank, a comma before it where there is another one. */
void side_begin(struct buffer* text, const struct base_record* base);

/* Writes the side file of a log; nothing where there is no text. */
void side_write(const char* log_path, const struct side_texts* texts);
void side_release(struct side_texts* texts);

#endif
