/* PnetCDF's transfers: every kind of call (whole variable, one element, array, strided, mapped, several
   arrays, MPI type) for every type in memory, blocking and nonblocking. They differ only in how they
   describe the place in the file. */
#include <string.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/keep_errno.h"
#include "core/process.h"
#include "core/records.h"
#include "pnetcdf/api.h"
#include "pnetcdf/open.h"
#include "pnetcdf/place.h"

static int64_t product(const mpi_count* count, int64_t dimensions) {
    int64_t elements = 1;
    for (int64_t i = 0; count && i < dimensions; ++i) elements *= count[i];
    return elements;
}

/* A whole variable has as many records as the file has now. */
static int64_t records_of(int file) {
    int dimension = -1;
    mpi_count records = 0;
    if (PNETCDF_ASK(inq_unlimdim, (int, int*))(file, &dimension) != PNETCDF_DONE || dimension < 0) return 0;
    PNETCDF_ASK(inq_dimlen, (int, int, mpi_count*))(file, dimension, &records);
    return records;
}

/* The lengths and strides of the last five dimensions, the slowest first. */
static void fill_slab(const struct pnetcdf_shape* shape, const struct place* place, int64_t records,
                      int64_t* slab) {
    const int64_t skipped = shape->dimensions > SLAB_DIMS ? shape->dimensions - SLAB_DIMS : 0;
    for (int64_t i = skipped; i < shape->dimensions; ++i) {
        int64_t length = 1;
        if (place->count) length = place->count[i];
        if (place->kind == VAR) length = shape->length[i - skipped];
        if (place->kind == VAR && i == 0 && shape->records) length = records;
        slab[1 + i - skipped] = length;
        slab[1 + SLAB_DIMS + i - skipped] = place->stride ? place->stride[i] : 1;
    }
}

static int64_t last_record(const mpi_count* start, const mpi_count* count, const mpi_count* stride) {
    const int64_t more = count ? (count[0] - 1) * (stride ? stride[0] : 1) : 0;
    return start ? start[0] + more + 1 : 0;
}

/* Several arrays have no single length; only their bytes are known. */
static int64_t elements_of_arrays(const struct place* place, int64_t dimensions, int64_t* records) {
    int64_t elements = 0;
    for (int i = 0; i < place->arrays; ++i) {
        const mpi_count* count = place->counts ? place->counts[i] : NULL;
        const int64_t last = dimensions ? last_record(place->starts[i], count, NULL) : 0;
        elements += product(count, dimensions);
        if (last > *records) *records = last;
    }
    return elements;
}

static void describe(const struct pnetcdf_shape* shape, const struct place* place,
                     struct pnetcdf_access* access) {
    const int64_t dimensions = shape->dimensions, size = shape->type_size;
    if (place->kind == VARD) {
        MPI(Type_size_x, mpi_handle, mpi_count*)(place->type, &access->slab[0]);
    } else if (place->kind == VARN) {
        access->slab[0] = size * elements_of_arrays(place, dimensions, &access->records);
    } else if (place->kind == VAR) {
        if (shape->records) access->records = records_of(place->file);
        access->slab[0] = size * shape->points * (shape->records ? access->records : 1);
        fill_slab(shape, place, access->records, access->slab);
    } else {
        if (dimensions) access->records = last_record(place->start, place->count, place->stride);
        access->slab[0] = size * product(place->count, dimensions);
        fill_slab(shape, place, 0, access->slab);
    }
}

void pnetcdf_count_place(const struct place* place, enum pnetcdf_var_counter how,
                         enum pnetcdf_var_counter first_call, struct span span) {
    char name[PNETCDF_NAME + 1];
    struct pnetcdf_access access = {.how = how, .call = first_call + place->kind};
    struct pnetcdf_var_record* record = pnetcdf_open_variable(place->file, place->variable, span);
    if (!record) return;
    struct pnetcdf_shape shape = record->shape;
    if (records_is_others(&record->head)) pnetcdf_ask_shape(place->file, place->variable, name, &shape);
    describe(&shape, place, &access);
    pnetcdf_var_count_access(record, &access, span);
}

static int end(const struct place* place, enum pnetcdf_var_counter how, enum pnetcdf_var_counter first_call,
               int64_t start, int result) {
    if (result != PNETCDF_DONE || !pnetcdf_open_file(place->file) || !guard_enter()) return result;
    KEEP_ERRNO();
    pnetcdf_enter();
    pnetcdf_count_place(place, how, first_call, clock_span(start));
    --pnetcdf_depth;
    guard_leave();
    return result;
}

#define WRAP(name, how, first_call, parameters, arguments, ...)                       \
    int ncmpi_##name parameters;                                                      \
    EXPORT int ncmpi_##name parameters {                                              \
        const int64_t start_ns = clock_ns();                                          \
        const int outer = pnetcdf_enter();                                            \
        const int result = PNETCDF(name, parameters) arguments;                       \
        --pnetcdf_depth;                                                              \
        const struct place place = {.file = file, .variable = variable, __VA_ARGS__}; \
        return outer ? result : end(&place, how, first_call, start_ns, result);       \
    }                                                                                 \
    _Static_assert(1, "")

/* The arguments after the memory: none for a typed call, count and type for the flexible one, and a
   request for nonblocking ones. */
#define PARAMETERS_TYPED
#define ARGUMENTS_TYPED
#define PARAMETERS_FLEXIBLE , mpi_count amount, mpi_handle memory_type
#define ARGUMENTS_FLEXIBLE , amount, memory_type
#define PARAMETERS_TYPED_LATER , int* request
#define ARGUMENTS_TYPED_LATER , request
#define PARAMETERS_FLEXIBLE_LATER , mpi_count amount, mpi_handle memory_type, int *request
#define ARGUMENTS_FLEXIBLE_LATER , amount, memory_type, request

#define WRAP_VAR(name, tail, how, first_call)                                             \
    WRAP(name, how, first_call, (int file, int variable, void* memory PARAMETERS_##tail), \
         (file, variable, memory ARGUMENTS_##tail), .kind = VAR)
#define WRAP_VAR1(name, tail, how, first_call)                                             \
    WRAP(name, how, first_call,                                                            \
         (int file, int variable, const mpi_count* start, void* memory PARAMETERS_##tail), \
         (file, variable, start, memory ARGUMENTS_##tail), .kind = VAR1, .start = start)
#define WRAP_VARA(name, tail, how, first_call)                                                  \
    WRAP(name, how, first_call,                                                                 \
         (int file, int variable, const mpi_count* start, const mpi_count* count,               \
          void* memory PARAMETERS_##tail),                                                      \
         (file, variable, start, count, memory ARGUMENTS_##tail), .kind = VARA, .start = start, \
         .count = count)
#define WRAP_VARS(name, tail, how, first_call)                                                             \
    WRAP(name, how, first_call,                                                                            \
         (int file, int variable, const mpi_count* start, const mpi_count* count, const mpi_count* stride, \
          void* memory PARAMETERS_##tail),                                                                 \
         (file, variable, start, count, stride, memory ARGUMENTS_##tail), .kind = VARS, .start = start,    \
         .count = count, .stride = stride)
#define WRAP_VARM(name, tail, how, first_call)                                                               \
    WRAP(name, how, first_call,                                                                              \
         (int file, int variable, const mpi_count* start, const mpi_count* count, const mpi_count* stride,   \
          const mpi_count* map, void* memory PARAMETERS_##tail),                                             \
         (file, variable, start, count, stride, map, memory ARGUMENTS_##tail), .kind = VARM, .start = start, \
         .count = count, .stride = stride)
#define WRAP_VARN(name, tail, how, first_call)                                                              \
    WRAP(name, how, first_call,                                                                             \
         (int file, int variable, int arrays, const mpi_count* const* starts,                               \
          const mpi_count* const* counts, void* memory PARAMETERS_##tail),                                  \
         (file, variable, arrays, starts, counts, memory ARGUMENTS_##tail), .kind = VARN, .arrays = arrays, \
         .starts = starts, .counts = counts)
#define WRAP_VARD(name, how, first_call)                                                                     \
    WRAP(name, how, first_call, (int file, int variable, mpi_handle type, void* memory PARAMETERS_FLEXIBLE), \
         (file, variable, type, memory ARGUMENTS_FLEXIBLE), .kind = VARD, .type = type)

#define KINDS(verb, suffix, later, how, first_call)                \
    TYPES(WRAP_VAR, verb##_var, suffix, later, how, first_call);   \
    TYPES(WRAP_VAR1, verb##_var1, suffix, later, how, first_call); \
    TYPES(WRAP_VARA, verb##_vara, suffix, later, how, first_call); \
    TYPES(WRAP_VARS, verb##_vars, suffix, later, how, first_call); \
    TYPES(WRAP_VARM, verb##_varm, suffix, later, how, first_call); \
    TYPES(WRAP_VARN, verb##_varn, suffix, later, how, first_call)

KINDS(put, , , PNETCDF_VAR_INDEP_WRITES, PNETCDF_VAR_PUT);
KINDS(put, _all, , PNETCDF_VAR_COLL_WRITES, PNETCDF_VAR_PUT);
KINDS(get, , , PNETCDF_VAR_INDEP_READS, PNETCDF_VAR_GET);
KINDS(get, _all, , PNETCDF_VAR_COLL_READS, PNETCDF_VAR_GET);
KINDS(iput, , _LATER, PNETCDF_VAR_NB_WRITES, PNETCDF_VAR_IPUT);
KINDS(iget, , _LATER, PNETCDF_VAR_NB_READS, PNETCDF_VAR_IGET);
KINDS(bput, , _LATER, PNETCDF_VAR_NB_WRITES, PNETCDF_VAR_BPUT);
WRAP_VARD(put_vard, PNETCDF_VAR_INDEP_WRITES, PNETCDF_VAR_PUT);
WRAP_VARD(put_vard_all, PNETCDF_VAR_COLL_WRITES, PNETCDF_VAR_PUT);
WRAP_VARD(get_vard, PNETCDF_VAR_INDEP_READS, PNETCDF_VAR_GET);
WRAP_VARD(get_vard_all, PNETCDF_VAR_COLL_READS, PNETCDF_VAR_GET);
