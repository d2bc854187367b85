/* The side file, LOG.extra.json, holds what Darshan's format cannot. Darshan's tools ignore it. Each part
   is a list of JSON objects, of the module at the same place of the table or of the job. */
#ifndef WORKALIKE_CAPTURE_SIDE_FILE_H
#define WORKALIKE_CAPTURE_SIDE_FILE_H

#include "core/layouts.h"
#include "core/memory.h"
#include "core/module.h"
#include "core/side_counters.h"

/* The difference of the ranks' clocks belongs to no module, and neither do the versions of libraries. */
enum { SIDE_CLOCKS = MODULES_AT_MOST, SIDE_LIBRARIES, SIDE_PARTS };

struct side_texts {
    struct buffer part[SIDE_PARTS];
};

/* Appends the counters of each file. */
void side_text(struct buffer* text, const struct side_counters* counters, const struct buffer* records);

/* For modules that write other objects. */
void side_add(struct buffer* text, const char* words);
void side_add_quoted(struct buffer* text, const char* words);

/* Begins the object of a record with its file and rank, after a comma if another object precedes it. */
void side_begin(struct buffer* text, const struct base_record* base);

/* Writes the side file of a log; does nothing without text. */
void side_write(const char* log_path, const struct side_texts* texts);
void side_release(struct side_texts* texts);

#endif
