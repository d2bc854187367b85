// What backends with datasets have in common: their places over the dumps of a file, and what may stand in
// them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.hpp"
#include "expand/arrays.hpp"

namespace wa {

/// Whether the file is there: asked by one rank, so that all take the same way.
[[nodiscard]] bool exists_for_all(const FileContext& context);

/// The largest byte that any dump of this file touches: the size of a dataset that does not grow.
[[nodiscard]] std::int64_t end_of_file(const FileContext& context);

/// Where a dump's rows start in a dataset that each writing dump of the file extends; a load reads the last
/// ones.
[[nodiscard]] std::int64_t rows_before(const FileContext& context, std::size_t part);

/// How an element is stored: values of a type, more than one of them in a dimension of its own.
struct StoredElement {
    std::int64_t type_bytes = 1;
    std::int64_t values = 1;
};
[[nodiscard]] StoredElement stored_element(std::int64_t bytes);

/// A regular selection of elements; its rows count from the dump's first.
struct Slice {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> stride;  // empty: 1
    std::vector<std::int64_t> count;
};

/// The grids in which one array is written. Of elements that hyperslabs of several shapes cover, any payload
/// of them may stand there.
class WrittenGrids {
  public:
    void clear() { grids_.clear(); }
    void add(const Array& array);
    /// Makes elements of `found` those expected where another grid's payload stands. `base`: the dataset's
    /// place in a linear file.
    void accept(const Slice& part, std::int64_t element, std::int64_t base, const Arena& arena,
                std::int64_t phase, const std::byte* expected, std::vector<std::byte>& found) const;

  private:
    std::vector<std::pair<const Slab*, TileGrid>> grids_;
};

}  // namespace wa
