// Writes a file of the same structure as a plan's file with the smallest possible meshes, to measure what a
// library adds.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/backend.hpp"
#include "backends/dump_structures.hpp"

namespace wa {

/// The structure of each dump with a mesh in the file, for at most `most` dumps.
[[nodiscard]] DumpStructures mesh_structures_of_file(const FileContext& context, std::size_t most);

/// The bytes of the library in each of the first `dumps` dumps of the file, over all its ranks. Collective.
[[nodiscard]] std::vector<std::int64_t> rehearse_meshes(const FileContext& context, std::size_t dumps,
                                                        const FileOpener& open);

}  // namespace wa
