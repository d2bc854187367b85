// Counters of one dump with Darshan's meaning, at the family's level.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "plan/plan.hpp"

namespace wa {

/// Kinds of calls.
enum class Kind { open, close, stat, seek, read, write, flush, fsync, map };
inline constexpr std::size_t kinds = 9;
[[nodiscard]] std::string_view kind_name(Kind kind);

inline constexpr std::size_t size_bins = 10;

/// Bins end at 100, 1024, 10240, 102400, 1 MiB, 4 MiB, 10 MiB, 100 MiB, 1 GiB, inclusive.
[[nodiscard]] std::size_t size_bin(std::int64_t size);

struct DirectionCounters {
    std::int64_t operations = 0;
    std::int64_t collective = 0;
    std::int64_t bytes = 0;
    std::int64_t max_byte = 0;
    std::int64_t sequential = 0;
    std::int64_t consecutive = 0;
    std::array<std::int64_t, size_bins> sizes{};
};

/// The state of a file that a rank keeps between operations. It is reset when the rank opens the file again.
struct AccessState {
    std::array<std::int64_t, 2> last_byte{};  // by direction
    std::int64_t position = 0;                // for files that have one
    bool moved = false;                       // an operation has set the position
    Direction last_direction = Direction::read;
};

/// What a transfer moves, and where.
struct Transfer {
    Direction direction;
    std::int64_t offset;
    std::int64_t size;
};

struct Counters {
    std::int64_t opens = 0;
    std::int64_t stats = 0;
    std::int64_t seeks = 0;
    std::int64_t fsyncs = 0;
    std::int64_t flushes = 0;
    std::int64_t maps = 0;
    std::array<DirectionCounters, 2> by_direction{};

    [[nodiscard]] DirectionCounters& transfers(Direction d) {
        return by_direction[static_cast<std::size_t>(d)];
    }
    [[nodiscard]] const DirectionCounters& transfers(Direction d) const {
        return by_direction[static_cast<std::size_t>(d)];
    }

    /// Notes an operation that moved `size` bytes at `offset`.
    void note(AccessState& state, Direction direction, std::int64_t offset, std::int64_t size,
              bool collective);
    /// Notes `count` more operations like `first`, which was noted last; each begins `step` bytes after the
    /// one before, and `step` is not negative.
    void note_run(AccessState& state, const Transfer& first, bool collective, std::int64_t count,
                  std::int64_t step);
    /// Notes an operation without an offset, by a rank that only joins a collective call.
    void note_join(Direction direction);
    /// Adds the counters of `other`, multiplied by `times`.
    void merge(const Counters& other, std::int64_t times = 1);
};

}  // namespace wa
