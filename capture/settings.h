/* What the environment asks for, read once:

   WORKALIKE_CAPTURE_DIR         folder for logs; without it nothing is captured
   WORKALIKE_CAPTURE_MAPS        folder for the counters' mappings, on this node [/dev/shm, TMPDIR, /tmp]
   WORKALIKE_CAPTURE_OFF         set to 1 to capture nothing
   WORKALIKE_CAPTURE_MAX_MEMORY  bytes a process may use for counters [64 MiB]
   WORKALIKE_CAPTURE_INCLUDE     extended regular expression of paths to count, beats every exclusion
   WORKALIKE_CAPTURE_EXCLUDE     extended regular expression of paths not to count
   WORKALIKE_CAPTURE_DXT         set to 1 to record every read and write
   WORKALIKE_CAPTURE_PROGRAMS_EXCLUDE  names of programs not to capture, separated by ':' */
#ifndef WORKALIKE_CAPTURE_SETTINGS_H
#define WORKALIKE_CAPTURE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

struct settings {
    bool wanted;
    bool dxt;
    bool keep_records; /* do not reduce shared files to one record */
    size_t max_memory;
    char log_folder[1024];
    char map_folder[1024];
};

extern struct settings settings;

void settings_read(void);

/* Whether a file of this (absolute) name is counted. */
bool settings_count_path(const char* path);

#endif
