/* The bindings of mpif.h and `use mpi`. */
#ifdef CAPTURE_STATIC
#define SUFFIX _
#include "mpi/fortran.h"
#endif
