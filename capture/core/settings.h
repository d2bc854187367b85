/* The settings in the environment, read once:

   WORKALIKE_CAPTURE_DIR         folder for logs; without it nothing is captured
   WORKALIKE_CAPTURE_LOG_DIR     the same for a whole site, used if the first is not set. %Y, %m and %d are
   the date of the start; folders from the first % on are made if missing WORKALIKE_CAPTURE_MAX_LOG largest
   log in bytes: traces, then heatmaps are left out of a larger one; if that is not enough, no log is written
   WORKALIKE_CAPTURE_MPI_ONLY    set to 1 for logs of MPI jobs only
   WORKALIKE_CAPTURE_MAPS        folder for the counters' mappings, on this node [/dev/shm, TMPDIR, /tmp]
   WORKALIKE_CAPTURE_OFF         set to 1 to capture nothing
   WORKALIKE_CAPTURE_MAX_MEMORY  bytes that a process may use for counters [64 MiB]
   WORKALIKE_CAPTURE_INCLUDE     extended regular expression of paths to count; overrides every exclusion
   WORKALIKE_CAPTURE_EXCLUDE     extended regular expression of paths not to count
   WORKALIKE_CAPTURE_DXT         set to 1 to record every read and write
   WORKALIKE_CAPTURE_TIMING      set to 1 to print how long an MPI job takes to write its log
   WORKALIKE_CAPTURE_PROGRAMS_EXCLUDE  patterns of programs not to capture, separated by ':'; a pattern with
                                 a slash is compared with the whole path

   Modules read settings of their own with settings_flag in their `start`. */
#ifndef WORKALIKE_CAPTURE_SETTINGS_H
#define WORKALIKE_CAPTURE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

struct settings {
    bool wanted;
    bool dxt;
    bool keep_records; /* shared files are not reduced to one record */
    bool mpi_only;
    bool timing;
    bool dated;      /* the path of the folder has parts of a date */
    bool own_folder; /* the folder for logs is not that of a site */
    size_t max_memory;
    size_t max_log; /* 0: no limit */
    char log_folder[1024];
    char map_folder[1024];
};

extern struct settings settings;

void settings_read(void);

/* Whether a variable of the environment is set to something else than 0. */
bool settings_flag(const char* name);

/* Whether a file of this absolute name is counted. */
bool settings_count_path(const char* path);

#endif
