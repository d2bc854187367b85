// Forks a process for each pair START END of milliseconds in its arguments. Each writes part.N five times between the
// two moments, spread evenly, and prints when it began, when each write began, and when it ended.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double zero;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec - zero;
}

static void wait_until(double moment) {
    const double left = moment - now();
    if (left <= 0) return;
    struct timespec t = {(time_t)left, (long)(1e9 * (left - (double)(time_t)left))};
    nanosleep(&t, NULL);
}

static void work(int number, double start, double end) {
    static char data[4096];
    char line[512];
    char name[32];
    int used = snprintf(line, sizeof line, "%d %.6f", number, now());
    snprintf(name, sizeof name, "part.%d", number);
    const int file = open(name, O_WRONLY | O_CREAT, 0644);
    for (int i = 0; i < 5; ++i) {
        wait_until(start + (end - start) * (0.1 + 0.2 * i));
        used += snprintf(line + used, sizeof line - used, " %.6f", now());
        if (write(file, data, sizeof data) != sizeof data) exit(2);
    }
    close(file);
    wait_until(end);
    used += snprintf(line + used, sizeof line - used, " %.6f\n", now());
    if (write(1, line, used) != used) exit(2);
}

int main(int argc, char **argv) {
    zero = 0;
    zero = now();
    const int note = open("started", O_WRONLY | O_CREAT, 0644);  // a process without any I/O has no log
    if (write(note, "", 1) != 1) return 1;
    close(note);
    for (int i = 1; i + 1 < argc; i += 2) {
        const double start = 1e-3 * atof(argv[i]);
        const double end = 1e-3 * atof(argv[i + 1]);
        wait_until(start);
        const pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0) {
            work(i / 2, start, end);
            exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
    return 0;
}
