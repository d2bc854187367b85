// The operations of one rank on one dataset: tiles of a grid for arrays, equal shares for a fit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "expand/operation.hpp"
#include "expand/place.hpp"
#include "expand/stream.hpp"

namespace wa {

/// The grid of tiles made by the selections of a slab on a dataset; strided slabs interleave.
class TileGrid {
  public:
    TileGrid(const std::vector<std::int64_t>& dims, const Slab& slab);
    [[nodiscard]] std::int64_t tiles() const { return tiles_; }
    /// First element of a tile in each dimension; the tile's number must be below tiles().
    void start(std::int64_t tile, std::vector<std::int64_t>& first) const;

    struct Spot {
        std::int64_t tile = 0;
        std::int64_t element = 0;  // within the tile's selection, in row-major order
    };
    /// The tile that selects an element, and the element's position in it. Empty if no tile covers the
    /// element.
    [[nodiscard]] std::optional<Spot> spot_of(const std::vector<std::int64_t>& coordinates) const;

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
    std::int64_t bytes_ = 0;   // of a slab
    std::int64_t pieces_ = 1;  // slabs per operation, each in a dataset of its own
    std::int64_t left_ = 0;
    std::int64_t done_ = 0;
    std::int64_t joins_left_ = 0;
    std::int64_t turns_passed_ = 0;  // in earlier slabs
    std::int64_t most_ = 0;          // of a rank in this slab
};

/// The part of a fit's dataset that one file holds.
struct FitShare {
    std::int64_t units = 0;       // elements or bytes
    std::int64_t operations = 0;  // over the ranks of the file
    std::int64_t first = 0;       // units of this rank
    std::int64_t end = 0;
    std::int64_t most = 0;  // the most operations of any rank
};

/// The share of a fit's dataset in the file at `place`, of `bytes` over all files, in units of `unit` bytes.
[[nodiscard]] FitShare fit_share(const Fit& fit, std::int64_t bytes, std::int64_t unit, std::int64_t dataset,
                                 const Place& place);
/// The same share when the library was given `bytes` for this file alone.
[[nodiscard]] FitShare fit_share_of_file(const Fit& fit, std::int64_t bytes, std::int64_t unit,
                                         std::int64_t dataset, const Place& place);
/// The bytes of a fit in the file at `place`, as planned.
[[nodiscard]] std::int64_t fit_bytes_of_file(const Fit& fit, const Place& place);
/// The number of operations of a rank on all datasets of a fit.
[[nodiscard]] std::int64_t fit_count(const Fit& fit, const Place& place);

class FitOperations {
  public:
    FitOperations(const Fit& fit, const FitShare& share, std::int64_t unit, std::int64_t base, bool joins)
        : fit_(fit),
          share_(share),
          unit_(unit),
          base_(base),
          joins_left_(joins && fit.collective ? share.most - (share.end - share.first) : 0) {}
    bool next(Operation& operation);

  private:
    const Fit& fit_;
    FitShare share_;
    std::int64_t unit_;
    std::int64_t base_;  // where the dataset starts in a linear file
    std::int64_t joins_left_;
};

/// The operations of the busiest rank of a file on one dataset of an array, or on all of them (nullopt), in
/// one direction, or in both (nullopt).
[[nodiscard]] std::int64_t most_of_array(const Array& array, const Layout& layout, const FileSlot& slot,
                                         std::optional<std::int64_t> dataset,
                                         std::optional<Direction> direction);
/// The number of operations of a rank on all datasets of an array.
[[nodiscard]] std::int64_t array_count(const Array& array, const Layout& layout, const FileSlot& slot,
                                       std::int64_t member);

}  // namespace wa
