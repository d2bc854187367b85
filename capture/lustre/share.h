/* One LUSTRE record for a file that all ranks have. */
#ifndef WORKALIKE_CAPTURE_LUSTRE_SHARE_H
#define WORKALIKE_CAPTURE_LUSTRE_SHARE_H

#include "log/log.h"
#include "mpi/abi.h"

/* Collective over all ranks of a job. */
void lustre_share(struct log_content* content, mpi_handle comm, int rank);

#endif
