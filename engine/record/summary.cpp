#include "record/summary.hpp"

#include <algorithm>

namespace wa {
void KindTimes::merge(const KindTimes& other) {
    if (other.count == 0) return;
    // At a tie the lower rank wins, in whatever order ranks report.
    const bool slower =
        other.slowest_s > slowest_s ||
        (other.slowest_s == slowest_s && (slowest_rank < 0 || other.slowest_rank < slowest_rank));
    if (count == 0 || slower) {
        slowest_s = other.slowest_s;
        slowest_rank = other.slowest_rank;
    }
    count += other.count;
    min_s = std::min(min_s, other.min_s);
    max_s = std::max(max_s, other.max_s);
    total_s += other.total_s;
}

void MpiioTally::merge(const MpiioTally& other) {
    opens += other.opens;
    syncs += other.syncs;
    views += other.views;
    for (std::size_t d = 0; d < by_direction.size(); ++d) {
        by_direction[d].operations += other.by_direction[d].operations;
        by_direction[d].collective += other.by_direction[d].collective;
        by_direction[d].bytes += other.by_direction[d].bytes;
        for (std::size_t b = 0; b < size_bins; ++b)
            by_direction[d].sizes[b] += other.by_direction[d].sizes[b];
    }
}

MpiioTally MpiioTally::since(const MpiioTally& before) const {
    MpiioTally out = *this;
    out.opens -= before.opens;
    out.syncs -= before.syncs;
    out.views -= before.views;
    for (std::size_t d = 0; d < by_direction.size(); ++d) {
        out.by_direction[d].operations -= before.by_direction[d].operations;
        out.by_direction[d].collective -= before.by_direction[d].collective;
        out.by_direction[d].bytes -= before.by_direction[d].bytes;
        for (std::size_t b = 0; b < size_bins; ++b)
            out.by_direction[d].sizes[b] -= before.by_direction[d].sizes[b];
    }
    return out;
}

void Summary::close(std::int64_t plan_rank) {
    rank = plan_rank;
    for (KindTimes& times_of_kind : times) {
        times_of_kind.slowest_rank = plan_rank;
        times_of_kind.slowest_s = times_of_kind.total_s;
    }
}

void Summary::merge(const Summary& other) {
    participants += other.participants;
    due_s = std::min(due_s, other.due_s);
    active.merge(other.active);
    files.merge(other.files);
    transfer.merge(other.transfer);
    for (std::size_t d = 0; d < payload.size(); ++d) payload[d] += other.payload[d];
    mpiio.merge(other.mpiio);
    for (std::size_t k = 0; k < kinds; ++k) times[k].merge(other.times[k]);
    counters.merge(other.counters);
}

}  // namespace wa
