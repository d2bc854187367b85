#include "log/libraries.h"

#include <stdio.h>
#include <string.h>

#include "core/loaded.h"
#include "log/side_file.h"

enum { LONGEST_VERSION = 63, LONGEST_MPI_VERSION = 8192 /* MPI_MAX_LIBRARY_VERSION_STRING and more */ };

/* The library's text of its build, a variable: H5get_libversion would start a library that has ended. */
static void hdf5_version(char* version) {
    static const char label[] = "HDF5 Version:";
    const char* settings = loaded_variable("libhdf5", "H5libhdf5_settings");
    const char* found = settings ? strstr(settings, label) : NULL;
    if (!found) return;
    found += sizeof label - 1;
    found += strspn(found, " \t");
    snprintf(version, LONGEST_VERSION + 1, "%.*s", (int)strcspn(found, " \t\r\n"), found);
}

static void version_by(const char* stem, const char* symbol, char* version) {
    const char* (*inquire)(void) = (const char* (*)(void))loaded_symbol(stem, symbol);
    const char* found = inquire ? inquire() : NULL;
    if (found) snprintf(version, LONGEST_VERSION + 1, "%.*s", (int)strcspn(found, "\r\n"), found);
}

static void pnetcdf_version(char* version) {
    version_by("libpnetcdf", "ncmpi_inq_libvers", version);
}

static void netcdf_version(char* version) {
    version_by("libnetcdf", "nc_inq_libvers", version);
}

/* Its first line, without the name of the host that it was built on. */
static void mpi_version(char* version) {
    static char text[LONGEST_MPI_VERSION];
    int length = 0;
    int (*inquire)(char*, int*) = (int (*)(char*, int*))loaded_symbol("libmpi", "MPI_Get_library_version");
    if (!inquire || inquire(text, &length) != 0) return;
    snprintf(version, LONGEST_VERSION + 1, "%.*s", (int)strcspn(text, ",\r\n"), text);
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
