/* Long jumps out of calls that are counted.
   usage: jumps stream|busy|inner|threads */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf outside;
static volatile sig_atomic_t inner;

static void write_known(const char* name) {
    const int fd = open(name, O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 3; ++i) {
        if (pwrite(fd, "0123456789", 10, i * 10) != 10) _exit(3);
    }
    close(fd);
}

static int close_by_jump(void* cookie) {
    siglongjmp(*(sigjmp_buf*)cookie, 1);
}

/* The stream's own function never returns to fclose. */
static void leave_a_stream(void) {
    const cookie_io_functions_t functions = {.close = close_by_jump};
    if (sigsetjmp(outside, 1) == 0) fclose(fopencookie(&outside, "w", functions));
}

static void jump_away(int number) {
    (void)number;
    siglongjmp(outside, 1);
}

static void jump_inside(int number) {
    (void)number;
    sigjmp_buf here;
    if (sigsetjmp(here, 1) == 0) siglongjmp(here, 1);
    ++inner;
}

static void start_timer(void (*handler)(int), int microseconds) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER | SA_RESTART};
    const struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void stop_timer(void) {
    const struct itimerval none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &none, NULL);
}

/* A second thread writes to the same file meanwhile; it gets no signals. */
static void* write_beside(void* fd) {
    for (long i = 0; i < 200000; ++i) {
        if (pwrite(*(int*)fd, "y", 1, 0) != 1) _exit(3);
    }
    return NULL;
}

static void write_and_jump(int fd) {
    volatile int jumps = 0;
    if (sigsetjmp(outside, 1)) ++jumps;
    start_timer(jump_away, 60);
    while (jumps < 3000) {
        if (pwrite(fd, "x", 1, 0) != 1) _exit(3);
    }
    stop_timer();
}

int main(int count, char** arguments) {
    const char* how = count > 1 ? arguments[1] : "";
    const int fd = open("busy", O_CREAT | O_WRONLY, 0600);
    if (strcmp(how, "stream") == 0) leave_a_stream();
    if (strcmp(how, "busy") == 0) write_and_jump(fd);
    if (strcmp(how, "threads") == 0) {
        pthread_t beside;
        sigset_t alarm;
        int own = fd;
        sigemptyset(&alarm);
        sigaddset(&alarm, SIGALRM);
        pthread_sigmask(SIG_BLOCK, &alarm, NULL);
        pthread_create(&beside, NULL, write_beside, &own);
        pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
        write_and_jump(fd);
        pthread_join(beside, NULL);
    }
    if (strcmp(how, "inner") == 0) {
        start_timer(jump_inside, 60);
        for (int i = 0; i < 1000000 || inner < 100; ++i) {
            if (pwrite(fd, "x", 1, 0) != 1) return 3;
            if (i >= 1000000) return 4;
        }
        stop_timer();
    }
    close(fd);
    write_known("after");
    return 0;
}
