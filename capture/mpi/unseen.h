/* Calls that order ranks in a way that is not recorded: the side file says that there were some. Only their
   arguments' number counts. All are integers, handles or pointers, which the platforms that the library runs
   on pass in registers or slots of 8 bytes: they go on to the library as they came. */
#ifndef WORKALIKE_CAPTURE_MPI_UNSEEN_H
#define WORKALIKE_CAPTURE_MPI_UNSEEN_H

#include "core/clock.h"
#include "core/export.h"
#include "mpi/abi.h"
#include "mpi/messages.h"
#include "mpi/transfer.h"

#define OPEN(...) __VA_ARGS__
#define W mpi_handle

#define UNSEEN(name, parameters, types, arguments)                                   \
    int MPI_##name parameters;                                                       \
    EXPORT int MPI_##name parameters {                                               \
        const int64_t start = message_wanted() ? clock_ns() : 0;                     \
        const int result = MPI(name, OPEN types) arguments;                          \
        if (message_wanted()) message_note(MESSAGE_UNSEEN, 0, -1, 0, start, result); \
        return result;                                                               \
    }                                                                                \
    BOTH_NAMES(name)

#define UNSEEN_1(name) UNSEEN(name, (W a), (W), (a))
#define UNSEEN_2(name) UNSEEN(name, (W a, W b), (W, W), (a, b))
#define UNSEEN_3(name) UNSEEN(name, (W a, W b, W c), (W, W, W), (a, b, c))
#define UNSEEN_5(name) UNSEEN(name, (W a, W b, W c, W d, W e), (W, W, W, W, W), (a, b, c, d, e))
#define UNSEEN_6(name) UNSEEN(name, (W a, W b, W c, W d, W e, W f), (W, W, W, W, W, W), (a, b, c, d, e, f))
#define UNSEEN_7(name) \
    UNSEEN(name, (W a, W b, W c, W d, W e, W f, W g), (W, W, W, W, W, W, W), (a, b, c, d, e, f, g))
#define UNSEEN_8(name) \
    UNSEEN(name, (W a, W b, W c, W d, W e, W f, W g, W h), (W, W, W, W, W, W, W, W), (a, b, c, d, e, f, g, h))
#define UNSEEN_9(name)                                                                       \
    UNSEEN(name, (W a, W b, W c, W d, W e, W f, W g, W h, W i), (W, W, W, W, W, W, W, W, W), \
           (a, b, c, d, e, f, g, h, i))
#define UNSEEN_10(name)                                                                              \
    UNSEEN(name, (W a, W b, W c, W d, W e, W f, W g, W h, W i, W j), (W, W, W, W, W, W, W, W, W, W), \
           (a, b, c, d, e, f, g, h, i, j))
#define UNSEEN_12(name)                                                        \
    UNSEEN(name, (W a, W b, W c, W d, W e, W f, W g, W h, W i, W j, W k, W l), \
           (W, W, W, W, W, W, W, W, W, W, W, W), (a, b, c, d, e, f, g, h, i, j, k, l))

#endif
