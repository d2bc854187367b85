/* Writes to descriptors that this process has not opened by a path: as argument 1 says, to standard output
   and its copy, or to one that it gets over a socket. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static void write_ten(int fd) {
    if (write(fd, "0123456789", 10) != 10) abort();
}

union control {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr header;
};

static struct msghdr message(struct iovec* data, union control* control) {
    struct msghdr out = {.msg_iov = data, .msg_iovlen = 1};
    out.msg_control = control->room;
    out.msg_controllen = sizeof control->room;
    return out;
}

static void send_descriptor(int over, int fd) {
    char byte = 'x';
    struct iovec data = {&byte, 1};
    union control control = {{0}};
    struct msghdr out = message(&data, &control);
    control.header.cmsg_len = CMSG_LEN(sizeof fd);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&out)), &fd, sizeof fd);
    if (sendmsg(over, &out, 0) != 1) abort();
}

static int receive_descriptor(int over) {
    char byte;
    struct iovec data = {&byte, 1};
    union control control = {{0}};
    struct msghdr in = message(&data, &control);
    int fd;
    if (recvmsg(over, &in, 0) != 1) abort();
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&in)), sizeof fd);
    return fd;
}

int main(int count, char** arguments) {
    const char* how = count > 1 ? arguments[1] : "";
    if (!strcmp(how, "copies")) {
        write_ten(1);
        write_ten(2); /* a copy of the same descriptor: it goes on where the other has stopped */
        write_ten(1);
    } else if (!strcmp(how, "read")) {
        char memory[7];
        while (read(0, memory, sizeof memory) > 0) {
        }
    } else if (!strcmp(how, "socket")) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
        const int opened = open("sent", O_CREAT | O_WRONLY, 0600);
        write_ten(opened);
        send_descriptor(ends[0], opened);
        close(opened);
        const int received = receive_descriptor(ends[1]);
        write_ten(received);
        write_ten(received);
        fsync(received);
    }
    return 0;
}
