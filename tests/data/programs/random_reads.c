/* One process: 64 reads of 4,096 bytes at offsets that jump through a file of 4 MiB, each page at most once. Recorded with a
   trace. The file is made by another run ("prepare"). */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 4096, PAGES = 1024, READS = 64, STEP = 421 };

int main(int argc, char** argv) {
    static char data[SIZE];
    if (argc > 1 && strcmp(argv[1], "prepare") == 0) {
        int made = open("table.dat", O_CREAT | O_WRONLY, 0644);
        return ftruncate(made, (off_t)PAGES * SIZE) || close(made);
    }
    int file = open("table.dat", O_RDONLY);
    for (int i = 0; i < READS; i++)
        if (pread(file, data, SIZE, (off_t)(i * STEP % PAGES) * SIZE) != SIZE) return 1;
    return close(file);
}
