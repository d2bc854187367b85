/* One process: an output file of 16 fwrite calls of 50,000 bytes, without a buffer, and a log of 40 lines. */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char* data = calloc(1, 50000);
    FILE* output = fopen("output.bin", "w");
    FILE* log = fopen("run.log", "w");
    if (!output || !log || !data) return 1;
    setvbuf(output, NULL, _IONBF, 0);
    for (int i = 0; i < 16; i++)
        if (fwrite(data, 1, 50000, output) != 50000) return 1;
    for (int i = 0; i < 40; i++) fprintf(log, "step %4d done\n", i);
    free(data);
    return fclose(output) || fclose(log);
}
