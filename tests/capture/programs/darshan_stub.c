/* A substitute for a site's libdarshan.so. When its process ends, it copies the log STUB_LOG to where
   Darshan would write one, and prints the settings with which it was loaded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char* word(const char* name) {
    const char* text = getenv(name);
    return text ? text : "-";
}

static void copy(const char* from, const char* to) {
    char data[4096];
    size_t got;
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    if (!in || !out) abort();
    while ((got = fread(data, 1, sizeof data, in)) > 0) fwrite(data, 1, got, out);
    fclose(in);
    fclose(out);
}

__attribute__((destructor)) static void end(void) {
    char path[4096];
    const time_t now = time(NULL);
    const struct tm* day = localtime(&now);
    if (strcmp(word("DARSHAN_ENABLE_NONMPI"), "1") != 0 || !getenv("STUB_LOG")) return;
    fprintf(stderr, "stub: loaded modules %s memory %s reduction %s\n", word("DARSHAN_MOD_ENABLE"),
            word("DARSHAN_MODMEM"), word("DARSHAN_DISABLE_SHARED_REDUCTION"));
    snprintf(path, sizeof path, "%s/%d/%d/%d/stub_%d.darshan", word("DARSHAN_LOGPATH"), day->tm_year + 1900,
             day->tm_mon + 1, day->tm_mday, (int)getpid());
    copy(getenv("STUB_LOG"), path);
}
