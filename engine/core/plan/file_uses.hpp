// How each dump uses its file: which dump is the first and the last of a file, and what happens to the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace wa {

/// How a dump uses its file, from the order of the dumps.
struct FileUse {
    bool first = false;           // no earlier dump uses the file
    bool last = false;            // no later dump uses the file
    bool written_before = false;  // an earlier dump wrote it
    bool written = false;         // a dump writes the file
    // the file must exist before the run: a dump says so, or reads it before any dump wrote it
    bool prepared = false;
    bool renamed = false;     // it is written under another name first, or gives up its name
    bool replaces = false;    // the dump writes a new file, which takes the name of the one before
    std::int64_t backup = 0;  // of a reused file that gives up its name: the number of the backup, from 1 on
    /// The file that is deleted after this dump, because the family then has more files than it keeps, and
    /// the last dump that used it.
    std::optional<std::int64_t> deletes;
    std::size_t deleted_after = 0;
};

/// One entry per dump.
[[nodiscard]] std::vector<FileUse> file_uses(const Plan& plan);

}  // namespace wa
