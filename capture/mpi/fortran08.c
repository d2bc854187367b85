/* The bindings of `use mpi_f08`, as Open MPI names them. */
#ifdef CAPTURE_STATIC
#define SUFFIX _f08_
#include "mpi/fortran.h"
#endif
