/* What Darshan's format has no place for: calls about attributes and groups of HDF5, per file; on request
   opens, closes and syncs (events.h), and sizes of STDIO's calls (sizes.h). They go into a side file,
   LOG.extra.json, where no Darshan tool stumbles over them. */
#ifndef WORKALIKE_CAPTURE_EXTRA_H
#define WORKALIKE_CAPTURE_EXTRA_H

#include <stdbool.h>

#include "core/layouts.h"
#include "core/mapping.h"
#include "core/memory.h"
#include "hdf5/api.h"

struct extra_record {
    struct entry head;
    struct extra_stored log;
};

/* The record of the file that an object lies in; NULL if that is not counted. */
struct extra_record* extra_record_of(const struct hdf5_api* api, hid object);
void extra_count(struct extra_record* record, enum extra_counter counter);

/* Appends the records as JSON objects with commas between. */
void extra_text(struct buffer* text, const struct buffer* records);

/* For those who write other parts of the side file. */
void extra_add(struct buffer* text, const char* words);
void extra_add_quoted(struct buffer* text, const char* words);

/* Begins the object of a record: its file and rank, a comma before it where there is another one. */
void extra_begin(struct buffer* text, const struct base_record* base);

/* What the side file says, each part a list of JSON objects. */
enum extra_part { EXTRA_HDF5, EXTRA_SIZES, EXTRA_CLOCKS, EXTRA_EVENTS, EXTRA_PARTS };

struct extra_texts {
    struct buffer part[EXTRA_PARTS];
};

/* Writes the side file of a log; nothing where there is no text. */
void extra_write(const char* log_path, const struct extra_texts* texts);
void extra_release(struct extra_texts* texts);

#endif
