/* zlib streams (RFC 1950, 1951), written with the fixed code. The library brings no other library into the
   application, and records are mostly zeros, which any matching compresses well. */
#ifndef WORKALIKE_CAPTURE_DEFLATE_H
#define WORKALIKE_CAPTURE_DEFLATE_H

#include "core/memory.h"

/* Appends one whole stream. Check out->failed afterwards. */
void deflate_stream(struct buffer* out, const unsigned char* data, size_t bytes);

#endif
