// What determines the bytes that a library adds to the dumps of a file. A rehearsal writes a small file of
// equal structure to measure them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backends/backend.hpp"

namespace wa {

/// What determines the library's bytes in one dump. For a fit: datasets, element size, new chunks of a
/// dataset, opens, flushes. For a mesh: tables, parts, variables without a part, opens, flushes.
using DumpStructure = std::array<std::int64_t, 5>;

/// Those of all dumps of a file, in the order of the plan.
using DumpStructures = std::vector<DumpStructure>;

/// Opens a file in the same way as the backend.
using FileOpener = std::function<std::unique_ptr<OpenFile>(const FileContext&)>;

}  // namespace wa
