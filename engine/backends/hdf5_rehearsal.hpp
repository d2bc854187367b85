// Writes a small file of the same structure as a plan's file, to measure what the library adds.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/backend.hpp"
#include "backends/dump_structures.hpp"

namespace wa {

/// The structure of each dump with a fit in the file, for at most `most` dumps.
[[nodiscard]] DumpStructures structures_of_file(const FileContext& context, std::size_t most);

/// The bytes of the library in each dump of the sequence, over all ranks of the file. Collective.
[[nodiscard]] std::vector<std::int64_t> rehearse(const FileContext& context, const DumpStructures& sequence);

}  // namespace wa
