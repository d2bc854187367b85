/* Programs that do not do the same twice: threads, random orders and names, counts by the clock.
 * The argument says which; with a second one, it is done twice. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, THREADS = 4 };
static char data[1 << 20];
static atomic_int next_block, done;
static int shared_fd;

static int at_random(int most) {
    return (int)(random() % most);
}

static void append(const char* name, size_t size, int times) {
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0644);
    for (int i = 0; i < times; i++) write(fd, data, size);
    close(fd);
}

static void* own_file(void* number) {
    char name[64];
    int own = (int)(long)number;
    snprintf(name, sizeof name, "part-%d.dat", own);
    for (int i = 0; i < 10 + own; i++) append(name, (size_t)1000 * (1 + own), 4);
    return NULL;
}

static void* blocks_of_shared(void* unused) {
    (void)unused;
    for (int block; (block = next_block++) < 256;) {
        pwrite(shared_fd, data, BLOCK, (off_t)block * BLOCK);
        usleep((useconds_t)at_random(50));
    }
    return NULL;
}

static void* lines_of_log(void* stream) {
    for (int i = 0; i < 100; i++) fprintf(stream, "thread at step %d after %ld ticks\n", i, (long)clock());
    return NULL;
}

static void* result_later(void* unused) {
    (void)unused;
    usleep(60000 + (useconds_t)at_random(20000));
    append("result.dat", BLOCK, 5);
    done = 1;
    return NULL;
}

static void in_threads(void* (*work)(void*), void* argument) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, argument ? argument : (void*)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

static void threads_own_files(void) {
    in_threads(own_file, NULL);
}

static void threads_one_file(void) {
    shared_fd = open("shared.dat", O_WRONLY | O_CREAT, 0644);
    in_threads(blocks_of_shared, NULL);
    close(shared_fd);
}

static void threads_one_log(void) {
    FILE* file = fopen("events.log", "w");
    in_threads(lines_of_log, file);
    fclose(file);
}

static void random_reads(void) {
    append("table.dat", BLOCK, 512);
    int fd = open("table.dat", O_RDONLY);
    for (int i = 0; i < 300; i++) pread(fd, data, BLOCK, (off_t)at_random(512) * BLOCK);
    close(fd);
}

static void random_pieces(void) {
    int fd = open("pieces.dat", O_WRONLY | O_CREAT, 0644);
    for (int left = 1 << 20; left > 0;) {
        int size = 1 + at_random(8000);
        if (size > left) size = left;
        write(fd, data, (size_t)size);
        left -= size;
    }
    close(fd);
}

static void temporary_names(void) {
    for (int i = 0; i < 6; i++) {
        char name[] = "scratch.XXXXXX";
        int fd = mkstemp(name);
        for (int k = 0; k <= i; k++) write(fd, data, (size_t)BLOCK << i);
        lseek(fd, 0, SEEK_SET);
        read(fd, data, BLOCK);
        close(fd);
        unlink(name);
    }
}

static void number_of_process(void) {
    char name[64];
    snprintf(name, sizeof name, "job.%d.out", (int)getpid());
    append(name, 5000, 12);
    snprintf(name, sizeof name, "job.%d.err", (int)getpid());
    append(name, 70, 3);
}

static void polls_for_result(void) {
    pthread_t thread;
    struct stat found;
    append("input.dat", BLOCK, 8);
    pthread_create(&thread, NULL, result_later, NULL);
    int watched = open("input.dat", O_RDONLY);
    while (!done) {
        fstat(watched, &found);
        usleep(1000);
    }
    close(watched);
    pthread_join(thread, NULL);
}

static void progress_by_clock(void) {
    struct timespec start, now;
    int fd = open("progress.txt", O_WRONLY | O_CREAT, 0644);
    append("model.dat", BLOCK, 20);
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        usleep(1500);
        clock_gettime(CLOCK_MONOTONIC, &now);
        dprintf(fd, "%ld of 100\r", (now.tv_nsec - start.tv_nsec) / 1000000);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 100);
    close(fd);
}

static void number_of_files(void) {
    int files = 10 + at_random(6);
    for (int i = 0; i < files; i++) {
        char name[64];
        snprintf(name, sizeof name, "cache-%08lx.bin", random());
        append(name, BLOCK, 4);
    }
    append("index.dat", 64, files);
}

static void processes(void) {
    append("common.dat", BLOCK, 4);
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            char name[64];
            snprintf(name, sizeof name, "child-%d.dat", (int)getpid());
            append(name, 2000, 10);
            exit(0);
        }
    while (wait(NULL) > 0) continue;
}

static void order_of_files(void) {
    int order[30];
    for (int i = 0; i < 30; i++) order[i] = i;
    for (int i = 29; i > 0; i--) {
        int k = at_random(i + 1), kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
    for (int i = 0; i < 30; i++) {
        char name[64];
        snprintf(name, sizeof name, "sample-%02d.raw", order[i]);
        append(name, (size_t)500 * (size_t)(1 + order[i]), 3);
    }
}

static void sorted_runs(void) {
    /* Runs of a sort on disk: how many and how long depends on the data. */
    int runs = 20 + at_random(3);
    for (int i = 0; i < runs; i++) append("runs.tmp", (size_t)(30000 + at_random(2000)), 1);
    int fd = open("runs.tmp", O_RDONLY);
    while (read(fd, data, 65536) > 0) continue;
    close(fd);
    unlink("runs.tmp");
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        void (*run)(void);
    } programs[] = {
        {"threads-own-files", threads_own_files},
        {"threads-one-file", threads_one_file},
        {"threads-one-log", threads_one_log},
        {"random-reads", random_reads},
        {"random-pieces", random_pieces},
        {"temporary-names", temporary_names},
        {"number-of-process", number_of_process},
        {"polls-for-result", polls_for_result},
        {"progress-by-clock", progress_by_clock},
        {"number-of-files", number_of_files},
        {"processes", processes},
        {"order-of-files", order_of_files},
        {"sorted-runs", sorted_runs},
    };
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    srandom((unsigned)(now.tv_nsec ^ getpid()));
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (int turn = 1; turn < argc; turn++) {
            if (strcmp(argv[1], programs[i].name) == 0) programs[i].run();
            next_block = done = 0;
        }
    return 0;
}
