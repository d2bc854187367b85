/* What applications do with files over time, as argument 1 says; without pauses. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 20000 };

static char piece[PIECE];

static void put(const char* name, int flags, int pieces) {
    const int fd = open(name, O_WRONLY | O_CREAT | flags, 0644);
    while (pieces--) {
        if (write(fd, piece, PIECE) != PIECE) abort();
    }
    fsync(fd);
    close(fd);
}

static void get(const char* name) {
    const int fd = open(name, O_RDONLY);
    while (read(fd, piece, PIECE) > 0) {
    }
    close(fd);
}

static void state_is_written_anew(void) {
    for (int step = 0; step < 5; ++step) put("state", O_TRUNC, 6);
}

static void state_is_overwritten(void) {
    for (int step = 0; step < 5; ++step) put("state", 0, 6);
}

static void stream_is_written_anew(void) {
    for (int step = 0; step < 5; ++step) {
        FILE* out = fopen("stream", "w");
        for (int i = 0; i < 6; ++i) fwrite(piece, 1, PIECE, out);
        fclose(out);
    }
}

static void state_takes_the_place_of_the_last(void) {
    for (int step = 0; step < 5; ++step) {
        char name[32];
        snprintf(name, sizeof name, "new_%d", step);
        put(name, O_TRUNC, 6);
        if (rename(name, "current")) abort();
    }
}

static void scratch_is_removed(void) {
    for (int step = 0; step < 4; ++step) {
        char name[32];
        snprintf(name, sizeof name, "scratch_%d", step);
        put(name, O_TRUNC, 6);
        usleep(20000);
        get(name);
        if (unlink(name)) abort();
    }
}

static void old_states_are_removed(void) {
    for (int step = 0; step < 5; ++step) {
        char name[32];
        snprintf(name, sizeof name, "state_%d", step);
        put(name, O_TRUNC, 6);
        usleep(20000);
        snprintf(name, sizeof name, "state_%d", step - 2);
        if (step >= 2 && remove(name)) abort();
    }
}

static void stream_is_made_durable(void) {
    FILE* out = fopen("stream", "w");
    for (int step = 0; step < 5; ++step) {
        for (int i = 0; i < 6; ++i) fwrite(piece, 1, PIECE, out);
        fflush(out);
        fsync(fileno(out));
        usleep(1000);
    }
    fclose(out);
}

static void samples_are_shuffled(void) {
    enum { SAMPLES = 500, SAMPLE = 4000 };
    const int fd = open("samples", O_RDONLY);
    int order[SAMPLES];
    unsigned state = 1;
    for (int i = 0; i < SAMPLES; ++i) {
        state = state * 1664525 + 1013904223;
        const int other = (int)((state >> 8) % (unsigned)(i + 1));
        order[i] = order[other];
        order[other] = i;
    }
    for (int i = 0; i < SAMPLES; ++i) {
        if (pread(fd, piece, SAMPLE, (off_t)order[i] * SAMPLE) != SAMPLE) abort();
    }
    close(fd);
}

static void input_is_read_twice(void) {
    get("input");
    for (int step = 0; step < 3; ++step) {
        char name[32];
        usleep(20000);
        snprintf(name, sizeof name, "scratch_%d", step);
        put(name, O_TRUNC, 6);
    }
    usleep(20000);
    get("input");
}

static void files_are_open_together(void) {
    int files[4];
    for (int i = 0; i < 4; ++i) {
        char name[32];
        snprintf(name, sizeof name, "part_%d", i);
        files[i] = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    }
    for (int round = 0; round < 6; ++round) {
        for (int i = 0; i < 4; ++i) {
            if (write(files[i], piece, PIECE) != PIECE) abort();
        }
        usleep(5000);
    }
    for (int i = 0; i < 4; ++i) close(files[i]);
}

int main(int count, char** arguments) {
    static const struct {
        const char* name;
        void (*run)(void);
    } known[] = {
        {"overwrite", state_is_overwritten}, {"stream", stream_is_written_anew},
        {"rewrite", state_is_written_anew},  {"rename", state_takes_the_place_of_the_last},
        {"durable", stream_is_made_durable}, {"shuffled", samples_are_shuffled},
        {"twice", input_is_read_twice},      {"together", files_are_open_together},
        {"scratch", scratch_is_removed},     {"newest", old_states_are_removed},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (count > 1 && !strcmp(arguments[1], known[i].name)) known[i].run();
    }
    return 0;
}
