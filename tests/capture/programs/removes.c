/* Removes two files and a folder; kills itself afterwards if KILL is set. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
    const char* const files[] = {"first", "second"};
    for (int i = 0; i < 2; ++i) close(open(files[i], O_CREAT | O_WRONLY, 0600));
    if (mkdir("folder", 0700) || rmdir("folder") || unlink("first") || unlinkat(AT_FDCWD, "second", 0)) return 3;
    if (unlink("missing") == 0) return 4; /* failed calls are not counted */
    if (getenv("KILL")) raise(SIGKILL);
    return 0;
}
