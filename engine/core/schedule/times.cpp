#include "schedule/times.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <utility>

namespace wa {
namespace {

/// Sums up the compute time that does not fit into its dump, from the stated end of that dump on.
class Delay {
  public:
    /// The delay of what the plan starts at this moment. Moments must not decrease.
    double at(double stated_s) {
        while (!waiting_.empty() && waiting_.top().first <= stated_s) {
            total_ += waiting_.top().second;
            waiting_.pop();
        }
        return total_;
    }
    void add(double stated_end_s, double seconds) {
        if (seconds > 0) waiting_.emplace(stated_end_s, seconds);
    }

  private:
    using Pair = std::pair<double, double>;
    std::priority_queue<Pair, std::vector<Pair>, std::greater<>> waiting_;
    double total_ = 0;
};

/// Positions of dumps; those of one moment in the order of the plan.
std::vector<std::size_t> in_order_of(const std::vector<DumpTimes>& times, double DumpTimes::*moment) {
    std::vector<std::size_t> order(times.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return times[a].*moment < times[b].*moment; });
    return order;
}

}  // namespace

std::vector<DumpTimes> dump_times(const Plan& plan) {
    const std::vector<Dump>& dumps = plan.dumps;
    using File = std::pair<std::size_t, std::int64_t>;
    const auto file_of = [&](const Dump& dump) {
        const bool epoch = plan.contents[dump.content].dataset.has_value();
        return File{dump.family, epoch ? 0 : dump.file};
    };
    std::vector<DumpTimes> times(dumps.size());
    // Dumps of one file keep the order of the plan, from which the use of the file follows.
    std::map<File, double> latest_start;
    for (std::size_t d = 0; d < dumps.size(); ++d) {
        double& latest = latest_start[file_of(dumps[d])];
        times[d].start_s = latest = std::max(latest, dumps[d].start_s);
    }
    std::map<File, double> is_free;  // from this moment on
    Delay delay;
    for (const std::size_t d : in_order_of_start(times)) {
        const Dump& dump = dumps[d];
        const double stated = std::max(dump.end_s - dump.start_s, 0.0);
        const double length = std::max(stated, dump.compute_s);
        double& free = is_free[file_of(dump)];
        const double planned_s = times[d].start_s;
        times[d].start_s = std::max(planned_s + delay.at(planned_s), free);
        times[d].end_s = free = times[d].start_s + length;
        times[d].delay_s = times[d].start_s - dump.start_s;
        delay.add(planned_s + stated, length - stated);
    }
    return times;
}

PartTimes part_times(const Family& family, const DumpTimes& times, const FileSlot& slot,
                     std::int64_t acting_member) {
    if (family.sharing.gather) return {times.start_s, times.start_s};
    if (!family.sharing.baton) return {times.start_s, times.end_s};
    const double turn = (times.end_s - times.start_s) / static_cast<double>(slot.members);
    // Not even by rounding may the last turn end later than the dump does on the ranks that wait for it.
    const double begin_s =
        std::min(times.start_s + turn * static_cast<double>(acting_member - slot.first_member), times.end_s);
    return {begin_s, std::min(begin_s + turn, times.end_s)};
}

std::vector<std::size_t> in_order_of_start(const std::vector<DumpTimes>& times) {
    return in_order_of(times, &DumpTimes::start_s);
}

std::vector<std::size_t> in_order_of_end(const std::vector<DumpTimes>& times) {
    return in_order_of(times, &DumpTimes::end_s);
}

}  // namespace wa
