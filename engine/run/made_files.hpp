// The files that a run makes: their folders, their sizes for the last line of the record, and their removal.
#pragma once

#include <optional>

#include "record/jsonl.hpp"
#include "run/setup.hpp"

namespace wa {

/// Processes make the folders of all files, each those of its own or of its group. They are there when all
/// processes have done it.
void make_folders(const Setup& setup);

/// Collective over all processes: the owners of files report sizes, and process 0 writes the last line of the
/// record. A file that is shorter than what was written to it ends the run.
void write_end_line(Setup& setup, LineFile& record, double wall_s, const std::optional<Verified>& verified);

/// Collective over all processes: each removes the files that it owns.
void remove_own_files(const Setup& setup);

}  // namespace wa
