/* Writes and reads three files by POSIX calls; the argument names the one thing that is done otherwise. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 40 };
static char data[1 << 20];
static const char* change = "";

static int is(const char* name) {
    return strcmp(change, name) == 0;
}

static void write_file(const char* name) {
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    size_t size = is("double-size") ? 2 * BLOCK : BLOCK;
    int blocks = is("more-writes") ? BLOCKS + 10 : BLOCKS;
    off_t first = is("unaligned") ? 100 : 0;
    off_t step = is("gaps") ? (off_t)(2 * size) : (off_t)size;
    for (int i = 0; i < blocks; i++) {
        off_t offset = first + step * (is("backwards") ? blocks - 1 - i : i);
        if (is("seek-each")) {
            lseek(fd, offset, SEEK_SET);
            write(fd, data, size);
        } else
            pwrite(fd, data, size, offset);
        if (is("sync-each")) fsync(fd);
        if (is("datasync-each")) fdatasync(fd);
        if (is("read-between")) pread(fd, data, size, offset);
    }
    if (is("far-away")) pwrite(fd, data, size, 1 << 30);
    if (is("dup")) close(dup(fd));
    if (is("map")) munmap(mmap(NULL, BLOCK, PROT_READ, MAP_SHARED, fd, 0), BLOCK);
    struct stat found;
    fstat(fd, &found);
    if (is("more-stats")) fstat(fd, &found);
    close(fd);
    if (is("emptied")) {
        fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
        for (int i = 0; i < BLOCKS; i++) pwrite(fd, data, BLOCK, (off_t)BLOCK * i);
        close(fd);
    }
}

static void read_file(const char* name) {
    int fd = open(name, O_RDONLY);
    size_t size = is("small-reads") ? BLOCK / 4 : BLOCK;
    while (read(fd, data, size) > 0) continue;
    if (is("read-twice")) {
        lseek(fd, 0, SEEK_SET);
        while (read(fd, data, size) > 0) continue;
    }
    close(fd);
    if (is("open-again")) close(open(name, O_RDONLY));
}

int main(int argc, char** argv) {
    static const char* names[] = {"first.dat", "second.dat", "third.dat", "fourth.dat"};
    if (argc > 1) change = argv[1];
    int files = is("file-more") ? 4 : is("file-less") ? 2 : 3;
    for (int i = 0; i < files; i++) write_file(names[i]);
    for (int i = 0; i < files; i++) read_file(names[i]);
    if (is("rename-call")) rename("third.dat", "last.dat");
    if (is("delete")) unlink("third.dat");
    return 0;
}
