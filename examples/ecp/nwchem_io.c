/* NWChem's scratch files: each rank writes its integrals to a file of its own and reads them in each
   iteration; rank 0 keeps a database of the run, which the others read. As found: the scratch files are in
   the working folder. As advised: they are on the node, where TMPDIR says, and rank 0 sends the others what
   it has from the database. SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <unistd.h>

#include "common.h"

enum { ITERATIONS = 3, RECORDS = 600, RECORD = 1 << 19, SETTINGS = 16, SETTING = 4096 };

static char record[RECORD];

static void write_integrals(int file) {
    for (int i = 0; i < RECORDS; ++i) CHECK(write(file, record, RECORD));
}

static void read_integrals(int file) {
    CHECK(lseek(file, 0, SEEK_SET));
    for (int i = 0; i < RECORDS; ++i) CHECK(read(file, record, RECORD));
}

/* One setting: written by rank 0, and used by all. */
static void exchange(int database, int which) {
    char setting[SETTING] = {0};
    if (rank == 0) CHECK(pwrite(database, setting, SETTING, (off_t)which * SETTING));
    if (advised) {
        MPI_Bcast(setting, SETTING, MPI_BYTE, 0, MPI_COMM_WORLD);
        return;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(pread(database, setting, SETTING, (off_t)which * SETTING));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int count, char** arguments) {
    start(&count, &arguments);
    char name[512];
    const char* folder = advised ? getenv("TMPDIR") : ".";
    snprintf(name, sizeof name, "%s/water.aoints.%03d", folder != NULL ? folder : "/tmp", rank);
    int scratch = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
    CHECK(scratch);
    int database = advised && rank != 0 ? -1 : open("water.db", O_CREAT | O_RDWR, 0600);
    if (!advised || rank == 0) CHECK(database);
    for (int i = 0; i < SETTINGS; ++i) exchange(database, i);
    write_integrals(scratch);
    for (int i = 0; i < ITERATIONS; ++i) {
        read_integrals(scratch);
        exchange(database, i);
    }
    CHECK(close(scratch));
    CHECK(unlink(name));
    if (database >= 0) CHECK(close(database));
    MPI_Finalize();
    return 0;
}
