/* Calls a second of threads on files, for capture_threads.py.
     capture_threads KIND HOW THREADS SECONDS FOLDER
   KIND is pread, pwrite (all threads on one descriptor) or open (open + close, a file for each thread). HOW is
   bare, or mutex: then one pthread mutex guards the counters and times that the capture library keeps for a
   file, which makes it what the library's own lock is measured against. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "counting/posix.h"

enum { SIZE = 4096, BLOCKS = 64, THREADS_AT_MOST = 1024 };

static struct {
    pthread_mutex_t lock;
    struct posix_history history;
    int64_t counter[POSIX_COUNTERS];
    double time[4], first, last;
} counted = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    bool pread, pwrite, mutex;
    int fd;
    const char* folder;
    atomic_bool stop;
} task;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void count(enum transfer kind, int64_t offset, double start) {
    const double end = now();
    pthread_mutex_lock(&counted.lock);
    posix_transferred(&counted.history, counted.counter, kind, offset, SIZE);
    counted.time[kind] += end - start;
    if (end - start > counted.time[2 + kind]) counted.time[2 + kind] = end - start;
    if (counted.first == 0) counted.first = start;
    counted.last = end;
    pthread_mutex_unlock(&counted.lock);
}

static void count_open(double start, double opened) {
    const double end = now();
    pthread_mutex_lock(&counted.lock);
    posix_opened(&counted.history, counted.counter);
    counted.time[0] += (opened - start) + (end - opened);
    counted.last = end;
    pthread_mutex_unlock(&counted.lock);
}

static void open_and_close(const char* name) {
    const double start = task.mutex ? now() : 0;
    const int fd = open(name, O_RDWR);
    const double opened = task.mutex ? now() : 0;
    if (fd < 0 || close(fd)) abort();
    if (task.mutex) count_open(start, opened);
}

static void move(int64_t number, char* memory) {
    const int64_t offset = number % BLOCKS * SIZE;
    const double start = task.mutex ? now() : 0;
    const ssize_t done = task.pread ? pread(task.fd, memory, SIZE, offset) : pwrite(task.fd, memory, SIZE, offset);
    if (done != SIZE) abort();
    if (task.mutex) count(task.pread ? TRANSFER_READ : TRANSFER_WRITE, offset, start);
}

static void* work(void* argument) {
    const int64_t thread = (int64_t)(intptr_t)argument;
    char memory[SIZE] = "", name[4096];
    snprintf(name, sizeof name, "%s/own.%lld", task.folder, (long long)thread);
    close(open(name, O_CREAT | O_RDWR, 0600));
    int64_t calls = 0;
    while (!atomic_load_explicit(&task.stop, memory_order_relaxed)) {
        if (task.pread || task.pwrite) {
            move(thread + calls, memory);
        } else {
            open_and_close(name);
        }
        ++calls;
    }
    unlink(name);
    return (void*)(intptr_t)calls;
}

int main(int count, char** words) {
    if (count != 6) return 2;
    task.pread = !strcmp(words[1], "pread");
    task.pwrite = !strcmp(words[1], "pwrite");
    task.mutex = !strcmp(words[2], "mutex");
    const int threads = atoi(words[3]);
    task.folder = words[5];
    char name[4096], block[SIZE] = "";
    snprintf(name, sizeof name, "%s/shared", task.folder);
    task.fd = open(name, O_CREAT | O_RDWR, 0600);
    for (int i = 0; i < BLOCKS; ++i) {
        if (pwrite(task.fd, block, SIZE, (off_t)i * SIZE) != SIZE) return 1;
    }
    pthread_t all[THREADS_AT_MOST];
    if (threads < 1 || threads > THREADS_AT_MOST) return 2;
    const double start = now();
    for (int i = 0; i < threads; ++i) pthread_create(&all[i], NULL, work, (void*)(intptr_t)i);
    const double seconds = atof(words[4]);
    nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))}, NULL);
    atomic_store(&task.stop, true);
    int64_t calls = 0;
    for (int i = 0; i < threads; ++i) {
        void* own = NULL;
        pthread_join(all[i], &own);
        calls += (intptr_t)own;
    }
    printf("%.1f\n", (double)calls / (now() - start));
    return unlink(name);
}
