#include "core/settings.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/own_io.h"

struct settings settings;

static regex_t include_pattern, exclude_pattern;
static bool have_include, have_exclude;

/* Folders of the system: files there are not data of the application. */
static const char* const system_folders[] = {"/etc/",  "/dev/",   "/usr/", "/bin/",  "/boot/",
                                             "/lib/",  "/lib64/", "/opt/", "/sbin/", "/sys/",
                                             "/proc/", "/var/",   "/run/", NULL};

/* Programs that start others and have no I/O of interest. */
static const char* const launchers[] = {"mpiexec",         "mpirun", "orterun", "orted",
                                        "prterun",         "prte",   "prted",   "mpiexec.hydra",
                                        "hydra_pmi_proxy", "srun",   "flux",    NULL};

static const char* text_of(const char* name) {
    const char* text = getenv(name);
    return text && *text ? text : NULL;
}

bool settings_flag(const char* name) {
    const char* text = text_of(name);
    return text && strcmp(text, "0") != 0;
}

static bool pattern_of(const char* name, regex_t* pattern) {
    const char* text = text_of(name);
    if (!text) return false;
    if (regcomp(pattern, text, REG_EXTENDED | REG_NOSUB) == 0) return true;
    own_warn("%s is not a regular expression and is ignored: %s", name, text);
    return false;
}

/* The path of the running program, read when it is first needed. */
static const char* program_path(void) {
    static char path[PATH_MAX];
    if (!*path && readlink("/proc/self/exe", path, sizeof path - 1) <= 0) path[0] = '?';
    return path;
}

static bool listed(const char* list) {
    char pattern[PATH_MAX];
    for (const char* at = list; at && *at;) {
        const char* end = strchrnul(at, ':');
        snprintf(pattern, sizeof pattern, "%.*s", (int)(end - at), at);
        const char* word = strchr(pattern, '/') ? program_path() : program_invocation_short_name;
        if (fnmatch(pattern, word, 0) == 0) return true;
        at = *end ? end + 1 : end;
    }
    return false;
}

static bool program_excluded(void) {
    const char* name = program_invocation_short_name;
    for (const char* const* launcher = launchers; *launcher; ++launcher) {
        if (strcmp(*launcher, name) == 0) return true;
    }
    return listed(text_of("WORKALIKE_CAPTURE_PROGRAMS_EXCLUDE"));
}

static void find_map_folder(void) {
    const char* places[] = {text_of("WORKALIKE_CAPTURE_MAPS"), "/dev/shm", text_of("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
        if (!places[i] || access(places[i], W_OK | X_OK) != 0) continue;
        snprintf(settings.map_folder, sizeof settings.map_folder, "%s", places[i]);
        return;
    }
}

/* A linked program may also have the preloaded library. Only that one counts then, because otherwise every
   call would count twice. */
static bool another_counts(void) {
#ifdef CAPTURE_STATIC
    const char* preloaded = text_of("LD_PRELOAD");
    const bool dynamic = getauxval(AT_BASE) != 0;
    return dynamic && preloaded && strstr(preloaded, "libworkalike-capture");
#else
    return false;
#endif
}

void settings_read(void) {
    const char* own = text_of("WORKALIKE_CAPTURE_DIR");
    const char* folder = own ? own : text_of("WORKALIKE_CAPTURE_LOG_DIR");
    const char* largest = text_of("WORKALIKE_CAPTURE_MAX_LOG");
    const char* most = text_of("WORKALIKE_CAPTURE_MAX_MEMORY");
    settings.wanted =
        folder && *folder == '/' && !settings_flag("WORKALIKE_CAPTURE_OFF") && !program_excluded();
    if (another_counts()) settings.wanted = false;
    if (!settings.wanted) return;
    snprintf(settings.log_folder, sizeof settings.log_folder, "%s", folder);
    settings.max_memory = most ? strtoull(most, NULL, 10) : (size_t)64 << 20;
    if (settings.max_memory < 131072) settings.max_memory = 131072;
    settings.max_log = largest ? strtoull(largest, NULL, 10) : 0;
    settings.own_folder = own != NULL;
    settings.dated = !own && strchr(folder, '%');
    settings.mpi_only = settings_flag("WORKALIKE_CAPTURE_MPI_ONLY");
    settings.dxt = settings_flag("WORKALIKE_CAPTURE_DXT");
    settings.keep_records = settings_flag("WORKALIKE_CAPTURE_KEEP_RECORDS");
    settings.timing = settings_flag("WORKALIKE_CAPTURE_TIMING");
    find_map_folder();
    have_include = pattern_of("WORKALIKE_CAPTURE_INCLUDE", &include_pattern);
    have_exclude = pattern_of("WORKALIKE_CAPTURE_EXCLUDE", &exclude_pattern);
}

/* The folders themselves are excluded with their content. */
static bool in_system_folder(const char* path) {
    if (path[1] == '\0') return true;
    for (const char* const* folder = system_folders; *folder; ++folder) {
        if ((*folder)[1] != path[1]) continue;
        const size_t length = strlen(*folder) - 1;
        if (strncmp(path, *folder, length) == 0 && (path[length] == '/' || !path[length])) return true;
    }
    return false;
}

static bool starts_with(const char* text, const char* begin) {
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* Whether this is the folder in which Open MPI keeps the shared memory of a job:
   "/tmp/ompi.<host>.<user>/...", or
   "/tmp/prterun.<host>.<process>.<user>/..." with version 5, whose daemons use "/tmp/prte.<host>...". */
static bool in_mpi_session(const char* path) {
    if (!strstr(path, "/ompi.") && !strstr(path, "/prte")) return false;
    const char* folder = text_of("TMPDIR");
    if (!folder) folder = "/tmp";
    if (!starts_with(path, folder)) return false;
    const char* rest = path + strlen(folder);
    return starts_with(rest, "/ompi.") || starts_with(rest, "/prte.") || starts_with(rest, "/prterun.");
}

bool settings_count_path(const char* path) {
    if (have_include && regexec(&include_pattern, path, 0, NULL, 0) == 0) return true;
    if (in_system_folder(path) || in_mpi_session(path)) return false;
    return !have_exclude || regexec(&exclude_pattern, path, 0, NULL, 0) != 0;
}
