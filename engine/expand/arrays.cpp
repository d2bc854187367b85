#include "expand/arrays.hpp"

#include "expand/split.hpp"

namespace wa {

TileGrid::TileGrid(const std::vector<std::int64_t>& dims, const Slab& slab) : slab_(slab) {
    for (std::size_t d = 0; d < dims.size(); ++d) {
        // A block holds `stride` interleaved slabs; what does not fill a block at the end is left alone.
        const std::int64_t blocks = dims[d] / slab.count[d] / slab.stride[d];
        const std::int64_t places =
            blocks > 0 ? blocks * slab.stride[d] : dims[d] - (slab.count[d] - 1) * slab.stride[d];
        tiles_of_dimension_.push_back(places);
        tiles_ *= places;
    }
}

void TileGrid::start(std::int64_t tile, std::vector<std::int64_t>& first) const {
    first.resize(tiles_of_dimension_.size());
    for (std::size_t d = tiles_of_dimension_.size(); d-- > 0;) {
        const std::int64_t place = tile % tiles_of_dimension_[d];
        tile /= tiles_of_dimension_[d];
        const std::int64_t stride = slab_.stride[d];
        first[d] = place / stride * slab_.count[d] * stride + place % stride;
    }
}

ArrayOperations::ArrayOperations(const Array& array, std::int64_t dataset, std::int64_t base,
                                 const Layout& layout, const FileSlot& slot, std::int64_t member, bool joins)
    : array_(array),
      dataset_(dataset),
      base_(base),
      layout_(layout),
      slot_(slot),
      member_(member),
      joins_(joins) {}

bool ArrayOperations::enter_slab() {
    while (access_ < array_.access.size()) {
        const Access& access = array_.access[access_];
        if (slab_ < access.slabs.size()) {
            const Slab& slab = access.slabs[slab_];
            place_ = place_of(access.ranks, layout_, slot_, member_);
            const std::int64_t total = share_of(slab.operations, array_.datasets, dataset_);
            left_ = place_.active() ? share_of(total, place_.all, place_.index) : 0;
            const std::int64_t most = place_.here > 0 ? share_of(total, place_.all, place_.first) : 0;
            joins_left_ = joins_ && access.collective ? most - left_ : 0;
            tiles_ = TileGrid(array_.dims, slab).tiles();
            bytes_ = slab.elements() * array_.element;
            done_ = 0;
            return true;
        }
        ++access_;
        slab_ = 0;
    }
    return false;
}

bool ArrayOperations::next(Operation& operation) {
    while (true) {
        if (!entered_) {
            if (!enter_slab()) return false;
            entered_ = true;
        }
        const Access& access = array_.access[access_];
        if (done_ == left_ && joins_left_ == 0) {
            ++slab_;
            entered_ = false;
            continue;
        }
        operation = Operation{};
        operation.direction = access.direction;
        operation.collective = access.collective;
        operation.slab = &access.slabs[slab_];
        if (done_ == left_) {
            operation.joins = true;
            --joins_left_;
            return true;
        }
        operation.tile = (done_ * place_.here + place_.local()) % tiles_;
        operation.size = bytes_;
        operation.offset = base_ + operation.tile * bytes_;
        ++done_;
        return true;
    }
}

std::int64_t array_count(const Array& array, const Layout& layout, const FileSlot& slot,
                         std::int64_t member) {
    std::int64_t count = 0;
    for (const Access& access : array.access) {
        const Place place = place_of(access.ranks, layout, slot, member);
        if (!place.active()) continue;
        for (const Slab& slab : access.slabs) {
            // The first `more` datasets have one operation more than the others.
            const std::int64_t each = slab.operations / array.datasets;
            const std::int64_t more = slab.operations % array.datasets;
            count += more * share_of(each + 1, place.all, place.index) +
                     (array.datasets - more) * share_of(each, place.all, place.index);
        }
    }
    return count;
}

std::int64_t FitOperations::count(const Fit& fit, const Place& place) {
    if (!place.active()) return 0;
    if (!fit.operations) return fit.datasets;
    const std::int64_t each = *fit.operations / fit.datasets;
    const std::int64_t more = *fit.operations % fit.datasets;
    return more * share_of(each + 1, place.all, place.index) +
           (fit.datasets - more) * share_of(each, place.all, place.index);
}

FitOperations::FitOperations(const Fit& fit, std::int64_t bytes, std::int64_t unit, std::int64_t dataset,
                             std::int64_t base, const Place& place, bool joins)
    : fit_(fit), unit_(unit), base_(base) {
    units_ = share_of(bytes / unit, fit.datasets, dataset);
    operations_ = fit.operations ? share_of(*fit.operations, fit.datasets, dataset) : place.all;
    // Ranks of other files have their own dataset of this name: only what lies in this file is laid out here.
    next_ = shares_before(operations_, place.all, place.index);
    end_ = next_ + share_of(operations_, place.all, place.index);
    const auto units_before = [this, &place](std::int64_t rank) {
        return shares_before(units_, operations_, shares_before(operations_, place.all, rank));
    };
    base_ -= units_before(place.first) * unit;
    bytes_here_ = (units_before(place.first + place.here) - units_before(place.first)) * unit;
    const std::int64_t most = share_of(operations_, place.all, place.first);
    joins_left_ = joins && fit.collective ? most - (end_ - next_) : 0;
}

bool FitOperations::next(Operation& operation) {
    operation = Operation{};
    operation.direction = Direction::write;
    operation.collective = fit_.collective;
    if (next_ < end_) {
        operation.offset = base_ + shares_before(units_, operations_, next_) * unit_;
        operation.size = share_of(units_, operations_, next_) * unit_;
        ++next_;
        return true;
    }
    if (joins_left_ == 0) return false;
    --joins_left_;
    operation.joins = true;
    return true;
}

}  // namespace wa
