/* Writes and reads text by streams; the argument names the one thing that is done otherwise. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char* change = "";

static int is(const char* name) {
    return strcmp(change, name) == 0;
}

static FILE* opened(const char* name) {
    if (!is("fdopen")) return fopen(name, "w+");
    return fdopen(open(name, O_RDWR | O_CREAT | O_TRUNC, 0644), "w+");
}

static void report(const char* name, int lines) {
    FILE* file = opened(name);
    for (int i = 0; i < lines; i++) {
        fprintf(file, is("longer-lines") ? "step %6d of the whole long calculation\n" : "step %6d\n", i);
        if (is("flush-each")) fflush(file);
    }
    if (is("read-back")) {
        char line[200];
        rewind(file);
        while (fgets(line, sizeof line, file)) continue;
    }
    if (is("seeks"))
        for (int i = 0; i < 10; i++) fseek(file, 0, SEEK_SET);
    if (is("descriptor")) fsync(fileno(file));
    fclose(file);
    if (is("append")) {
        file = fopen(name, "a");
        fputs("end\n", file);
        fclose(file);
    }
}

int main(int argc, char** argv) {
    if (argc > 1) change = argv[1];
    report("steps.txt", is("more-lines") ? 150 : 100);
    report("energies.txt", 50);
    report(is("other-name") ? "summary.txt" : "totals.txt", 20);
    return 0;
}
