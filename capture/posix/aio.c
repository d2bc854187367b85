/* Asynchronous reads and writes. They are counted when the program takes the result, from the moment of
   the request. */
#include <aio.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/handle_table.h"
#include "core/keep_errno.h"
#include "posix/record.h"

/* The requests in progress, by control block: twice the moment of the call, plus one for a write. */
static struct handle_table requests;

static bool note_begun(struct aiocb* block, bool write) {
    if (!fd_file(block->aio_fildes) || !guard_enter()) return false;
    handle_enter(&requests, (intptr_t)block, (void*)(clock_ns() * 2 + write));
    guard_leave();
    return true;
}

static int note_refused(struct aiocb* block, bool noted, int result) {
    if (noted && result != 0 && guard_enter()) {
        handle_remove(&requests, (intptr_t)block);
        guard_leave();
    }
    return result;
}

EXPORT int aio_read(struct aiocb* block) {
    const bool noted = note_begun(block, false);
    return note_refused(block, noted, REAL(aio_read)(block));
}
EXPORT_ALIAS(aio_read64, aio_read);

EXPORT int aio_write(struct aiocb* block) {
    const bool noted = note_begun(block, true);
    return note_refused(block, noted, REAL(aio_write)(block));
}
EXPORT_ALIAS(aio_write64, aio_write);

EXPORT int lio_listio(int mode, struct aiocb* const blocks[restrict], int count,
                      struct sigevent* restrict event) {
    for (int i = 0; i < count; ++i) {
        if (blocks[i] && blocks[i]->aio_lio_opcode != LIO_NOP) {
            note_begun(blocks[i], blocks[i]->aio_lio_opcode == LIO_WRITE);
        }
    }
    return REAL(lio_listio)(mode, blocks, count, event);
}
EXPORT_ALIAS(lio_listio64, lio_listio);

EXPORT ssize_t aio_return(struct aiocb* block) {
    const ssize_t done = REAL(aio_return)(block);
    struct open_file* file = fd_file(block->aio_fildes);
    if (!file || !guard_enter()) return done;
    KEEP_ERRNO();
    const int64_t begun = (int64_t)(intptr_t)handle_remove(&requests, (intptr_t)block);
    if (begun && done >= 0) {
        posix_count_transfer(block->aio_fildes, file, begun % 2 ? TRANSFER_WRITE : TRANSFER_READ,
                             block->aio_offset, done, (const void*)block->aio_buf, clock_span(begun / 2));
    }
    guard_leave();
    return done;
}
EXPORT_ALIAS(aio_return64, aio_return);
