"""What stands before each program: its parameters, errors, payload and random numbers."""

from __future__ import annotations

C_PRELUDE = r"""
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#if ZOO_MPI
#include <mpi.h>
static int rank, ranks;
#endif
#if ZOO_HDF5
#include <hdf5.h>
#endif

static int argument_count;
static char **arguments;

/* The value of a parameter NAME=VALUE. */
static const char *word(const char *name)
{
    size_t length = strlen(name);
    for (int i = 1; i < argument_count; i++)
        if (!strncmp(arguments[i], name, length) && arguments[i][length] == '=')
            return arguments[i] + length + 1;
    fprintf(stderr, "no parameter %s\n", name);
    exit(90);
}

static long get(const char *name)
{
    return atol(word(name));
}

/* A call that must not fail. */
#define NEED(call)                                                                                                     \
    ({                                                                                                                 \
        long result_ = (long)(call);                                                                                   \
        if (result_ < 0) {                                                                                             \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, strerror(errno));                                    \
            exit(91);                                                                                                  \
        }                                                                                                              \
        result_;                                                                                                       \
    })
#define HAVE(pointer)                                                                                                  \
    ({                                                                                                                 \
        __typeof__(pointer) result_ = (pointer);                                                                       \
        if (!result_) {                                                                                                \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #pointer, strerror(errno));                                 \
            exit(92);                                                                                                  \
        }                                                                                                              \
        result_;                                                                                                       \
    })

static unsigned long long state = 88172645463325252ULL;

static void seed(unsigned long long value)
{
    state = (value + 1) * 0x9E3779B97F4A7C15ULL;
    if (!state)
        state = 1;
}

/* A random number below a bound. */
static long below(long bound)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (long)((state >> 11) % (unsigned long long)bound);
}

/* The numbers 0 to count - 1 in random order. */
static long *shuffled(long count)
{
    long *order = HAVE(malloc((size_t)count * sizeof *order));
    for (long i = 0; i < count; i++)
        order[i] = i;
    for (long i = count - 1; i > 0; i--) {
        long other = below(i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    return order;
}

/* Memory of a size in bytes, with some content. */
static char *block(long size)
{
    char *memory = HAVE(malloc((size_t)size + 1));
    for (long i = 0; i < size; i++)
        memory[i] = (char)(i * 131 + (i >> 9));
    memory[size] = 0;
    return memory;
}

/* A formatted name; eight of them live at a time. */
static const char *name(const char *format, ...)
{
    static char names[8][512];
    static int next;
    char *place = names[next++ % 8];
    va_list values;
    va_start(values, format);
    vsnprintf(place, sizeof names[0], format, values);
    va_end(values);
    return place;
}

/* What the program computes between its operations, in milliseconds. */
static void compute(long milliseconds)
{
    usleep((useconds_t)milliseconds * 1000);
}

static void run(void);

int main(int argc, char **argv)
{
    argument_count = argc;
    arguments = argv;
    seed((unsigned long long)get("seed"));
#if ZOO_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#endif
    (void)below;
    (void)shuffled;
    (void)block;
    (void)name;
    (void)compute;
    run();
#if ZOO_MPI
    MPI_Finalize();
#endif
    return 0;
}
"""

PYTHON_PRELUDE = r"""
import os
import random
import sys
import time
from types import SimpleNamespace

p = SimpleNamespace()
for _pair in sys.argv[1:]:
    _name, _, _value = _pair.partition("=")
    setattr(p, _name, int(_value) if _value.lstrip("-").isdigit() else _value)
rng = random.Random(p.seed)
"""


def full_source(compiler: str, source: str) -> str:
    """The whole text of a program."""
    if compiler == "python":
        return PYTHON_PRELUDE + source
    if compiler == "gfortran":
        return source
    flags = f"#define ZOO_MPI {int(compiler != 'cc')}\n#define ZOO_HDF5 {int(compiler == 'h5pcc')}\n"
    return flags + C_PRELUDE + source
