#include "predict/transfer_row.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "expand/wide.hpp"

namespace wa {
namespace {

/// The remainder that is not negative.
std::int64_t modulo(std::int64_t value, std::int64_t by) {
    const std::int64_t rest = value % by;
    return rest < 0 ? rest + by : rest;
}

/// The x with a x = 1 modulo m, for a and m without a common divisor.
std::int64_t inverse(std::int64_t a, std::int64_t m) {
    std::int64_t before = 0;
    std::int64_t here = 1;
    std::int64_t larger = m;
    std::int64_t smaller = modulo(a, m);
    while (smaller > 1) {
        const std::int64_t times = larger / smaller;
        larger = std::exchange(smaller, larger - times * smaller);
        before = std::exchange(here, before - times * here);
    }
    return modulo(here, m);
}

}  // namespace

std::int64_t aligned_of(const TransferRow& row, std::int64_t block) {
    if (block <= 1) return row.count;
    const std::int64_t step = modulo(row.step, block);
    const std::int64_t shared = std::gcd(step, block);  // block, where each step keeps the place in the block
    if (modulo(row.offset, shared) != 0) return 0;
    const std::int64_t period = block / shared;
    if (period == 1) return row.count;
    // The first i with offset + i * step a multiple of the block; then every `period`th.
    const std::int64_t wanted = modulo(-modulo(row.offset, block) / shared, period);
    const auto first =
        static_cast<std::int64_t>(static_cast<Wide>(wanted) * inverse(step / shared, period) % period);
    return first >= row.count ? 0 : (row.count - first - 1) / period + 1;
}

void posix_transferred_row(posix_history* history, std::int64_t* counter, enum transfer kind,
                           const TransferRow& row) {
    if (row.count <= 0) return;
    posix_transferred(history, counter, kind, row.offset, row.size);
    if (row.count == 1) return;
    // The second lies to the first as each further one to the one before it.
    const enum access_order order = access_order(history->last[kind], row.offset + row.step);
    posix_transferred(history, counter, kind, row.offset + row.step, row.size);
    const std::int64_t more = row.count - 2;
    if (more == 0) return;
    if (row.size == 0) {  // moves no place, so that each lies to the same byte
        for (std::int64_t i = 2; i < row.count; ++i)
            posix_transferred(history, counter, kind, row.offset + i * row.step, 0);
        return;
    }
    const bool reads = kind == TRANSFER_READ;
    counter[reads ? POSIX_READS : POSIX_WRITES] += more;
    counter[reads ? POSIX_BYTES_READ : POSIX_BYTES_WRITTEN] += more * row.size;
    counter[(reads ? int{POSIX_SIZE_READ} : int{POSIX_SIZE_WRITE}) + size_bin(row.size)] += more;
    if (order != ACCESS_BACK) counter[reads ? POSIX_SEQ_READS : POSIX_SEQ_WRITES] += more;
    if (order == ACCESS_CONSECUTIVE) counter[reads ? POSIX_CONSEC_READS : POSIX_CONSEC_WRITES] += more;
    if (order == ACCESS_FORWARD) common_values_add(&history->strides, row.step - row.size, more);
    const TransferRow rest{row.offset + 2 * row.step, row.size, row.step, more};
    counter[POSIX_FILE_NOT_ALIGNED] += more - aligned_of(rest, counter[POSIX_FILE_ALIGNMENT]);
    history->last[kind] = row.offset + (row.count - 1) * row.step + row.size - 1;
    std::int64_t& most = counter[reads ? POSIX_MAX_BYTE_READ : POSIX_MAX_BYTE_WRITTEN];
    most = std::max(most, history->last[kind]);
    common_values_add(&history->sizes, row.size, more);
}

void mpiio_transferred_row(mpiio_history* history, std::int64_t* counter, enum mpiio_counter call,
                           std::int64_t size, std::int64_t count) {
    if (count <= 0) return;
    mpiio_transferred(history, counter, call, size);
    const std::int64_t more = count - 1;
    const bool writes = (int{call} - int{MPIIO_INDEP_READS}) % 2 != 0;
    counter[call] += more;
    counter[writes ? MPIIO_BYTES_WRITTEN : MPIIO_BYTES_READ] += more * size;
    counter[(writes ? int{MPIIO_SIZE_WRITE} : int{MPIIO_SIZE_READ}) + size_bin(size)] += more;
    if (size > 0) common_values_add(&history->sizes, size, more);
}

}  // namespace wa
