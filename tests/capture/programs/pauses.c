/* Known operations, part of them in a pause. Argument: how many pauses are nested. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char data[1000];

static void call(const char* name, int times) {
    void (*function)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, name);
    for (int i = 0; function && i < times; ++i) function();
}

int main(int argc, char** argv) {
    const int depth = argc > 1 ? atoi(argv[1]) : 1;
    const int before = open("before", O_CREAT | O_RDWR, 0600);
    write(before, data, 100);
    call("workalike_capture_pause", depth);

    const int inside = open("inside", O_CREAT | O_RDWR, 0600);
    FILE* stream = fopen("stream", "w+");
    write(inside, data, 300);
    fwrite(data, 1, 300, stream);
    fflush(stream);
    write(before, data, 200);
    lseek(before, 0, SEEK_SET);
    read(before, data, 50);
    fsync(before);
    const int only = open("only", O_CREAT | O_RDWR, 0600);
    write(only, data, 1);
    close(only);
    call("workalike_capture_resume", depth - 1);
    write(inside, data, 1);
    call("workalike_capture_resume", 1);

    write(inside, data, 10);
    fwrite(data, 1, 20, stream);
    read(before, data, 30);
    close(inside);
    fclose(stream);
    close(before);
    call("workalike_capture_resume", 3); /* one resume too many is harmless */
    call("workalike_capture_pause", 1);
    write(open("before", O_WRONLY), data, 5);
    return 0;
}
