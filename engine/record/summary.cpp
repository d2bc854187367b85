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
    // At a tie the larger call wins, in whatever order ranks report.
    if (other.max_s > max_s || (other.max_s == max_s && other.max_bytes > max_bytes)) {
        max_s = other.max_s;
        max_bytes = other.max_bytes;
    }
    total_s += other.total_s;
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
