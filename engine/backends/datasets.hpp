// What the backends with datasets share: the place of a dump in a file of several dumps, and the values that
// may be in a dataset.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.hpp"
#include "expand/arrays.hpp"

namespace wa {

/// Whether the file exists. One rank looks and all use its answer, so that all act alike.
[[nodiscard]] bool exists_for_all(const FileContext& context);

/// The largest byte that any dump of this file touches; it is the size of a dataset that does not grow.
[[nodiscard]] std::int64_t end_of_file(const FileContext& context);

/// Where the rows of a dump start in a dataset that each writing dump of the file extends. A load reads the
/// last rows.
[[nodiscard]] std::int64_t rows_before(const FileContext& context, std::size_t part);

/// How an element is stored: one value, or several in an additional dimension.
struct StoredElement {
    std::int64_t type_bytes = 1;
    std::int64_t values = 1;
};
[[nodiscard]] StoredElement stored_element(std::int64_t bytes);

/// A regular selection of elements; its rows are counted from the first row of the dump.
struct Slice {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> stride;  // empty means 1
    std::vector<std::int64_t> count;
};

/// The grids in which an array is written. Where grids of several shapes overlap, the payload of any of them
/// is valid.
class WrittenGrids {
  public:
    void clear() { grids_.clear(); }
    void add(const Array& array);
    /// Sets elements of `found` to the expected value if they hold the payload of another grid. `base` is
    /// where the dataset starts in a linear file.
    void accept(const Slice& part, std::int64_t element, std::int64_t base, const Arena& arena,
                std::int64_t phase, const std::byte* expected, std::vector<std::byte>& found) const;

  private:
    std::vector<std::pair<const Slab*, TileGrid>> grids_;
};

}  // namespace wa
