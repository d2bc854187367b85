#include "data/intervals.hpp"

#include <algorithm>
#include <iterator>

namespace wa {

void Intervals::add(std::int64_t start, std::int64_t end) {
    if (start >= end) return;
    auto next = ranges_.upper_bound(start);
    if (next != ranges_.begin() && std::prev(next)->second >= start) {
        --next;
        start = next->first;
    }
    while (next != ranges_.end() && next->first <= end) {
        end = std::max(end, next->second);
        next = ranges_.erase(next);
    }
    ranges_[start] = end;
}

void Intervals::each_gap(std::int64_t start, std::int64_t end,
                         const std::function<void(std::int64_t, std::int64_t)>& visit) const {
    auto range = ranges_.upper_bound(start);
    if (range != ranges_.begin()) start = std::max(start, std::prev(range)->second);
    for (; start < end && range != ranges_.end() && range->first < end; ++range) {
        if (start < range->first) visit(start, range->first);
        start = range->second;
    }
    if (start < end) visit(start, end);
}

void Intervals::add(const Intervals& other) {
    for (const auto& [start, end] : other.ranges_) add(start, end);
}

std::optional<ByteRange> Intervals::first_gap(ByteRange range) const {
    const auto next = ranges_.upper_bound(range.start);
    if (next != ranges_.begin()) range.start = std::max(range.start, std::prev(next)->second);
    if (range.start >= range.end) return std::nullopt;
    if (next != ranges_.end()) range.end = std::min(range.end, next->first);
    return range;
}

}  // namespace wa
