#include "expand/arrays.hpp"

#include "expand/split.hpp"

namespace wa {

TileGrid::TileGrid(const std::vector<std::int64_t>& dims, const Slab& slab) : slab_(slab) {
    for (std::size_t d = 0; d < dims.size(); ++d) {
        // A block holds `stride` interleaved slabs. Elements that do not fill a block at the end are not
        // selected.
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

std::optional<TileGrid::Spot> TileGrid::spot_of(const std::vector<std::int64_t>& coordinates) const {
    Spot spot;
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
        const std::int64_t stride = slab_.stride[d];
        const std::int64_t in_block = coordinates[d] % (slab_.count[d] * stride);
        const std::int64_t place = coordinates[d] / (slab_.count[d] * stride) * stride + in_block % stride;
        if (place >= tiles_of_dimension_[d]) return std::nullopt;
        spot.tile = spot.tile * tiles_of_dimension_[d] + place;
        spot.element = spot.element * slab_.count[d] + in_block / stride;
    }
    return spot;
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
            most_ = most;
            tiles_ = TileGrid(array_.dims, slab).tiles();
            bytes_ = slab.elements() * array_.element;
            pieces_ = array_.multi ? array_.datasets : 1;
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
            turns_passed_ += most_;
            continue;
        }
        operation = Operation{};
        operation.direction = access.direction;
        operation.collective = access.collective;
        operation.slab = &access.slabs[slab_];
        operation.pieces = pieces_;
        operation.piece_stride = pieces_ > 1 ? array_.bytes() : 0;
        if (done_ == left_) {
            operation.joins = true;
            operation.turn = turns_passed_ + most_ - joins_left_;
            --joins_left_;
            return true;
        }
        operation.tile = (done_ * place_.here + place_.local()) % tiles_;
        operation.size = bytes_ * pieces_;
        operation.offset = base_ + operation.tile * bytes_;
        operation.turn = turns_passed_ + done_;
        ++done_;
        return true;
    }
}

std::int64_t most_of_array(const Array& array, const Layout& layout, const FileSlot& slot,
                           std::optional<std::int64_t> dataset, std::optional<Direction> direction) {
    std::int64_t most = 0;
    for (const Access& access : array.access) {
        if (direction && access.direction != *direction) continue;
        const Place place = place_of(access.ranks, layout, slot, slot.first_member);
        if (place.here <= 0) continue;
        const auto of_busiest = [&](std::int64_t total) { return share_of(total, place.all, place.first); };
        for (const Slab& slab : access.slabs) {
            const std::int64_t each = slab.operations / array.datasets;
            const std::int64_t more = slab.operations % array.datasets;
            if (dataset) {
                most += of_busiest(share_of(slab.operations, array.datasets, *dataset));
            } else if (array.multi) {
                most += of_busiest(each);
            } else {
                most += more * of_busiest(each + 1) + (array.datasets - more) * of_busiest(each);
            }
        }
    }
    return most;
}

std::int64_t array_count(const Array& array, const Layout& layout, const FileSlot& slot,
                         std::int64_t member) {
    std::int64_t count = 0;
    for (const Access& access : array.access) {
        const Place place = place_of(access.ranks, layout, slot, member);
        if (!place.active()) continue;
        for (const Slab& slab : access.slabs) {
            if (array.multi) {
                count += share_of(slab.operations / array.datasets, place.all, place.index);
                continue;
            }
            // The first `more` datasets have one operation more than the others.
            const std::int64_t each = slab.operations / array.datasets;
            const std::int64_t more = slab.operations % array.datasets;
            count += more * share_of(each + 1, place.all, place.index) +
                     (array.datasets - more) * share_of(each, place.all, place.index);
        }
    }
    return count;
}

FitShare fit_share(const Fit& fit, std::int64_t bytes, std::int64_t unit, std::int64_t dataset,
                   const Place& place) {
    const std::int64_t units = share_of(bytes / unit, fit.datasets, dataset);
    const std::int64_t total = fit.operations ? share_of(*fit.operations, fit.datasets, dataset) : place.all;
    const auto operations_before = [&](std::int64_t rank) { return shares_before(total, place.all, rank); };
    const std::int64_t from = operations_before(place.first);
    const std::int64_t to = operations_before(place.first + place.here);
    FitShare out;
    out.operations = to - from;
    out.units = shares_before(units, total, to) - shares_before(units, total, from);
    out.first = operations_before(place.index) - from;
    out.end = out.first + share_of(total, place.all, place.index);
    out.most = share_of(total, place.all, place.first);
    return out;
}

FitShare fit_share_of_file(const Fit& fit, std::int64_t bytes, std::int64_t unit, std::int64_t dataset,
                           const Place& place) {
    FitShare out = fit_share(fit, 0, unit, dataset, place);
    out.units = share_of(bytes / unit, fit.datasets, dataset);
    return out;
}

std::int64_t fit_bytes_of_file(const Fit& fit, const Place& place) {
    if (place.here == place.all) return fit.bytes;
    std::int64_t bytes = 0;
    for (std::int64_t d = 0; d < fit.datasets; ++d) bytes += fit_share(fit, fit.bytes, 1, d, place).units;
    return bytes;
}

std::int64_t fit_count(const Fit& fit, const Place& place) {
    if (!place.active()) return 0;
    if (!fit.operations) return fit.datasets;
    const std::int64_t each = *fit.operations / fit.datasets;
    const std::int64_t more = *fit.operations % fit.datasets;
    return more * share_of(each + 1, place.all, place.index) +
           (fit.datasets - more) * share_of(each, place.all, place.index);
}

bool FitOperations::next(Operation& operation) {
    operation = Operation{};
    operation.direction = Direction::write;
    operation.collective = fit_.collective;
    if (share_.first < share_.end) {
        operation.offset = base_ + shares_before(share_.units, share_.operations, share_.first) * unit_;
        operation.size = share_of(share_.units, share_.operations, share_.first) * unit_;
        ++share_.first;
        return true;
    }
    if (joins_left_ == 0) return false;
    --joins_left_;
    operation.joins = true;
    return true;
}

}  // namespace wa
