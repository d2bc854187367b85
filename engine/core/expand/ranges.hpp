// The bytes that a stream touches in a file, as ranges instead of operations.
#pragma once

#include <vector>

#include "expand/stream.hpp"

namespace wa {

/// `count` ranges of `size` bytes, `step` apart.
struct RangeRow {
    Wide first = 0;
    Wide size = 0;
    Wide step = 0;
    std::int64_t count = 1;
    [[nodiscard]] Wide end() const { return first + (count - 1) * step + size; }
};

/// What all ranks of a file touch together, from the dump's base. Not for tables.
[[nodiscard]] std::vector<RangeRow> ranges_of(const Stream& stream, const Place& place);

}  // namespace wa
