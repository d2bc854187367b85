/* Eight threads, each on a file of its own and all on one; test_processes.py has the expected counters. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 5000 };

static int common;

static void* work(void* argument) {
    const long number = (long)argument;
    char name[32], memory[100] = "";
    snprintf(name, sizeof name, "own.%ld", number);
    for (int round = 0; round < ROUNDS; ++round) {
        if (round % 500 == 0) close(open(name, O_CREAT | O_RDWR, 0600));
        if (pwrite(common, memory, 100, (number * ROUNDS + round) * 100) != 100) abort();
    }
    const int fd = open(name, O_RDWR);
    for (int round = 0; round < ROUNDS; ++round) {
        if (write(fd, memory, 10 + (size_t)number) < 0) abort();
    }
    close(fd);
    FILE* file = fopen("text", "a");
    for (int round = 0; round < 100; ++round) fprintf(file, "%d\n", round % 10);
    fclose(file);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    common = open("common", O_CREAT | O_RDWR, 0600);
    for (long i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    close(common);
    return 0;
}
