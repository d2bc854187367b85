/* Nanoseconds a call of 1 KiB, for capture_overhead.py. Without a definition, lines "name bare captured" of
   the calls of the C library: its own functions and the ones that are captured take turns in one process, so
   that the state of the machine is the same for both. With -DWITH_MPI a line "name time" of MPI-IO. With
   -DWORKLOAD instead a file written and read as IOR does, which the caller times. */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 1024, TURNS = 2000, CALLS_OF_TURN = 200 };

static char memory[SIZE];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
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

static int by_value(const void* left, const void* right) {
    const double difference = *(const double*)left - *(const double*)right;
    return (difference > 0) - (difference < 0);
}

static double median(double values[TURNS]) {
    qsort(values, TURNS, sizeof *values, by_value);
    return values[TURNS / 2];
}

#ifdef WITH_MPI
static void time_mpi(const char* path) {
    static double times[TURNS];
    MPI_File file;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int turn = 0; turn < TURNS; ++turn) {
        const double start = now();
        for (int i = 0; i < CALLS_OF_TURN; ++i) {
            MPI_File_write_at(file, i * SIZE, memory, SIZE, MPI_BYTE, MPI_STATUS_IGNORE);
        }
        times[turn] = (now() - start) / CALLS_OF_TURN;
    }
    fprintf(stderr, "MPI_File_write_at %.1f\n", median(times));
    MPI_File_close(&file);
}
#endif

struct functions {
    int (*open)(const char* path, int flags, ...);
    int (*close)(int fd);
    ssize_t (*pwrite)(int fd, const void* data, size_t size, off_t offset);
    off_t (*lseek)(int fd, off_t offset, int whence);
    size_t (*fwrite)(const void* data, size_t size, size_t count, FILE* file);
    void (*rewind)(FILE* file);
};

struct files {
    const char* path;
    int fd;
    FILE* stream;
};

static void turn_of_opens(const struct functions* to, const struct files* files) {
    for (int i = 0; i < CALLS_OF_TURN; ++i) to->close(to->open(files->path, O_RDWR));
}

static void turn_of_writes(const struct functions* to, const struct files* files) {
    for (int i = 0; i < CALLS_OF_TURN; ++i) {
        if (to->pwrite(files->fd, memory, SIZE, i * SIZE) != SIZE) abort();
    }
}

static void turn_of_seeks(const struct functions* to, const struct files* files) {
    for (int i = 0; i < CALLS_OF_TURN; ++i) to->lseek(files->fd, i * SIZE, SEEK_SET);
}

static void turn_of_streams(const struct functions* to, const struct files* files) {
    for (int i = 0; i < CALLS_OF_TURN; ++i) to->fwrite(memory, 1, SIZE, files->stream);
    to->rewind(files->stream);
}

typedef void turn(const struct functions* to, const struct files* files);

static double time_of(turn* turn, const struct functions* to, const struct files* files) {
    const double start = now();
    turn(to, files);
    return (now() - start) / CALLS_OF_TURN;
}

/* The median of the bare times, and that plus the median of what a captured turn took more than the bare one
 * before. */
static void report(const char* name, turn* turn, const struct functions* bare,
                   const struct functions* captured, const struct files* files) {
    static double times[TURNS], more[TURNS];
    for (int i = 0; i < TURNS; ++i) {
        times[i] = time_of(turn, bare, files);
        more[i] = time_of(turn, captured, files) - times[i];
    }
    const double middle = median(times);
    fprintf(stderr, "%s %.1f %.1f\n", name, middle, middle + median(more));
}

__attribute__((unused)) static void time_library(const char* path) {
    void* library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    const struct functions captured = {open, close, pwrite, lseek, fwrite, rewind};
    struct functions bare;
    *(void**)&bare.open = dlsym(library, "open");
    *(void**)&bare.close = dlsym(library, "close");
    *(void**)&bare.pwrite = dlsym(library, "pwrite");
    *(void**)&bare.lseek = dlsym(library, "lseek");
    *(void**)&bare.fwrite = dlsym(library, "fwrite");
    *(void**)&bare.rewind = dlsym(library, "rewind");
    const struct files files = {path, open(path, O_CREAT | O_RDWR, 0600), fopen(path, "w")};
    report("pwrite", turn_of_writes, &bare, &captured, &files);
    report("lseek", turn_of_seeks, &bare, &captured, &files);
    report("fwrite", turn_of_streams, &bare, &captured, &files);
    report("open+close", turn_of_opens, &bare, &captured, &files);
    fclose(files.stream);
    close(files.fd);
}

int main(int count, char** arguments) {
    const char* path = count > 1 ? arguments[1] : "capture-calls";
#ifdef WORKLOAD
    return workload(path);
#elif defined WITH_MPI
    MPI_Init(&count, &arguments);
    time_mpi(path);
    MPI_Finalize();
#else
    time_library(path);
#endif
    return unlink(path);
}
