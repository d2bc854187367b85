/* Lustre's striping of a file: converts the attribute that Lustre gives into a record of the log. It makes
   no calls. */
#ifndef WORKALIKE_CAPTURE_LUSTRE_LAYOUT_H
#define WORKALIKE_CAPTURE_LUSTRE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* Larger layouts do not fit into a record of the mapping. */
enum { LUSTRE_STRIPES = 4096, LUSTRE_COMPONENTS = 64 };
enum { LUSTRE_RECORD = 16 + 16 + 72 * LUSTRE_COMPONENTS + 8 * LUSTRE_STRIPES };
enum { LUSTRE_VALUE = 32 + (48 + 48) * LUSTRE_COMPONENTS + 24 * LUSTRE_STRIPES };

/* Returns the bytes of the record, or 0 for an incomplete layout. The id and rank of the record remain 0.
   Plain layouts (formats v1 and v3) are one component. Of composite ones, the components with objects are
   recorded. */
size_t lustre_record(const unsigned char* value, size_t length, int64_t record[LUSTRE_RECORD / 8]);

/* The number of words of such a record, from its numbers of components and stripes. */
size_t lustre_words(const int64_t* record);

#endif
