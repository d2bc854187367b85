/* Reads and writes, with 64-bit sizes and offsets. Failed calls are not counted. */
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/keep_errno.h"
#include "posix/record.h"

struct call {
    int fd;
    struct open_file* file; /* NULL: not counted */
    int64_t start;
};

static inline struct call begin(int fd) {
    struct call call = {fd, fd_file(fd), 0};
    if (call.file) call.start = clock_ns();
    return call;
}

static inline ssize_t end(struct call call, enum transfer kind, int64_t offset, const void* memory,
                          ssize_t done) {
    if (!call.file || done < 0 || !guard_enter()) return done;
    KEEP_ERRNO();
    posix_count_transfer(call.fd, call.file, kind, offset, done, memory, clock_span(call.start));
    guard_leave();
    return done;
}

static const void* first_memory(const struct iovec* pieces, int count) {
    return count > 0 ? pieces[0].iov_base : NULL;
}

#define TRANSFER(function, parameters, arguments, kind, offset, memory)   \
    EXPORT ssize_t function parameters {                                  \
        const struct call call = begin(fd);                               \
        return end(call, kind, offset, memory, REAL(function) arguments); \
    }

ssize_t __read_chk(int fd, void* memory, size_t size, size_t room);
ssize_t __pread_chk(int fd, void* memory, size_t size, off_t offset, size_t room);

TRANSFER(read, (int fd, void* memory, size_t size), (fd, memory, size), TRANSFER_READ, CURRENT_OFFSET, memory)
TRANSFER(write, (int fd, const void* memory, size_t size), (fd, memory, size), TRANSFER_WRITE, CURRENT_OFFSET,
         memory)
TRANSFER(pread, (int fd, void* memory, size_t size, off_t offset), (fd, memory, size, offset), TRANSFER_READ,
         offset, memory)
TRANSFER(pwrite, (int fd, const void* memory, size_t size, off_t offset), (fd, memory, size, offset),
         TRANSFER_WRITE, offset, memory)
TRANSFER(readv, (int fd, const struct iovec* pieces, int count), (fd, pieces, count), TRANSFER_READ,
         CURRENT_OFFSET, first_memory(pieces, count))
TRANSFER(writev, (int fd, const struct iovec* pieces, int count), (fd, pieces, count), TRANSFER_WRITE,
         CURRENT_OFFSET, first_memory(pieces, count))
TRANSFER(preadv, (int fd, const struct iovec* pieces, int count, off_t offset), (fd, pieces, count, offset),
         TRANSFER_READ, offset, first_memory(pieces, count))
TRANSFER(pwritev, (int fd, const struct iovec* pieces, int count, off_t offset), (fd, pieces, count, offset),
         TRANSFER_WRITE, offset, first_memory(pieces, count))
/* Offset -1 means the offset of the file, like CURRENT_OFFSET. */
TRANSFER(preadv2, (int fd, const struct iovec* pieces, int count, off_t offset, int flags),
         (fd, pieces, count, offset, flags), TRANSFER_READ, offset, first_memory(pieces, count))
TRANSFER(pwritev2, (int fd, const struct iovec* pieces, int count, off_t offset, int flags),
         (fd, pieces, count, offset, flags), TRANSFER_WRITE, offset, first_memory(pieces, count))
TRANSFER(__read_chk, (int fd, void* memory, size_t size, size_t room), (fd, memory, size, room),
         TRANSFER_READ, CURRENT_OFFSET, memory)
TRANSFER(__pread_chk, (int fd, void* memory, size_t size, off_t offset, size_t room),
         (fd, memory, size, offset, room), TRANSFER_READ, offset, memory)
EXPORT_ALIAS(pread64, pread);
EXPORT_ALIAS(pwrite64, pwrite);
EXPORT_ALIAS(preadv64, preadv);
EXPORT_ALIAS(pwritev64, pwritev);
EXPORT_ALIAS(preadv64v2, preadv2);
EXPORT_ALIAS(pwritev64v2, pwritev2);
EXPORT_ALIAS(__pread64_chk, __pread_chk);

/* Calls that move bytes from one descriptor to another count as a read of the first and a write of the
   second. */
static ssize_t end_copy(struct call from, struct call to, const off_t* read_at, const off_t* write_at,
                        ssize_t done) {
    if (done <= 0) return done;
    if (from.file) end(from, TRANSFER_READ, read_at ? *read_at - done : CURRENT_OFFSET, NULL, done);
    if (to.file) end(to, TRANSFER_WRITE, write_at ? *write_at - done : CURRENT_OFFSET, NULL, done);
    return done;
}

EXPORT ssize_t copy_file_range(int fd, off_t* read_at, int to, off_t* write_at, size_t size, unsigned flags) {
    const struct call source = begin(fd), target = begin(to);
    return end_copy(source, target, read_at, write_at,
                    REAL(copy_file_range)(fd, read_at, to, write_at, size, flags));
}

EXPORT ssize_t sendfile(int to, int fd, off_t* read_at, size_t size) {
    const struct call source = begin(fd), target = begin(to);
    return end_copy(source, target, read_at, NULL, REAL(sendfile)(to, fd, read_at, size));
}
EXPORT_ALIAS(sendfile64, sendfile);

EXPORT ssize_t splice(int fd, off_t* read_at, int to, off_t* write_at, size_t size, unsigned flags) {
    const struct call source = begin(fd), target = begin(to);
    return end_copy(source, target, read_at, write_at, REAL(splice)(fd, read_at, to, write_at, size, flags));
}

EXPORT off_t lseek(int fd, off_t offset, int whence) {
    const struct call call = begin(fd);
    const off_t reached = REAL(lseek)(fd, offset, whence);
    if (call.file && reached >= 0 && guard_enter()) {
        KEEP_ERRNO();
        posix_count_seek(call.file, reached, clock_span(call.start));
        guard_leave();
    }
    return reached;
}
EXPORT_ALIAS(lseek64, lseek);
