// The calls of ranks one by one: as text (the backend record) and for whoever wants to look at them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "count/resolved.hpp"

namespace wa {

/// A call of a rank in a dump, on a file.
struct RankCall {
    std::int64_t rank = 0;
    std::size_t dump = 0;  // position in the plan
    std::string_view file;
    const Call* call = nullptr;
};

/// Visits the calls of a rank in all dumps of the plan, in the plan's order. False from `visit` ends the
/// visit.
void visit_calls(const ResolvedPlan& resolved, std::int64_t rank,
                 const std::function<bool(const RankCall&)>& visit);

/// Appends a line of text for a call that does something, nothing for marks of structure:
///   rank <TAB> dump <TAB> file name <TAB> operation <TAB> offset <TAB> size <TAB> collective|independent
/// Offset and size are "-" for calls that have none, the offset also for ranks that only join a collective
/// call. Operations of several pieces say so in an eighth column: pieces x stride.
void append_line(fmt::memory_buffer& out, const RankCall& call);

/// Whether it is a call of its own, and of which kind.
[[nodiscard]] std::optional<Kind> kind_of(const Call& call);

}  // namespace wa
