#include "core/paths.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/export.h"
#include "core/sandbox.h"
#include "core/utf8.h"
/* Collapses "//" and "/./" in place. */
static void clean(char* name) {
    char* to = name;
    for (const char* from = name; *from;) {
        if (from[0] == '/' && from[1] == '/') {
            ++from;
        } else if (from[0] == '/' && from[1] == '.' && from[2] == '/') {
            from += 2;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

/* Copies a path of less than PATH_MAX bytes; false if it is longer. `plain` says that nothing may need to be
   cleaned or escaped: there is no slash before a slash or a point, and all bytes are ASCII. */
static bool copy(char* to, const char* path, bool* plain) {
    unsigned char seen = 0;
    bool doubtful = false;
    for (size_t i = 0; i < PATH_MAX; ++i) {
        const char byte = path[i];
        to[i] = byte;
        if (!byte) {
            *plain = !doubtful && seen < 0x80;
            return true;
        }
        seen |= (unsigned char)byte;
        doubtful |= byte == '/' && (path[i + 1] == '/' || path[i + 1] == '.');
    }
    return false;
}

static bool folder_of(int folder, char* text, size_t room) {
    if (sandboxed()) return false;
    if (folder == AT_FDCWD) return REAL(syscall)(SYS_getcwd, text, room) > 0;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    const ssize_t length = REAL(syscall)(SYS_readlinkat, AT_FDCWD, link, text, room - 1);
    if (length <= 0) return false;
    text[length] = '\0';
    return *text == '/';
}

bool path_absolute_at(int folder, const char* path, char name[NAME_ROOM]) {
    size_t used = 0;
    bool plain;
    if (!path) return false;
    if (*path != '/') {
        if (!folder_of(folder, name, PATH_MAX)) return false;
        used = strlen(name);
        name[used++] = '/';
    }
    if (!copy(name + used, path, &plain)) return false;
    if (plain && !used) return true;
    clean(name);
    return utf8_escape(name, NAME_ROOM);
}

bool path_absolute(const char* path, char name[NAME_ROOM]) {
    return path_absolute_at(AT_FDCWD, path, name);
}

const char* path_without_prefix(const char* path) {
    const char* colon = strchr(path, ':');
    const char* slash = strchr(path, '/');
    return colon && colon - path > 1 && (!slash || colon < slash) ? colon + 1 : path;
}
