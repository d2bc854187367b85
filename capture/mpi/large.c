/* MPI-IO's transfers of MPI 4 with large counts (_c). */
#include <stddef.h>

#include "mpi/transfer.h"

ALL(read, READS, _c, mpi_count);
ALL(write, WRITES, _c, mpi_count);
