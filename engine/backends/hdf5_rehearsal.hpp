// Writes a file of the same structure as a plan's, but with hardly any data, to see what the library adds.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/backend.hpp"
#include "backends/hdf5_overhead.hpp"

namespace wa {

/// The structure of each dump with a fit in the file; at most `most` of them.
[[nodiscard]] Hdf5Overhead::Sequence structures_of_file(const FileContext& context, std::size_t most);

/// The library's bytes in each dump of the sequence, over all ranks of the file. Collective.
[[nodiscard]] std::vector<std::int64_t> rehearse(const FileContext& context,
                                                 const Hdf5Overhead::Sequence& sequence);

}  // namespace wa
