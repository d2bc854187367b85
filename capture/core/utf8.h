/* Names in a log are UTF-8, and readers refuse a log with other bytes, but file systems allow any bytes. A
   byte that is not part of a UTF-8 character is written as %XX before the name is used. The record id is
   thus the hash of the name in the log, as for every name. */
#ifndef WORKALIKE_CAPTURE_UTF8_H
#define WORKALIKE_CAPTURE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Escapes in place; without room it returns false and changes nothing. */
bool utf8_escape(char* text, size_t room);

/* The same, but without room each such byte becomes a question mark. */
void utf8_clean(char* text, size_t room);

#endif
