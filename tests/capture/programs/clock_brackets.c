/* Writes for a tenth of a second, sometimes with a pause, and prints the clock before and after each write. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WRITES = 20000, PAUSE_EVERY = 1000, PAUSE_US = 3000 };

static long long brackets[WRITES][2];

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(void) {
    const int fd = open("timed", O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < WRITES; ++i) {
        if (i % PAUSE_EVERY == 0) usleep(PAUSE_US);
        brackets[i][0] = now();
        if (pwrite(fd, "x", 1, i) != 1) abort();
        brackets[i][1] = now();
    }
    close(fd);
    for (int i = 0; i < WRITES; ++i) printf("%lld %lld\n", brackets[i][0], brackets[i][1]);
    return 0;
}
