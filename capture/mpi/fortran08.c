/* The bindings of `use mpi_f08`, with the names of Open MPI. */
#ifdef CAPTURE_STATIC
#define SUFFIX _f08_
#include "mpi/fortran.h"
#endif
