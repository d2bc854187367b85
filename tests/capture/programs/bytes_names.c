/* Files, streams and arguments whose names are not UTF-8. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    const int fd = open("caf\xe9", O_CREAT | O_WRONLY, 0600);
    if (write(fd, "0123456789", 10) != 10) return 3;
    close(fd);
    const int good = open("caf\xc3\xa9", O_CREAT | O_WRONLY, 0600);
    if (write(good, "01234", 5) != 5) return 3;
    close(good);
    FILE* stream = fopen("cut \xe2\x82", "w");
    fputs("abc", stream);
    fclose(stream);
    return 0;
}
