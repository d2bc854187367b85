/* Lustre's striping of a file, from the attribute in which Lustre gives it to a record of the log. Pure. */
#ifndef WORKALIKE_CAPTURE_LUSTRE_LAYOUT_H
#define WORKALIKE_CAPTURE_LUSTRE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

enum { LUSTRE_STRIPES = 4096 /* more than that do not fit into a record of the mapping */ };
enum { LUSTRE_RECORD = 16 + 16 + 72 + 8 * LUSTRE_STRIPES, LUSTRE_VALUE = 48 + 24 * LUSTRE_STRIPES };

/* Bytes of the record, whose id and rank stay 0; 0 for a layout that is not one plain component with all its
   objects (formats v1 and v3). */
size_t lustre_record(const unsigned char* value, size_t length, int64_t record[LUSTRE_RECORD / 8]);

#endif
