/* How an access lies to the one before it of its kind, with Darshan's meaning of "sequential" and
 * "consecutive". */
#ifndef WORKALIKE_COUNTING_ACCESS_ORDER_H
#define WORKALIKE_COUNTING_ACCESS_ORDER_H

#include <stdint.h>

enum access_order {
    ACCESS_BACK,       /* it begins at or before the last byte */
    ACCESS_FORWARD,    /* it leaves bytes out: sequential */
    ACCESS_CONSECUTIVE /* it begins right after the last byte: sequential and consecutive */
};

/* `last` is the last byte of the access before; 0 where there was none, so that a first access at 0 is
 * neither. */
static inline enum access_order access_order(int64_t last, int64_t offset) {
    if (offset <= last) return ACCESS_BACK;
    return offset == last + 1 ? ACCESS_CONSECUTIVE : ACCESS_FORWARD;
}

/* The last byte after an access. One that moves nothing (a read at the end of the file) touches no byte. */
static inline int64_t last_byte_after(int64_t last, int64_t offset, int64_t size) {
    return size == 0 ? last : offset + size - 1;
}

#endif
