/* Nanoseconds a call of 1 KiB, as "name value" lines: for capture_overhead.py. With -DWITH_MPI those of MPI-IO, with
   -DWORKLOAD instead a file written and read as IOR does, which the caller times, with -DOPENS the share in per cent
   that capture adds to open and close. */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 300000, SLOTS = 1000, SIZE = 1024 };

static char memory[SIZE];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void report(const char* name, double start) {
    fprintf(stderr, "%s %.1f\n", name, (now() - start) / CALLS);
}

/* 64 MiB in 256 KiB calls, written and read, sixteen times. */
__attribute__((unused)) static int workload(const char* path) {
    enum { BLOCK = 262144, BLOCKS = 256, ROUNDS = 16 };
    char* block = calloc(1, BLOCK);
    for (int round = 0; round < ROUNDS; ++round) {
        const int fd = open(path, O_CREAT | O_RDWR, 0600);
        for (long i = 0; i < BLOCKS; ++i) {
            if (pwrite(fd, block, BLOCK, i * BLOCK) != BLOCK) return 1;
        }
        for (long i = 0; i < BLOCKS; ++i) {
            if (pread(fd, block, BLOCK, i * BLOCK) != BLOCK) return 1;
        }
        close(fd);
    }
    return unlink(path);
}

typedef int (*opening)(const char* path, int flags, ...);
typedef int (*closing)(int fd);

static double pairs_of(const char* path, opening opens, closing closes) {
    enum { PAIRS = 200 };
    const double start = now();
    for (int i = 0; i < PAIRS; ++i) closes(opens(path, O_RDWR));
    return now() - start;
}

static int by_value(const void* left, const void* right) {
    const double difference = *(const double*)left - *(const double*)right;
    return (difference > 0) - (difference < 0);
}

/* The C library's own functions and the ones that are captured take turns, so that the state of the machine is the
   same for both. Without capture they are the same functions. */
__attribute__((unused)) static int opens(const char* path) {
    enum { TURNS = 3000 };
    static double share[TURNS];
    void* library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    const opening bare_open = (opening)dlsym(library, "open");
    const closing bare_close = (closing)dlsym(library, "close");
    close(open(path, O_CREAT | O_RDWR, 0600));
    for (int i = 0; i < TURNS; ++i) {
        const double bare = pairs_of(path, bare_open, bare_close);
        share[i] = 100 * (pairs_of(path, open, close) - bare) / bare;
    }
    qsort(share, TURNS, sizeof *share, by_value);
    fprintf(stderr, "open+close %.1f\n", share[TURNS / 2]);
    return unlink(path);
}

int main(int count, char** arguments) {
    const char* path = count > 1 ? arguments[1] : "capture-calls";
#ifdef OPENS
    return opens(path);
#endif
#ifdef WORKLOAD
    return workload(path);
#endif
#ifdef WITH_MPI
    MPI_File file;
    MPI_Init(&count, &arguments);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    double start = now();
    for (long i = 0; i < CALLS; ++i) {
        MPI_File_write_at(file, i % SLOTS * SIZE, memory, SIZE, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    report("MPI_File_write_at", start);
    MPI_File_close(&file);
    MPI_Finalize();
#else
    const int fd = open(path, O_CREAT | O_WRONLY, 0600);
    long done = 0;
    for (long i = 0; i < CALLS / 10; ++i) done += pwrite(fd, memory, SIZE, i % SLOTS * SIZE);
    double start = now();
    for (long i = 0; i < CALLS; ++i) done += pwrite(fd, memory, SIZE, i % SLOTS * SIZE);
    report("pwrite", start);
    start = now();
    for (long i = 0; i < CALLS; ++i) done += lseek(fd, i % SLOTS * SIZE, SEEK_SET);
    report("lseek", start);
    close(fd);
    FILE* file = fopen(path, "w");
    start = now();
    for (long i = 0; i < CALLS; ++i) {
        done += (long)fwrite(memory, 1, SIZE, file);
        if (i % SLOTS == SLOTS - 1) rewind(file);
    }
    report("fwrite", start);
    fclose(file);
    if (done < 0) return 1;
#endif
    unlink(path);
    return 0;
}
