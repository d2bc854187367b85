// The files that a run made: their sizes for the record's last line, and their removal.
#pragma once

#include <optional>

#include "record/jsonl.hpp"
#include "run/setup.hpp"

namespace wa {

/// Collective over all processes: process 0 writes the record's last line, the files' owners say how large
/// they are.
void write_end_line(const Setup& setup, LineFile& record, double wall_s,
                    const std::optional<Verified>& verified);

/// Collective over all processes: each removes the files that it owns.
void remove_own_files(const Setup& setup);

}  // namespace wa
