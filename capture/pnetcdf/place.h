/* What a transfer of PnetCDF says about its place in a file, and the types in memory for which each kind of
   transfer has a function of its own. */
#ifndef WORKALIKE_CAPTURE_PNETCDF_PLACE_H
#define WORKALIKE_CAPTURE_PNETCDF_PLACE_H

#include "mpi/abi.h"
#include "pnetcdf/record.h"

/* In the order of the log's counters. */
enum kind { VAR, VAR1, VARA, VARS, VARM, VARN, VARD };

/* What a call says: which variable, and where in it. What a kind does not say is NULL. */
struct place {
    int file, variable;
    enum kind kind;
    const mpi_count *start, *count, *stride;
    int arrays; /* of VARN */
    const mpi_count *const *starts, *const *counts;
    mpi_handle type; /* of VARD: the bytes of the file */
};

/* Counts a call on one variable: `how` and the counter of its kind, of which `first_call` is the first. */
void pnetcdf_count_place(const struct place* place, enum pnetcdf_var_counter how,
                         enum pnetcdf_var_counter first_call, struct span span);

/* wrap(name, tail, how, first_call) for the flexible function and those of each type. */
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
