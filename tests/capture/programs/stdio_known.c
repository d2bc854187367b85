/* Known operations of streams; test_stdio.py has the expected counters. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char memory[10000];

static void must(int condition) {
    if (!condition) abort();
}

int main(void) {
    FILE* file = fopen("written", "w");
    must(fwrite(memory, 100, 30, file) == 30);
    must(fprintf(file, "%05d\n", 42) == 6);
    must(fputs("hello", file) >= 0);
    must(fputc('x', file) == 'x');
    must(putc('y', file) == 'y');
    must(fflush(file) == 0);
    must(fseek(file, 5000, SEEK_SET) == 0);
    must(fwrite("z", 1, 1, file) == 1);
    must(fclose(file) == 0);

    file = fopen64("written", "r");
    must(fread(memory, 1, 1000, file) == 1000);
    must(fseeko(file, 3000, SEEK_SET) == 0);
    must(fgets(memory, 100, file) && !strcmp(memory, "00042\n"));
    must(fgetc(file) == 'h');
    rewind(file);
    must(fread(memory, 1, sizeof memory, file) == 5001);
    must(fread(memory, 1, 10, file) == 0); /* the end of the file */
    must(fclose(file) == 0);

    file = fopen("written", "a");
    must(fwrite(memory, 1, 99, file) == 99);
    must(fclose(file) == 0);

    file = fopen("numbers", "w+");
    must(fputs("1 22 333\n", file) >= 0);
    rewind(file);
    int first, second;
    must(fscanf(file, "%d %d", &first, &second) == 2);
    must(fclose(file) == 0);

    int fd = open("through", O_CREAT | O_RDWR, 0600);
    file = fdopen(fd, "w");
    must(fwrite(memory, 1, 10, file) == 10);
    must(fclose(file) == 0);

    file = fopen("below", "w");
    must(write(fileno(file), memory, 20) == 20);
    must(fclose(file) == 0);

    must(fopen("no/such", "r") == NULL);
    printf("out %d\n", 1);
    puts("line");
    fprintf(stderr, "err\n");
    char line[10];
    must(fgets(line, 10, stdin) != NULL);
    return 0;
}
