/* MPI calls by which ranks wait for each other, on request (WORKALIKE_CAPTURE_EVENTS): who waits for whom,
   and when. The side file has them as `messages`. */
#ifndef WORKALIKE_CAPTURE_MPI_MESSAGES_H
#define WORKALIKE_CAPTURE_MPI_MESSAGES_H

#include <stdbool.h>

#include "core/clock.h"
#include "core/memory.h"
#include "mpi/abi.h"

struct job_times;
struct log_content;

/* Who waits for whom in a call; MESSAGE_UNSEEN is a call that orders ranks in a way that is not recorded. */
enum flow {
    MESSAGE_ALL = 1,
    MESSAGE_FROM_ROOT,
    MESSAGE_TO_ROOT,
    MESSAGE_PREFIX,
    MESSAGE_SEND,
    MESSAGE_RECEIVE,
    MESSAGE_UNSEEN
};

/* A communicator: the same key on all of its ranks. */
struct group {
    uint64_t key;
    int size;
};

extern bool messages_wanted;
void messages_start(void);
void messages_after_fork(void);

/* The ranks of the communicator, and the rank in the job of its rank `peer`. Returns false for a communicator
   of one rank, and for one whose ranks are not known. */
bool message_group(mpi_handle comm, struct group* group, int* peer);

/* The rank in the job of a rank of a group; -1 if it is not known. */
int message_rank(mpi_handle members, int rank);

/* Records a call. `peer` is a rank in the job, or -1. */
void message_add(enum flow flow, struct group group, int peer, int tag, struct span span);

/* The same for a call that began at `start`; `root` is a rank of the communicator, or -1. */
void message_note(enum flow flow, mpi_handle comm, int root, int tag, int64_t start, int result);

/* The part of the side file. */
void messages_log(struct log_content* content, const struct job_times* job, int64_t rank,
                  struct buffer* part);

/* Whether to look at a call at all. */
static inline bool message_wanted(void) {
    return __builtin_expect(messages_wanted, 0);
}

#endif
