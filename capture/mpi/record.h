/* The MPI-IO counters of one file. */
#ifndef WORKALIKE_CAPTURE_MPIIO_RECORD_H
#define WORKALIKE_CAPTURE_MPIIO_RECORD_H

#include "core/clock.h"
#include "core/mapping.h"
#include "log/trace.h"
#include "mpi/layout.h"

struct mpiio_record {
    struct entry head;
    double read_end, write_end, meta_end;
    struct mpiio_history history;
    struct trace_chains traces;
    struct mpiio_stored log;
};

/* The record of a file by the name given to MPI; NULL if it is not counted. */
struct mpiio_record* mpiio_record_of(const char* path);

void mpiio_count_open(struct mpiio_record* record, bool collective, int mode, bool hints, struct span span);
void mpiio_count_close(struct mpiio_record* record, struct span span);
void mpiio_count_sync(struct mpiio_record* record, struct span span);
void mpiio_count_view(struct mpiio_record* record, bool hints, struct span span);

/* `counter` is one of MPIIO_INDEP_READS ... MPIIO_NB_WRITES; reads are even, writes odd. */
/* For a call without an offset, which uses the view or pointer of the file. */
enum { NO_OFFSET = -1 };
void mpiio_count_transfer(struct mpiio_record* record, enum mpiio_counter counter, int64_t offset,
                          int64_t size, struct span span);

#endif
