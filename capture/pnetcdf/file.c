/* PnetCDF files and the definitions of their variables. */
#include <stddef.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/handle_table.h"
#include "core/keep_errno.h"
#include "core/loaded.h"
#include "core/process.h"
#include "pnetcdf/api.h"
#include "pnetcdf/open.h"

_Thread_local int pnetcdf_depth;
_Thread_local uintptr_t pnetcdf_place;

static struct handle_table files, variables;

#ifndef CAPTURE_STATIC
static int unavailable(void) {
    return -1;
}

void* pnetcdf_lookup(const char* name, _Atomic(void*)* slot) {
    void* found = loaded_symbol("libpnetcdf", name);
    if (!found) found = (void*)(size_t)&unavailable;
    atomic_store_explicit(slot, found, memory_order_relaxed);
    return found;
}
#endif

/* The handle is neither 0 nor -1, which a table of handles reserves. */
static intptr_t file_handle(int file) {
    return (intptr_t)file + 1;
}

static intptr_t variable_handle(int file, int variable) {
    return ((intptr_t)file + 1) << 32 | (uint32_t)(variable + 1);
}

struct pnetcdf_file_record* pnetcdf_open_file(int file) {
    return handle_find(&files, file_handle(file));
}

/* The bytes of an element of each external type, by PnetCDF's numbers. */
static int64_t type_size(int type) {
    static const int8_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return type > 0 && type < (int)sizeof sizes ? sizes[type] : 0;
}

enum { DIMENSIONS = 1024 /* PnetCDF allows more; variables that have more are not counted */ };

bool pnetcdf_ask_shape(int file, int variable, char name[PNETCDF_NAME + 1], struct pnetcdf_shape* shape) {
    int type = 0, count = 0, unlimited = -1, dimension[DIMENSIONS];
    *shape = (struct pnetcdf_shape){.points = 1};
    if (PNETCDF_ASK(inq_varndims, (int, int, int*))(file, variable, &count) != PNETCDF_DONE ||
        count > DIMENSIONS)
        return false;
    if (PNETCDF_ASK(inq_var, (int, int, char*, int*, int*, int*, int*))(file, variable, name, &type, &count,
                                                                        dimension, NULL) != PNETCDF_DONE)
        return false;
    PNETCDF_ASK(inq_unlimdim, (int, int*))(file, &unlimited);
    shape->dimensions = count;
    shape->type_size = type_size(type);
    shape->records = count > 0 && unlimited >= 0 && dimension[0] == unlimited;
    for (int i = 0; i < count; ++i) {
        mpi_count length = 1;
        if (i || !shape->records)
            PNETCDF_ASK(inq_dimlen, (int, int, mpi_count*))(file, dimension[i], &length);
        shape->points *= length;
        const int place = i - (count > SLAB_DIMS ? count - SLAB_DIMS : 0);
        if (place >= 0) shape->length[place] = length;
    }
    return true;
}

static struct pnetcdf_var_record* open_variable(int file, int variable, struct span span) {
    char name[PNETCDF_NAME + 1] = "";
    struct pnetcdf_shape shape;
    struct pnetcdf_file_record* owner = pnetcdf_open_file(file);
    if (!owner || !pnetcdf_ask_shape(file, variable, name, &shape)) return NULL;
    struct pnetcdf_var_record* record = pnetcdf_var_record_of(owner, name);
    if (!record) return NULL;
    pnetcdf_var_set_shape(record, &shape);
    pnetcdf_var_count_open(record, span);
    handle_enter(&variables, variable_handle(file, variable), record);
    return record;
}

struct pnetcdf_var_record* pnetcdf_open_variable(int file, int variable, struct span span) {
    struct pnetcdf_var_record* record = handle_find(&variables, variable_handle(file, variable));
    return record ? record : open_variable(file, variable, (struct span){span.start, span.start});
}

/* Calls that give a file or a variable its number. Calls that the library makes within a call of the
   application are not counted. */
#define OUTERMOST(result, call)              \
    const int64_t start = clock_ns();        \
    const bool outermost = !pnetcdf_enter(); \
    const int result = call;                 \
    --pnetcdf_depth

static void note_opened(const char* path, enum pnetcdf_file_counter counter, int file, int64_t start) {
    const struct span span = clock_span(start);
    if (!path || !process_counts() || !guard_enter()) return;
    KEEP_ERRNO();
    struct pnetcdf_file_record* record = pnetcdf_file_record_of(path);
    if (record) {
        pnetcdf_count_open(record, counter, span);
        handle_enter(&files, file_handle(file), record);
    }
    guard_leave();
}

#define OPENING(name, counter)                                                                              \
    int ncmpi_##name(mpi_handle comm, const char* path, int mode, mpi_handle info, int* file);              \
    EXPORT int ncmpi_##name(mpi_handle comm, const char* path, int mode, mpi_handle info, int* file) {      \
        OUTERMOST(result, PNETCDF(name, (mpi_handle, const char*, int, mpi_handle, int*))(comm, path, mode, \
                                                                                          info, file));     \
        if (outermost && result == PNETCDF_DONE) note_opened(path, counter, *file, start);                  \
        return result;                                                                                      \
    }
OPENING(create, PNETCDF_CREATES)
OPENING(open, PNETCDF_OPENS)

static int end_meta(int file, int counter, bool outermost, int64_t start, int result) {
    struct pnetcdf_file_record* record = outermost ? pnetcdf_open_file(file) : NULL;
    if (!record || result != PNETCDF_DONE || !guard_enter()) return result;
    pnetcdf_count_meta(record, counter, clock_span(start));
    guard_leave();
    return result;
}

#define META(name, counter, parameters, arguments)                \
    int ncmpi_##name parameters;                                  \
    EXPORT int ncmpi_##name parameters {                          \
        OUTERMOST(result, PNETCDF(name, parameters) arguments);   \
        return end_meta(file, counter, outermost, start, result); \
    }
META(redef, PNETCDF_REDEFS, (int file), (file))
META(sync, PNETCDF_SYNCS, (int file), (file))
META(enddef, PNETCDF_NO_COUNTER, (int file), (file))
META(_enddef, PNETCDF_NO_COUNTER,
     (int file, mpi_count head, mpi_count align, mpi_count room, mpi_count align_records),
     (file, head, align, room, align_records))

static int end_wait(int file, bool collective, bool outermost, int64_t start, int result) {
    struct pnetcdf_file_record* record = outermost ? pnetcdf_open_file(file) : NULL;
    if (!record || !guard_enter()) return result;
    pnetcdf_count_wait(record, collective, result != PNETCDF_DONE, clock_span(start));
    guard_leave();
    return result;
}

#define WAITING(name, collective)                                                                  \
    int ncmpi_##name(int file, int count, int* requests, int* statuses);                           \
    EXPORT int ncmpi_##name(int file, int count, int* requests, int* statuses) {                   \
        OUTERMOST(result, PNETCDF(name, (int, int, int*, int*))(file, count, requests, statuses)); \
        return end_wait(file, collective, outermost, start, result);                               \
    }
WAITING(wait, false)
WAITING(wait_all, true)

static int end_naming(int file, const int* variable, bool outermost, int64_t start, int result) {
    if (!outermost || result != PNETCDF_DONE || !variable || !pnetcdf_open_file(file) || !guard_enter())
        return result;
    KEEP_ERRNO();
    const struct span span = clock_span(start);
    struct pnetcdf_var_record* known = handle_find(&variables, variable_handle(file, *variable));
    if (known) {
        pnetcdf_var_count_open(known, span);
    } else {
        open_variable(file, *variable, span);
    }
    guard_leave();
    return result;
}

#define NAMING(name, parameters, arguments)                          \
    int ncmpi_##name parameters;                                     \
    EXPORT int ncmpi_##name parameters {                             \
        OUTERMOST(result, PNETCDF(name, parameters) arguments);      \
        return end_naming(file, variable, outermost, start, result); \
    }
NAMING(def_var, (int file, const char* word, int type, int count, const int* dimensions, int* variable),
       (file, word, type, count, dimensions, variable))
NAMING(inq_varid, (int file, const char* word, int* variable), (file, word, variable))

/* The records of a file that is being closed, and of its variables, whose numbers become free. */
struct closing {
    struct pnetcdf_file_record* record;
    int variables;
    mpi_count read, written;
};

static struct closing begin_close(int file) {
    struct closing closing = {.record = handle_remove(&files, file_handle(file))};
    if (!closing.record || !guard_enter()) return closing;
    pnetcdf_enter();
    PNETCDF_ASK(inq_nvars, (int, int*))(file, &closing.variables);
    PNETCDF_ASK(inq_get_size, (int, mpi_count*))(file, &closing.read);
    PNETCDF_ASK(inq_put_size, (int, mpi_count*))(file, &closing.written);
    --pnetcdf_depth;
    guard_leave();
    return closing;
}

static int end_close(int file, const struct closing* closing, int64_t start, int result) {
    if (!closing->record || !guard_enter()) return result;
    const struct span span = clock_span(start);
    for (int variable = 0; variable < closing->variables; ++variable) {
        struct pnetcdf_var_record* record = handle_remove(&variables, variable_handle(file, variable));
        if (record) pnetcdf_var_count_close(record, span);
    }
    pnetcdf_count_close(closing->record, closing->read, closing->written, span);
    guard_leave();
    return result;
}

#define CLOSING(name)                                                                           \
    int ncmpi_##name(int file);                                                                 \
    EXPORT int ncmpi_##name(int file) {                                                         \
        const struct closing closing = pnetcdf_depth ? (struct closing){0} : begin_close(file); \
        OUTERMOST(result, PNETCDF(name, (int))(file));                                          \
        return outermost ? end_close(file, &closing, start, result) : result;                   \
    }
CLOSING(close)
CLOSING(abort)
