/* Names of files as a log holds them: absolute, "//" and "/./" collapsed; ".." and links stay. */
#ifndef WORKALIKE_CAPTURE_PATHS_H
#define WORKALIKE_CAPTURE_PATHS_H

#include <limits.h>
#include <stdbool.h>

enum { NAME_ROOM = 2 * PATH_MAX };

/* False if the name does not fit or cannot be known. */
bool path_absolute(const char* path, char name[NAME_ROOM]);

/* The same for a path relative to an open folder (AT_FDCWD: the current one). */
bool path_absolute_at(int folder, const char* path, char name[NAME_ROOM]);

/* MPI-IO and HDF5 names may begin with a file system's word ("ufs:"), which is no part of the path. */
const char* path_without_prefix(const char* path);

#endif
