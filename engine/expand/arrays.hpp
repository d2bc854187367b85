// The operations of one dataset on one rank: array accesses (tiles of a grid) and the equal shares of a fit.
#pragma once

#include <cstdint>
#include <vector>

#include "expand/operation.hpp"
#include "expand/place.hpp"
#include "expand/stream.hpp"

namespace wa {

/// The grid of tiles that a slab's selections lay over a dataset; strided slabs interleave.
class TileGrid {
  public:
    TileGrid(const std::vector<std::int64_t>& dims, const Slab& slab);
    [[nodiscard]] std::int64_t tiles() const { return tiles_; }
    /// First element of a tile in each dimension; the tile's number must be below tiles().
    void start(std::int64_t tile, std::vector<std::int64_t>& first) const;

  private:
    const Slab& slab_;
    std::vector<std::int64_t> tiles_of_dimension_;
    std::int64_t tiles_ = 1;
};

class ArrayOperations {
  public:
    ArrayOperations(const Array& array, std::int64_t dataset, std::int64_t base, const Layout& layout,
                    const FileSlot& slot, std::int64_t member, bool joins);
    bool next(Operation& operation);

  private:
    bool enter_slab();

    const Array& array_;
    std::int64_t dataset_;
    std::int64_t base_;  // where the dataset starts in a linear file
    const Layout& layout_;
    const FileSlot slot_;
    std::int64_t member_;
    bool joins_;
    std::size_t access_ = 0;
    std::size_t slab_ = 0;
    bool entered_ = false;
    Place place_;
    std::int64_t tiles_ = 1;
    std::int64_t bytes_ = 0;
    std::int64_t left_ = 0;
    std::int64_t done_ = 0;
    std::int64_t joins_left_ = 0;
};

/// The share of a fit: `bytes` over its datasets, in units (the element where elements are written, else
/// bytes).
class FitOperations {
  public:
    FitOperations(const Fit& fit, std::int64_t bytes, std::int64_t unit, std::int64_t dataset,
                  std::int64_t base, const Place& place, bool joins);
    bool next(Operation& operation);

    /// Bytes of the dataset in this file.
    [[nodiscard]] std::int64_t bytes_here() const { return bytes_here_; }
    [[nodiscard]] static std::int64_t count(const Fit& fit, const Place& place);

  private:
    const Fit& fit_;
    std::int64_t unit_;
    std::int64_t base_;
    std::int64_t bytes_here_ = 0;
    std::int64_t units_ = 0;       // of the dataset, over all files
    std::int64_t operations_ = 0;  // of the dataset, over all ranks
    std::int64_t next_ = 0;
    std::int64_t end_ = 0;
    std::int64_t joins_left_ = 0;
};

/// Operations of a rank on all datasets of an array.
[[nodiscard]] std::int64_t array_count(const Array& array, const Layout& layout, const FileSlot& slot,
                                       std::int64_t member);

}  // namespace wa
