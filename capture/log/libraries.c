#include "log/libraries.h"

#include <stdio.h>
#include <string.h>

#ifdef CAPTURE_STATIC
/* In a linked program nothing is looked up at run time. */
extern const char H5libhdf5_settings[] __attribute__((weak));
extern const char* ncmpi_inq_libvers(void) __attribute__((weak));
extern const char* nc_inq_libvers(void) __attribute__((weak));
extern int MPI_Get_library_version(char* text, int* length) __attribute__((weak));
#define FUNCTION(stem, name) ((void*)(name))
#define VARIABLE(stem, name) ((const void*)(name))
#else
#include "core/loaded.h"
#define FUNCTION(stem, name) loaded_symbol(stem, #name)
#define VARIABLE(stem, name) loaded_variable(stem, #name)
#endif
#include "log/side_file.h"

enum { LONGEST_VERSION = 63, LONGEST_MPI_VERSION = 8192 /* MPI_MAX_LIBRARY_VERSION_STRING and more */ };

static char noted_hdf5[LONGEST_VERSION + 1]; /* of the first library that was called */

void libraries_note_hdf5(const unsigned version[3]) {
    if (*noted_hdf5) return;
    snprintf(noted_hdf5, sizeof noted_hdf5, "%u.%u.%u", version[0], version[1], version[2]);
}

/* The library that was called, or else the text of its build that one has as a variable: H5get_libversion
   would start a library that has ended. */
static void hdf5_version(char* version) {
    static const char label[] = "HDF5 Version:";
    if (*noted_hdf5) {
        memcpy(version, noted_hdf5, sizeof noted_hdf5);
        return;
    }
    const char* settings = VARIABLE("libhdf5", H5libhdf5_settings);
    const char* found = settings ? strstr(settings, label) : NULL;
    if (!found) return;
    found += sizeof label - 1;
    found += strspn(found, " \t");
    snprintf(version, LONGEST_VERSION + 1, "%.*s", (int)strcspn(found, " \t\r\n"), found);
}

/* Its number, without the day of its release. */
static void version_by(void* function, char* version) {
    const char* (*inquire)(void) = (const char* (*)(void))function;
    const char* found = inquire ? inquire() : NULL;
    if (found) snprintf(version, LONGEST_VERSION + 1, "%.*s", (int)strcspn(found, " \t\r\n"), found);
}

static void pnetcdf_version(char* version) {
    version_by(FUNCTION("libpnetcdf", ncmpi_inq_libvers), version);
}

static void netcdf_version(char* version) {
    version_by(FUNCTION("libnetcdf", nc_inq_libvers), version);
}

/* Its first line, without the name of the host that it was built on; MPICH has a tab in it. */
static void mpi_version(char* version) {
    static char text[LONGEST_MPI_VERSION];
    int length = 0;
    int (*inquire)(char*, int*) = (int (*)(char*, int*))FUNCTION("libmpi", MPI_Get_library_version);
    if (!inquire || inquire(text, &length) != 0) return;
    snprintf(version, LONGEST_VERSION + 1, "%.*s", (int)strcspn(text, ",\r\n"), text);
    for (char* blank = version; *blank; ++blank) {
        if (*blank == '\t') *blank = ' ';
    }
}

static const struct {
    const char* name;
    void (*inquire)(char* version);
} libraries[] = {
    {"hdf5", hdf5_version},
    {"pnetcdf", pnetcdf_version},
    {"netcdf", netcdf_version},
    {"mpi", mpi_version},
};

void libraries_text(struct buffer* text) {
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; ++i) {
        char version[LONGEST_VERSION + 1] = "";
        libraries[i].inquire(version);
        if (!*version) continue;
        side_add(text, text->used ? ",\n  {\"name\": " : "  {\"name\": ");
        side_add_quoted(text, libraries[i].name);
        side_add(text, ", \"version\": ");
        side_add_quoted(text, version);
        side_add(text, "}");
    }
}
