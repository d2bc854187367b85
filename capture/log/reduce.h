/* Combines the records that all ranks have of a file into one. It does not use MPI. */
#ifndef WORKALIKE_CAPTURE_REDUCE_H
#define WORKALIKE_CAPTURE_REDUCE_H

#include <stddef.h>

#include "core/layouts.h"

/* The number of values, their mean, and the sum of the squared deviations from it. */
struct spread {
    double count, mean, squares;
};

/* What is sent with a record: how the ranks differ. The record follows it in memory. */
struct reduced {
    struct spread time, bytes;
};

/* The bytes of an element of a reduction: a `struct reduced` and the record. */
size_t reduced_size(enum module module);

/* Begins a reduction with the record of one rank. */
void reduced_begin(enum module module, struct reduced* element, const void* record, int64_t rank);
/* Adds `other` to `element`. */
void reduced_add(enum module module, struct reduced* element, const struct reduced* other);
/* The finished record, with rank -1. */
void reduced_end(enum module module, const struct reduced* element, void* record);

/* Whether records of the module are reduced at all. */
int reduces(enum module module);

#endif
