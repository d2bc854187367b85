/* MPI 4: exchanges that do not block. */
#include "mpi/unseen.h"

UNSEEN_9(Isendrecv_replace);
UNSEEN_12(Isendrecv);
