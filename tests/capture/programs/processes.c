/* Processes as argument 1 says. Each writes 10 bytes to `parent` three times; a child writes to `child`
   twice. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int parent;

static void write_child(void) {
    const int fd = open("child", O_CREAT | O_WRONLY | O_APPEND, 0600);
    for (int i = 0; i < 2; ++i) {
        if (write(fd, "0123456789", 10) != 10) abort();
    }
    close(fd);
}

/* What a child does that may share the memory of its parent: none of it is counted, until it is another
 * program. */
static int act_as_child(void* unused) {
    (void)unused;
    write_child();
    close(parent);
    execlp("cat", "cat", "parent", (char*)NULL);
    _exit(1);
}

static void on_signal(int number) {
    (void)number;
    _exit(5);
}

int main(int count, char** arguments) {
    const char* how = count > 1 ? arguments[1] : "";
    parent = open("parent", O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 2; ++i) {
        if (write(parent, "0123456789", 10) != 10) abort();
    }
    if (!strcmp(how, "fork") || !strcmp(how, "fork-inherit") || !strcmp(how, "fork-exec")) {
        const pid_t child = fork();
        if (!child) {
            write_child();
            if (!strcmp(how, "fork-inherit") && write(parent, "xyz", 3) != 3) abort();
            if (!strcmp(how, "fork-exec")) execlp("cat", "cat", "child", (char*)NULL);
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
    if (!strcmp(how, "vfork")) {
        const pid_t child = vfork();
        if (!child) act_as_child(NULL);
        waitpid(child, NULL, 0);
    }
    if (!strcmp(how, "clone")) {
        static char stack[1 << 16] __attribute__((aligned(16)));
        const pid_t child = clone(act_as_child, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
        waitpid(child, NULL, 0);
    }
    if (!strcmp(how, "system-call")) {
        const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (!child) act_as_child(NULL);
        waitpid(child, NULL, 0);
    }
    if (!strcmp(how, "vfork") || !strcmp(how, "clone") || !strcmp(how, "system-call")) {
        const int after = open("after", O_CREAT | O_WRONLY, 0600);
        if (write(after, "0123456789", 10) != 10) abort();
        close(after);
    }
    if (write(parent, "0123456789", 10) != 10) abort();
    if (!strcmp(how, "_exit")) _exit(3);
    if (!strcmp(how, "wait")) {
        close(open("waiting", O_CREAT | O_WRONLY, 0600));
        for (;;) pause();
    }
    if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "crash")) abort();
    if (!strcmp(how, "handler")) {
        signal(SIGUSR1, on_signal);
        raise(SIGUSR1);
    }
    if (!strcmp(how, "exec")) execlp("cat", "cat", "parent", (char*)NULL);
    if (!strcmp(how, "exec-fails") && execlp("no-such-program", "x", (char*)NULL) == 0) abort();
    if (!strcmp(how, "close-all")) {
        for (int fd = 0; fd < 1024; ++fd) close(fd);
    }
    return 0;
}
