/* Making one record of the records that all ranks have of a file. Pure: no MPI here. */
#ifndef WORKALIKE_CAPTURE_REDUCE_H
#define WORKALIKE_CAPTURE_REDUCE_H

#include <stddef.h>

#include "core/layouts.h"

/* Number of values, their mean, and the sum of the squared deviations from it. */
struct spread {
    double count, mean, squares;
};

/* What travels with a record: how its ranks differ. The record follows it. */
struct reduced {
    struct spread time, bytes;
};

/* Bytes of one element of a reduction: a `struct reduced` and the record. */
size_t reduced_size(enum module module);

/* Begins a reduction with one rank's record. */
void reduced_begin(enum module module, struct reduced* element, const void* record, int64_t rank);
/* Adds `other` to `element`. */
void reduced_add(enum module module, struct reduced* element, const struct reduced* other);
/* The finished record, of rank -1. */
void reduced_end(enum module module, const struct reduced* element, void* record);

/* Whether records of the module are reduced at all. */
int reduces(enum module module);

#endif
