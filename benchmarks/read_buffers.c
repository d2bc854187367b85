/* Reads a file in calls of SIZE bytes into one buffer of malloc, for read_buffers.py: FILE SIZE CALLS.
   Prints the seconds in calls. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int count, char** words) {
    if (count != 4) return 2;
    const size_t size = strtoul(words[2], NULL, 10);
    const long calls = atol(words[3]);
    char* data = malloc(size);
    const int fd = open(words[1], O_RDONLY);
    double inside = 0;
    for (long i = 0; i < calls; ++i) {
        const double start = now();
        if (pread(fd, data, size, (off_t)i * (off_t)size) != (ssize_t)size) return 1;
        inside += now() - start;
    }
    printf("%.6f\n", inside);
    return close(fd);
}
