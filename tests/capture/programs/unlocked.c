/* Streams through functions without locks, which a compiler can put into the program; test_unlocked.py has the
   expected counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char memory[65536];

static void must(int condition) {
    if (!condition) abort();
}

int main(void) {
    FILE* file = fopen("elements", "w");
    for (int i = 0; i < 1000; ++i) must(fwrite_unlocked(memory, 1, 100, file) == 100);
    must(fputs_unlocked("abc\n", file) >= 0);
    must(putc_unlocked('x', file) == 'x'); /* fits into the buffer: no call shows it before the close */
    must(fclose(file) == 0);

    file = fopen("elements", "r");
    size_t got, all = 0;
    while ((got = fread_unlocked(memory, 1, 30000, file)) > 0) all += got;
    must(all == 100005);
    must(fclose(file) == 0);

    file = fopen("characters", "w");
    for (int i = 0; i < 20000; ++i) must(putc_unlocked('a' + i % 26, file) != EOF);
    must(fflush_unlocked(file) == 0);
    for (int i = 0; i < 7; ++i) must(fputc_unlocked('z', file) != EOF);
    must(fseek(file, 30000, SEEK_SET) == 0);
    must(fputc_unlocked('e', file) == 'e');
    must(fclose(file) == 0);

    file = fopen("characters", "r");
    int count = 0;
    while (getc_unlocked(file) != EOF && count < 10000) ++count;
    must(fseek(file, 0, SEEK_SET) == 0);
    must(fgets_unlocked(memory, 101, file) != NULL && strlen(memory) == 100);
    must(ungetc('!', file) == '!');
    must(getc_unlocked(file) == '!');
    must(getc_unlocked(file) == 'a' + 100 % 26);
    must(fclose(file) == 0);

    file = fopen("left", "w"); /* is not closed */
    for (int i = 0; i < 10; ++i) must(putc_unlocked('l', file) == 'l');
    return 0;
}
