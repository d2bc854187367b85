/* The record id of a name: Bob Jenkins' 64-bit hash of 1997 ("lookup8", public domain). */
#ifndef WORKALIKE_CAPTURE_HASH_H
#define WORKALIKE_CAPTURE_HASH_H

#include <stdint.h>

uint64_t record_id(const char* name);

#endif
