/* zlib streams (RFC 1950, 1951) with the fixed code. The capture library must not bring other libraries
   into the application. Records are mostly zeros, which any matching compresses well. */
#ifndef WORKALIKE_CAPTURE_DEFLATE_H
#define WORKALIKE_CAPTURE_DEFLATE_H

#include "core/memory.h"

/* Appends one whole stream. The caller must check out->failed. */
void deflate_stream(struct buffer* out, const unsigned char* data, size_t bytes);

#endif
