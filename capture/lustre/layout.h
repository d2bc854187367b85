/* Lustre's striping of a file, from the attribute in which Lustre gives it to a record of the log. Pure. */
#ifndef WORKALIKE_CAPTURE_LUSTRE_LAYOUT_H
#define WORKALIKE_CAPTURE_LUSTRE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* More than these do not fit into a record of the mapping. */
enum { LUSTRE_STRIPES = 4096, LUSTRE_COMPONENTS = 64 };
enum { LUSTRE_RECORD = 16 + 16 + 72 * LUSTRE_COMPONENTS + 8 * LUSTRE_STRIPES };
enum { LUSTRE_VALUE = 32 + (48 + 48) * LUSTRE_COMPONENTS + 24 * LUSTRE_STRIPES };

/* Bytes of the record, whose id and rank stay 0; 0 for a layout that is not whole. Plain ones (formats v1 and
   v3) are one component; of a composite one those components are recorded that have their objects. */
size_t lustre_record(const unsigned char* value, size_t length, int64_t record[LUSTRE_RECORD / 8]);

/* Words of such a record: they follow from its numbers of components and stripes. */
size_t lustre_words(const int64_t* record);

#endif
