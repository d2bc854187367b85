/* How a transfer of PnetCDF describes its place in a file. Also the types in memory: each kind of transfer
   has a function for each of them. */
#ifndef WORKALIKE_CAPTURE_PNETCDF_PLACE_H
#define WORKALIKE_CAPTURE_PNETCDF_PLACE_H

#include "mpi/abi.h"
#include "pnetcdf/record.h"

/* In the order of the counters in the log. */
enum kind { VAR, VAR1, VARA, VARS, VARM, VARN, VARD };

/* The variable of a call and the place in it. What a kind does not have is NULL. */
struct place {
    int file, variable;
    enum kind kind;
    const mpi_count *start, *count, *stride;
    int arrays; /* number of arrays, for VARN */
    const mpi_count *const *starts, *const *counts;
    mpi_handle type; /* for VARD: the bytes in the file */
};

/* Counts a call on one variable: `how`, and the counter of its kind; `first_call` is the first of those. */
void pnetcdf_count_place(const struct place* place, enum pnetcdf_var_counter how,
                         enum pnetcdf_var_counter first_call, struct span span);

/* Expands to wrap(name, tail, how, first_call) for the flexible function and for the function of each
   type. */
#define TYPES(wrap, base, suffix, later, how, first_call)         \
    wrap(base##suffix, FLEXIBLE##later, how, first_call);         \
    wrap(base##_text##suffix, TYPED##later, how, first_call);     \
    wrap(base##_schar##suffix, TYPED##later, how, first_call);    \
    wrap(base##_uchar##suffix, TYPED##later, how, first_call);    \
    wrap(base##_short##suffix, TYPED##later, how, first_call);    \
    wrap(base##_ushort##suffix, TYPED##later, how, first_call);   \
    wrap(base##_int##suffix, TYPED##later, how, first_call);      \
    wrap(base##_uint##suffix, TYPED##later, how, first_call);     \
    wrap(base##_long##suffix, TYPED##later, how, first_call);     \
    wrap(base##_float##suffix, TYPED##later, how, first_call);    \
    wrap(base##_double##suffix, TYPED##later, how, first_call);   \
    wrap(base##_longlong##suffix, TYPED##later, how, first_call); \
    wrap(base##_ulonglong##suffix, TYPED##later, how, first_call)

#endif
