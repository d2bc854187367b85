/* Names in a log are UTF-8: readers refuse a log with others. File systems know only bytes. A byte that is no
   part of a character of UTF-8 is written as %XX, before anything else is made of the name: its record id is
   the hash of what stands in the log, as for every name. */
#ifndef WORKALIKE_CAPTURE_UTF8_H
#define WORKALIKE_CAPTURE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Escapes in place; false, and nothing is changed, if there is no room. */
bool utf8_escape(char* text, size_t room);

/* The same; without room for that, a question mark stands for each such byte. */
void utf8_clean(char* text, size_t room);

#endif
