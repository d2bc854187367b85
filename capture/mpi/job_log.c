#include "mpi/job_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/export.h"
#include "core/mapping.h"
#include "core/module.h"
#include "core/own_io.h"
#include "core/sandbox.h"
#include "core/settings.h"
#include "log/libraries.h"
#include "log/log.h"
#include "log/side_file.h"
#include "mpi/abi.h"
#include "mpi/reduce.h"
#include "mpi/side_file.h"

/* The pieces of the file that this rank writes, in ascending order. */
enum { PIECES = LOG_REGIONS + 1 };

struct pieces {
    int count;
    int length[PIECES];
    mpi_count at[PIECES];
    struct buffer data;
};

/* The parts of writing a log, as the paper on Darshan times them. */
enum phase { PHASE_REDUCE, PHASE_COMPRESS, PHASE_STORE, PHASES };

struct job {
    int64_t ended[PHASES + 1]; /* nanoseconds; the first is the begin */
    mpi_handle comm;
    int rank, ranks;
    struct job_times times;
    struct log_plan plan;
    uint64_t before[LOG_REGIONS]; /* bytes of each region that lower ranks write */
    int64_t bytes;                /* of the whole log */
    bool too_large;
    int error; /* errno of the failure, if known */
    char path[1300], partly[1320];
};

static void share(struct job* job, void* data, size_t bytes) {
    MPI(Bcast, void*, int, mpi_handle, int, mpi_handle)(data, (int)bytes, mpi_abi()->byte, 0, job->comm);
}

static bool all(struct job* job, bool done_here) {
    const struct mpi_abi* abi = mpi_abi();
    int64_t failures = !done_here;
    MPI(Allreduce, void*, void*, int, mpi_handle, mpi_handle, mpi_handle)
    (abi->in_place, &failures, 1, abi->integer, abi->max, job->comm);
    return failures == 0;
}

/* Finds the first start and last end over the ranks, and the modules that are partial on any rank. */
static void agree_on_times(struct job* job) {
    const struct mpi_abi* abi = mpi_abi();
    enum { SECOND = 1000000000 };
    const struct job_times own = log_times();
    int64_t ends[2] = {-(own.start_sec * SECOND + own.start_nsec), own.end_sec * SECOND + own.end_nsec};
    job->plan.partial = log_partial();
    MPI(Allreduce, void*, void*, int, mpi_handle, mpi_handle, mpi_handle)
    (abi->in_place, ends, 2, abi->integer, abi->max, job->comm);
    MPI(Allreduce, void*, void*, int, mpi_handle, mpi_handle, mpi_handle)
    (abi->in_place, &job->plan.partial, 8, abi->byte, abi->bit_or, job->comm);
    job->times = (struct job_times){-ends[0] / SECOND, -ends[0] % SECOND, ends[1] / SECOND, ends[1] % SECOND};
}

/* Finds where each rank's part of each region begins: the regions follow each other, and in each the ranks
   are in order. */
static void agree_on_places(struct job* job, struct log_packed* packed, size_t job_length) {
    const struct mpi_abi* abi = mpi_abi();
    uint64_t own[LOG_REGIONS];
    for (int region = 0; region < LOG_REGIONS; ++region) own[region] = packed->region[region].used;
    MPI(Exscan, void*, void*, int, mpi_handle, mpi_handle, mpi_handle)
    (own, job->before, LOG_REGIONS, abi->integer, abi->sum, job->comm);
    if (job->rank == 0) memset(job->before, 0, sizeof job->before);
    MPI(Allreduce, void*, void*, int, mpi_handle, mpi_handle, mpi_handle)
    (own, job->plan.length, LOG_REGIONS, abi->integer, abi->sum, job->comm);
    job->plan.job_length = job_length;
    share(job, &job->plan.job_length, sizeof job->plan.job_length);
    job->too_large = !log_fits(&job->plan, packed);
    job->bytes = (int64_t)log_lay_out(&job->plan);
}

static void add_piece(struct pieces* pieces, uint64_t at, const void* data, size_t bytes) {
    if (!bytes) return;
    pieces->at[pieces->count] = (mpi_count)at;
    pieces->length[pieces->count++] = (int)bytes;
    buffer_append(&pieces->data, data, bytes);
}

static void gather_pieces(struct pieces* pieces, const struct job* job, const struct log_packed* packed,
                          const struct buffer* job_region) {
    if (job->rank == 0) {
        unsigned char header[LOG_HEADER];
        log_header(header, &job->plan);
        add_piece(pieces, 0, header, sizeof header);
        add_piece(pieces, LOG_HEADER, job_region->data, job_region->used);
    }
    for (int region = 0; region < LOG_REGIONS; ++region) {
        add_piece(pieces, job->plan.offset[region] + job->before[region], packed->region[region].data,
                  packed->region[region].used);
    }
}

static bool open_log(struct job* job, mpi_handle* file) {
    mpi_handle info = 0;
    MPI(Info_create, mpi_handle*)(&info);
    MPI(Info_set, mpi_handle, const char*, const char*)(info, "romio_no_indep_rw", "true");
    MPI(Info_set, mpi_handle, const char*, const char*)(info, "cb_nodes", "4");
    const int result = MPI(File_open, mpi_handle, const char*, int, mpi_handle, mpi_handle*)(
        job->comm, job->partly, MPI_MODE_CREATING, info, file);
    MPI(Info_free, mpi_handle*)(&info);
    return all(job, result == MPI_DONE);
}

/* Reserves the space for the whole log at once, because an MPI library need not report a full disk when it
   writes. If the file system cannot reserve space, there is no error. */
static bool reserve(struct job* job) {
    int64_t error = 0;
    if (job->rank == 0) {
        const int fd = own_open(job->partly, O_WRONLY, 0);
        if (fd < 0 || !own_reserve(fd, job->bytes)) error = errno;
        if (fd >= 0) own_close(fd);
    }
    share(job, &error, sizeof error);
    job->error = (int)error;
    return error == 0;
}

/* Writes the pieces of all ranks in one collective call. */
static bool write_pieces(struct job* job, struct pieces* pieces) {
    const struct mpi_abi* abi = mpi_abi();
    mpi_handle file = 0, type = 0;
    if (!open_log(job, &file)) return false;
    if (!reserve(job)) {
        MPI(File_close, mpi_handle*)(&file);
        return false;
    }
    MPI(Type_create_hindexed, int, const int*, const mpi_count*, mpi_handle, mpi_handle*)
    (pieces->count, pieces->length, pieces->at, abi->byte, &type);
    MPI(Type_commit, mpi_handle*)(&type);
    int result = MPI(File_set_view, mpi_handle, mpi_count, mpi_handle, mpi_handle, const char*, mpi_handle)(
        file, 0, abi->byte, pieces->count ? type : abi->byte, "native", abi->no_info);
    bool done = all(job, result == MPI_DONE && !pieces->data.failed);
    if (done) {
        result = MPI(File_write_all, mpi_handle, void*, int, mpi_handle, void*)(
            file, pieces->data.data, (int)pieces->data.used, abi->byte, abi->no_status);
        done = all(job, result == MPI_DONE);
    }
    MPI(Type_free, mpi_handle*)(&type);
    result = MPI(File_close, mpi_handle*)(&file);
    return all(job, result == MPI_DONE) && done;
}

/* Rank 0 gives the log its rights and its name; the other ranks receive the result. */
static bool publish(struct job* job, bool written) {
    int64_t done = 0;
    if (job->rank == 0 && written && own_size(job->partly) >= job->bytes) {
        done = REAL(syscall)(SYS_fchmodat, AT_FDCWD, job->partly, 0400) == 0 &&
               own_rename(job->partly, job->path);
    }
    if (job->rank == 0 && !done) own_unlink(job->partly);
    share(job, &done, sizeof done);
    return done;
}

/* A launcher may give only some ranks the whole environment, so collective steps below follow the settings
   of rank 0. */
static void agree_on_settings(struct job* job) {
    int64_t words[3] = {settings.keep_records, (int64_t)settings.max_log, settings.timing};
    share(job, words, sizeof words);
    settings.keep_records = words[0];
    settings.max_log = (size_t)words[1];
    settings.timing = words[2];
}

static int64_t nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void phase_ends(struct job* job, enum phase phase) {
    job->ended[phase + 1] = nanoseconds();
}

/* Prints the time of each part on the rank that took longest for it. */
static void print_phases(struct job* job) {
    static const char* const names[PHASES] = {"reduce", "compress", "store"};
    const struct mpi_abi* abi = mpi_abi();
    int64_t longest[PHASES];
    for (int phase = 0; phase < PHASES; ++phase) longest[phase] = job->ended[phase + 1] - job->ended[phase];
    MPI(Allreduce, void*, void*, int, mpi_handle, mpi_handle, mpi_handle)
    (abi->in_place, longest, PHASES, abi->integer, abi->max, job->comm);
    for (int phase = 0; phase < PHASES && job->rank == 0; ++phase)
        own_warn("%s %.3f ms", names[phase], (double)longest[phase] * 1e-6);
}

static bool write_job(struct job* job) {
    struct log_content content = {0};
    struct log_packed packed = {0};
    struct buffer job_region = {0};
    struct side_texts side = {0};
    struct pieces pieces = {0};
    agree_on_settings(job);
    job->ended[0] = nanoseconds();
    agree_on_times(job);
    log_collect(&content, job->rank, &job->times);
    if (!settings.keep_records) mpi_reduce_shared(&content, job->comm, job->rank);
    if (!settings.keep_records) FOR_MODULES(reduce, &content, job->comm, job->rank)
    struct side_texts own = {0};
    log_complete(&content, &job->times, job->rank, &own);
    mpi_side_gather(&own, log_seconds_late(&job->times), job->comm, job->rank, job->ranks, &side);
    if (job->rank == 0) libraries_text(&side.part[SIDE_LIBRARIES]);
    phase_ends(job, PHASE_REDUCE);
    bool done = log_pack(&content, &packed);
    if (job->rank == 0) log_pack_job(&job_region, &job->times, job->ranks);
    phase_ends(job, PHASE_COMPRESS);
    done = all(job, done && !job_region.failed);
    if (done) {
        agree_on_places(job, &packed, job_region.used);
        gather_pieces(&pieces, job, &packed, &job_region);
        if (job->rank == 0) log_make_folders(job->path);
        done = !job->too_large && publish(job, write_pieces(job, &pieces));
    }
    if (done && job->rank == 0) side_write(job->path, &side);
    phase_ends(job, PHASE_STORE);
    if (settings.timing) print_phases(job);
    log_release(&packed);
    buffer_release(&job_region);
    side_release(&side);
    buffer_release(&pieces.data);
    return done;
}

void mpi_log_write(void) {
    struct job job = {0};
    mpi_handle comm = 0;
    if (MPI(Comm_dup, mpi_handle, mpi_handle*)(mpi_abi()->world, &comm) != MPI_DONE) return;
    job.comm = comm;
    MPI(Comm_rank, mpi_handle, int*)(comm, &job.rank);
    MPI(Comm_size, mpi_handle, int*)(comm, &job.ranks);
    if (all(&job, mapping_header() && !sandboxed())) {
        log_path(job.path, sizeof job.path);
        share(&job, job.path, sizeof job.path);
        snprintf(job.partly, sizeof job.partly, "%s_partial", job.path);
        const bool written = write_job(&job);
        if (written || job.too_large) mapping_remove();
        if (job.rank == 0 && job.too_large) {
            own_warn("the log is larger than WORKALIKE_CAPTURE_MAX_LOG and is not written");
        } else if (job.rank == 0 && !written) {
            log_warn_unwritten(job.path, job.error);
        }
    }
    MPI(Comm_free, mpi_handle*)(&comm);
}
