/* PnetCDF's transfers of several variables in one call (ncmpi_mput_..., ncmpi_mget_...). Each variable
   counts one call of the kind, with an equal share of the time. */
#include <stddef.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/keep_errno.h"
#include "pnetcdf/api.h"
#include "pnetcdf/open.h"
#include "pnetcdf/place.h"

typedef const mpi_count* const* places; /* one array for each variable */

/* The places of all variables of a call. What its kind does not have is NULL. */
struct several {
    int file, count;
    const int* variables;
    enum kind kind;
    places starts, counts, strides;
};

static struct span share_of(struct span whole, int part, int parts) {
    const double length = (whole.end - whole.start) / parts;
    return (struct span){whole.start + part * length, whole.start + (part + 1) * length};
}

static int end(const struct several* all, enum pnetcdf_var_counter how, enum pnetcdf_var_counter first_call,
               int64_t start, int result) {
    if (result != PNETCDF_DONE || !pnetcdf_open_file(all->file) || !guard_enter()) return result;
    KEEP_ERRNO();
    pnetcdf_enter();
    const struct span span = clock_span(start);
    for (int i = 0; i < all->count; ++i) {
        const struct place place = {
            .file = all->file,
            .variable = all->variables[i],
            .kind = all->kind,
            .start = all->starts ? all->starts[i] : NULL,
            .count = all->counts ? all->counts[i] : NULL,
            .stride = all->strides ? all->strides[i] : NULL,
        };
        pnetcdf_count_place(&place, how, first_call, share_of(span, i, all->count));
    }
    --pnetcdf_depth;
    guard_leave();
    return result;
}

#define WRAP(name, how, first_call, parameters, arguments, ...)                                        \
    int ncmpi_##name parameters;                                                                       \
    EXPORT int ncmpi_##name parameters {                                                               \
        const int64_t start_ns = clock_ns();                                                           \
        const int outer = pnetcdf_enter();                                                             \
        const int result = PNETCDF(name, parameters) arguments;                                        \
        --pnetcdf_depth;                                                                               \
        const struct several all = {.file = file, .count = many, .variables = variables, __VA_ARGS__}; \
        return outer ? result : end(&all, how, first_call, start_ns, result);                          \
    }                                                                                                  \
    _Static_assert(1, "")

/* The arguments after the memory: none for a typed call, counts and types for the flexible one. */
#define PARAMETERS_TYPED
#define ARGUMENTS_TYPED
#define PARAMETERS_FLEXIBLE , const mpi_count *amounts, const void *memory_types
#define ARGUMENTS_FLEXIBLE , amounts, memory_types

#define WRAP_VAR(name, tail, how, first_call)                                                         \
    WRAP(name, how, first_call, (int file, int many, int* variables, void* memory PARAMETERS_##tail), \
         (file, many, variables, memory ARGUMENTS_##tail), .kind = VAR)
#define WRAP_VAR1(name, tail, how, first_call)                                                \
    WRAP(name, how, first_call,                                                               \
         (int file, int many, int* variables, places starts, void* memory PARAMETERS_##tail), \
         (file, many, variables, starts, memory ARGUMENTS_##tail), .kind = VAR1, .starts = starts)
#define WRAP_VARA(name, tail, how, first_call)                                                               \
    WRAP(name, how, first_call,                                                                              \
         (int file, int many, int* variables, places starts, places counts, void* memory PARAMETERS_##tail), \
         (file, many, variables, starts, counts, memory ARGUMENTS_##tail), .kind = VARA, .starts = starts,   \
         .counts = counts)
#define WRAP_VARS(name, tail, how, first_call)                                                    \
    WRAP(name, how, first_call,                                                                   \
         (int file, int many, int* variables, places starts, places counts, places strides,       \
          void* memory PARAMETERS_##tail),                                                        \
         (file, many, variables, starts, counts, strides, memory ARGUMENTS_##tail), .kind = VARS, \
         .starts = starts, .counts = counts, .strides = strides)
#define WRAP_VARM(name, tail, how, first_call)                                                           \
    WRAP(name, how, first_call,                                                                          \
         (int file, int many, int* variables, places starts, places counts, places strides, places maps, \
          void* memory PARAMETERS_##tail),                                                               \
         (file, many, variables, starts, counts, strides, maps, memory ARGUMENTS_##tail), .kind = VARM,  \
         .starts = starts, .counts = counts, .strides = strides)

#define KINDS(verb, suffix, how, first_call)                  \
    TYPES(WRAP_VAR, verb##_var, suffix, , how, first_call);   \
    TYPES(WRAP_VAR1, verb##_var1, suffix, , how, first_call); \
    TYPES(WRAP_VARA, verb##_vara, suffix, , how, first_call); \
    TYPES(WRAP_VARS, verb##_vars, suffix, , how, first_call); \
    TYPES(WRAP_VARM, verb##_varm, suffix, , how, first_call)

KINDS(mput, , PNETCDF_VAR_INDEP_WRITES, PNETCDF_VAR_PUT);
KINDS(mput, _all, PNETCDF_VAR_COLL_WRITES, PNETCDF_VAR_PUT);
KINDS(mget, , PNETCDF_VAR_INDEP_READS, PNETCDF_VAR_GET);
KINDS(mget, _all, PNETCDF_VAR_COLL_READS, PNETCDF_VAR_GET);
