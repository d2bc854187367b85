// The counters of equal transfers at offsets of equal distance, without a look at each.
#pragma once

#include <cstdint>

#include "counting/mpiio.h"
#include "counting/posix.h"

namespace wa {

/// `count` transfers of `size` bytes, the first at `offset` and each `step` bytes (of any sign) after the one
/// before.
struct TransferRow {
    std::int64_t offset = 0;
    std::int64_t size = 0;
    std::int64_t step = 0;
    std::int64_t count = 1;
};

/// How many of the offsets are multiples of `block`; all of them for a block of at most 1 byte.
[[nodiscard]] std::int64_t aligned_of(const TransferRow& row, std::int64_t block);

/// As posix_transferred for each of the row.
void posix_transferred_row(posix_history* history, std::int64_t* counter, enum transfer kind,
                           const TransferRow& row);

/// As mpiio_transferred for `count` calls of one size.
void mpiio_transferred_row(mpiio_history* history, std::int64_t* counter, enum mpiio_counter call,
                           std::int64_t size, std::int64_t count);

}  // namespace wa
