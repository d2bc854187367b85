/* Names of files in the form of a log: absolute, with "//" and "/./" collapsed; ".." and links are kept. */
#ifndef WORKALIKE_CAPTURE_PATHS_H
#define WORKALIKE_CAPTURE_PATHS_H

#include <limits.h>
#include <stdbool.h>

enum { NAME_ROOM = 2 * PATH_MAX };

/* Returns false if the name does not fit or cannot be found. */
bool path_absolute(const char* path, char name[NAME_ROOM]);

/* The same for a path relative to an open folder (AT_FDCWD: the current one). */
bool path_absolute_at(int folder, const char* path, char name[NAME_ROOM]);

/* The path without the prefix for a file system ("ufs:") that MPI-IO and HDF5 allow. */
const char* path_without_prefix(const char* path);

#endif
