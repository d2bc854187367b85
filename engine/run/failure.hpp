// A call has failed on this rank: say so once, on stderr and in the record, and end all ranks.
#pragma once

#include <cstddef>
#include <optional>

#include "errors.hpp"
#include "record/collector.hpp"
#include "run/setup.hpp"

namespace wa {

/// Does not return. `collector` may be null before the measured part.
[[noreturn]] void end_all(Setup& setup, Collector* collector, const CallFailed& error, std::int64_t rank,
                          std::optional<std::size_t> dump);

/// What process 0 does when another process has told of its failure. Does not return.
[[noreturn]] void end_all_for(Setup& setup, const FailureLine& failure);

/// SIGINT and SIGTERM set a flag; a process that does not come to look at it ends by itself a little later.
void catch_signals();
/// Raises Interrupted when a signal has arrived.
void check_signals();

}  // namespace wa
