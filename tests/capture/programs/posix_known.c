/* Known POSIX operations, one after the other; test_posix.py has the expected counters. */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char memory[1 << 20] __attribute__((aligned(64)));

static void must(int condition) {
    if (!condition) abort();
}

static void sequential(void) {
    int fd = open("sequential", O_CREAT | O_RDWR | O_TRUNC, 0640);
    for (int i = 0; i < 10; ++i) must(write(fd, memory, 1000) == 1000);
    must(pread(fd, memory + 1, 500, 100) == 500);
    must(lseek(fd, 0, SEEK_SET) == 0);
    must(read(fd, memory, 4096) == 4096);
    must(read(fd, memory, 1 << 20) == 10000 - 4096);
    must(read(fd, memory, 4096) == 0); /* the end of the file */
    must(fsync(fd) == 0);
    must(fdatasync(fd) == 0);
    must(close(fd) == 0);
}

static void strided(void) {
    int fd = open64("strided", O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 8; ++i) must(pwrite64(fd, memory, 512, i * 4096L) == 512);
    struct iovec two[2] = {{memory, 100}, {memory + 1000, 200}};
    must(pwritev(fd, two, 2, 40000) == 300);
    must(writev(fd, two, 2) == 300);
    close(fd);
    fd = open("strided", O_RDONLY);
    must(preadv2(fd, two, 2, 0, 0) == 300);
    close(fd);
}

static void failing(void) {
    int fd = open("failing", O_CREAT | O_WRONLY, 0600);
    must(read(fd, memory, 10) < 0);
    must(pwrite(fd, memory, 10, -5) < 0);
    must(lseek(fd, -1, SEEK_SET) < 0);
    must(open("no/such/folder", O_RDONLY) < 0);
    struct stat about;
    must(stat("missing", &about) < 0);
    close(fd);
    must(close(fd) < 0);
}

static void appending(void) {
    int fd = open("appending", O_CREAT | O_WRONLY | O_APPEND, 0600);
    int other = open("appending", O_WRONLY | O_APPEND);
    must(write(fd, memory, 100) == 100);
    must(write(fd, memory, 100) == 100);
    must(write(other, memory, 50) == 50);
    must(write(fd, memory, 100) == 100);
    close(fd);
    close(other);
}

static void duplicated(void) {
    int fd = open("duplicated", O_CREAT | O_WRONLY, 0600);
    int copy = dup(fd), third = fcntl(fd, F_DUPFD, 100);
    must(write(fd, memory, 100) == 100);
    must(write(copy, memory, 100) == 100); /* the offset is shared */
    close(fd);
    must(write(third, memory, 100) == 100);
    must(dup2(third, copy) == copy);
    close(copy);
    close(third);
}

static void about(void) {
    struct stat old;
    struct statx new;
    int fd = open("about", O_CREAT | O_RDWR, 0600);
    must(fstat(fd, &old) == 0);
    must(stat("about", &old) == 0);
    must(lstat("./about", &old) == 0);
    must(fstatat(AT_FDCWD, "about", &old, 0) == 0);
    must(fstatat(fd, "", &old, AT_EMPTY_PATH) == 0);
    must(statx(AT_FDCWD, "about", 0, STATX_SIZE, &new) == 0);
    must(ftruncate(fd, 4096) == 0);
    void* pages = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    must(pages != MAP_FAILED);
    munmap(pages, 4096);
    close(fd);
    must(rename("about", "renamed") == 0);
}

static void copied(void) {
    int from = open("sequential", O_RDONLY), to = open("copied", O_CREAT | O_RDWR, 0600);
    off_t at = 1000;
    must(copy_file_range(from, NULL, to, NULL, 2000, 0) == 2000);
    must(sendfile(to, from, &at, 3000) == 3000);
    close(from);
    close(to);
}

static void temporary(void) {
    char name[] = "temporary-XXXXXX";
    int fd = mkstemp(name);
    must(write(fd, memory, 7) == 7);
    close(fd);
    must(rename(name, "temporary") == 0);
    int folder = open(".", O_RDONLY | O_DIRECTORY);
    fd = openat(folder, "temporary", O_RDONLY);
    must(read(fd, memory, 100) == 7);
    close(fd);
    close(folder);
}

int main(void) {
    sequential();
    strided();
    failing();
    appending();
    duplicated();
    about();
    copied();
    temporary();
    return 0;
}
