/* Which versions of I/O libraries a process has loaded. A log in Darshan's format does not say, but what a
   library does below a call depends on it. */
#ifndef WORKALIKE_CAPTURE_LIBRARIES_H
#define WORKALIKE_CAPTURE_LIBRARIES_H

#include "core/memory.h"

/* The version of the HDF5 library that was called, for libraries that carry no text of their build. */
void libraries_note_hdf5(const unsigned version[3]);

/* Appends an object with name and version of each library, separated by commas. */
void libraries_text(struct buffer* text);

#endif
