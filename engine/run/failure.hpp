// Handles a failed call on this rank: reports it once, on stderr and in the record, and ends all ranks.
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

/// Handles the failure that another process reported to process 0. Does not return.
[[noreturn]] void end_all_for(Setup& setup, const FailureLine& failure);

/// Makes SIGINT and SIGTERM set a flag. A process that does not check it in time ends by itself.
void catch_signals();
/// Raises Interrupted if a signal has arrived.
void check_signals();

}  // namespace wa
