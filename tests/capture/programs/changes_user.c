/* A server: writes a file, becomes another user, writes another, and so does its child. */
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_file(const char* name, size_t bytes) {
    static const char data[4096];
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes || close(fd)) _exit(1);
}

int main(void) {
    const int nobody = 65534;
    write_file("before", 1000);
    if (setgroups(0, NULL) || setgid(nobody) || setuid(nobody)) return 1;
    write_file("after", 2000);
    const pid_t child = fork();
    if (child == 0) {
        write_file("child", 3000);
        exit(0);
    }
    int status = 1;
    return waitpid(child, &status, 0) != child || status;
}
