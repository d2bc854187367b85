/* Files whose data move by POSIX and by a stream: on a copy of the descriptor, or opened once more. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { FILES = 4, HEADER = 128, DATA = 800, BLOCK = 4096, BLOCKS = 6, MAGIC = 64 };

static char bytes[BLOCK];

static FILE* stream_on(int fd, const char* mode) {
    return fdopen(dup(fd), mode);
}

static void save(const char* name) {
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (write(fd, bytes, HEADER) != HEADER) _exit(1);
    FILE* stream = stream_on(fd, "w");
    fseek(stream, HEADER, SEEK_SET);
    if (fwrite(bytes, 1, DATA, stream) != DATA) _exit(2);
    fflush(stream);
    fclose(stream);
    close(fd);
}

static void load(const char* name) {
    const int fd = open(name, O_RDONLY);
    if (read(fd, bytes, HEADER) != HEADER) _exit(3);
    FILE* stream = stream_on(fd, "r");
    fseek(stream, HEADER, SEEK_SET);
    if (fread(bytes, 1, DATA, stream) != DATA) _exit(4);
    fclose(stream);
    close(fd);
}

static void look_and_copy(void) {
    const int fd = open("table", O_RDWR | O_CREAT, 0644);
    for (int i = 0; i < BLOCKS; ++i)
        if (write(fd, bytes, BLOCK) != BLOCK) _exit(5);
    close(fd);
    FILE* stream = fopen("table", "r");
    if (fread(bytes, 1, MAGIC, stream) != MAGIC) _exit(6);
    fclose(stream);
}

int main(void) {
    char name[32];
    for (int i = 0; i < FILES; ++i) {
        snprintf(name, sizeof name, "sample-%04d.npy", i);
        save(name);
    }
    for (int i = 0; i < FILES; ++i) {
        snprintf(name, sizeof name, "sample-%04d.npy", i);
        load(name);
    }
    look_and_copy();
    return 0;
}
