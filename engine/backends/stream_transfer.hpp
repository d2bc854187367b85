// Moves an operation through a stream of the C library, which stands where the operation begins.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/backend.hpp"
#include "io/stdio.hpp"

namespace wa {

/// The bytes moved; fewer than asked for only at the end of the file.
inline std::int64_t transfer_by(stdio::File& file, const Operation& operation, std::int64_t phase,
                                const Buffers& buffers, std::int64_t alignment) {
    const bool writes = operation.direction == Direction::write;
    const std::int64_t most = writes ? buffers.arena.reach() : buffers.landing.size();
    std::int64_t done = 0;
    do {
        const std::int64_t part = std::min(operation.size - done, most);
        if (writes) {
            file.write(buffers.arena.at(phase, operation.offset + done), part);
        } else if (const std::int64_t got = file.read(buffers.landing.at(part, alignment), part);
                   got < part) {
            return done + got;
        }
        done += part;
    } while (done < operation.size);
    return done;
}

}  // namespace wa
