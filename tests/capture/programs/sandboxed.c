/* A program that forbids itself nearly all system calls, on pain of death, and continues to work.
   usage: sandboxed prctl|syscall|strict [MORE] */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter rules[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(read),
    ALLOW(write),
    ALLOW(close),
    ALLOW(exit_group),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static int forbid(const char* how) {
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (strcmp(how, "strict") == 0) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    if (strcmp(how, "prctl") == 0) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int main(int count, char** arguments) {
    const int fd = open("data", O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (count < 2 || write(fd, "before", 6) != 6 || forbid(arguments[1])) return 3;
    for (int i = 0; i < 10; ++i) {
        if (write(fd, "within", 6) != 6) return 4;
    }
    if (strcmp(arguments[1], "strict") == 0) syscall(SYS_exit, 0); /* the only way to exit that this mode allows */
    close(fd);
    return 0;
}
