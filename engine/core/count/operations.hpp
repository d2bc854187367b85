// The calls of ranks one at a time, as text for the record backend and as values for Python.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "count/resolved.hpp"
#include "expand/calls.hpp"

namespace wa {

/// A call of one rank on a file, in one dump.
struct RankCall {
    std::int64_t rank = 0;
    std::size_t dump = 0;  // position in the plan
    std::string_view file;
    const Call* call = nullptr;
    RankCalls* calls = nullptr;  // that the call is of: a visit may leave out calls that follow by a rule
};

/// Visits the calls of a rank in all dumps, in the order of the plan. The visit ends when `visit` returns
/// false.
void visit_calls(const ResolvedPlan& resolved, std::int64_t rank,
                 const std::function<bool(const RankCall&)>& visit);

/// Appends one line of text for a call; marks of structure give no line. The columns are:
/// rank <TAB> dump <TAB> file name <TAB> operation <TAB> offset <TAB> size <TAB> collective|independent
/// Offset and size are "-" for calls without them; the offset is also "-" for a rank that only joins a
/// collective call. Operations of several pieces have an eighth column: pieces x stride.
void append_line(fmt::memory_buffer& out, const RankCall& call);

/// The kind of the call; empty for a mark of structure. It is asked for each call, so it is inline: a
/// returned optional would pass through memory.
[[nodiscard]] inline std::optional<Kind> kind_of(const Call& call) {
    switch (call.kind) {
        case Call::Kind::stat:
            return Kind::stat;
        case Call::Kind::map:
            return Kind::map;
        case Call::Kind::open:
            return Kind::open;
        case Call::Kind::close:
            return Kind::close;
        case Call::Kind::seek:
            return Kind::seek;
        case Call::Kind::flush:
            return Kind::flush;
        case Call::Kind::sync:
            return Kind::fsync;
        case Call::Kind::transfer:
            return call.operation.direction == Direction::write ? Kind::write : Kind::read;
        default:
            return std::nullopt;
    }
}

}  // namespace wa
