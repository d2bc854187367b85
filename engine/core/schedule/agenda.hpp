// The timeline of one rank: the calls of all its dumps, merged in the order of the moments at which they are
// planned. Many dumps can be in progress at once.
//
// All ranks that wait for each other in a call plan it at the same moment, and calls of one moment have the
// order of the plan's dumps. So all ranks meet such calls in one order, and none waits for ever.
#pragma once

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "expand/dump.hpp"
#include "schedule/dump_steps.hpp"
#include "schedule/times.hpp"

namespace wa {

/// What happens on a rank at a moment, in seconds of the original run. The order of the kinds is that of one
/// moment in one dump.
enum class EventKind {
    compute_before,  // the computing between dumps that a plan states
    begin,           // the rank's part in a dump
    call,
    end,
    compute_after
};

/// When a rank begins its part in a dump, or computes.
struct AgendaEntry {
    double at_s = 0;
    std::size_t dump = 0;
    EventKind kind = EventKind::begin;
    [[nodiscard]] auto key() const { return std::tuple(at_s, dump, kind); }
};

/// The entries of a rank in the order of time. A root that gathers data has all ranks in its dumps. If the
/// plan computes between dumps, all ranks do so: before a dump that writes, and after one that only reads.
[[nodiscard]] std::vector<AgendaEntry> agenda_entries(const Plan& plan, const std::vector<Layout>& layouts,
                                                      const std::vector<DumpTimes>& times, std::int64_t rank,
                                                      bool computes);

/// `Part` is a rank's part in a dump that has begun. Its `steps()` are a DumpSteps.
template <typename Part>
class Agenda {
  public:
    struct Event {
        EventKind kind = EventKind::begin;
        std::size_t dump = 0;
        double at_s = 0;
        double busy_s = 0;           // that the original spent in the call
        Part* part = nullptr;        // of a call or an end
        const Call* call = nullptr;  // valid until the next event
    };

    explicit Agenda(std::vector<AgendaEntry> entries) : entries_(std::move(entries)) {}

    /// The next event; false when the rank has done everything. After `begin` the caller may add its part.
    bool next(Event& event) {
        if (present_ != nullptr) go_on();
        if (present_ == nullptr || !comes_first(present_->key())) {
            if (present_ != nullptr) push(present_);
            present_ = nullptr;
            if (next_ < entries_.size() && (heap_.empty() || entries_[next_].key() < heap_.front().key)) {
                const AgendaEntry& entry = entries_[next_++];
                event = {entry.kind, entry.dump, entry.at_s, 0, nullptr, nullptr};
                return true;
            }
            if (heap_.empty()) return false;
            std::pop_heap(heap_.begin(), heap_.end(), later);
            present_ = heap_.back().progress;
            heap_.pop_back();
        }
        const DumpSteps& steps = present_->part->steps();
        event = {present_->kind, present_->dump, present_->at_s, 0, present_->part, nullptr};
        if (present_->kind == EventKind::call) {
            event.busy_s = steps.busy_s();
            event.call = &present_->call;
        }
        return true;
    }

    /// Adds a part that has begun. It must live until its `end`.
    void add(std::size_t dump, Part& part) {
        parts_.push_back(std::make_unique<Progress>());
        Progress& progress = *parts_.back();
        progress.place = parts_.size() - 1;
        progress.dump = dump;
        progress.part = &part;
        advance(progress);
        push(&progress);
    }

  private:
    using Key = std::tuple<double, std::size_t, EventKind>;
    struct Progress {
        std::size_t place = 0;  // among the parts
        std::size_t dump = 0;
        Part* part = nullptr;
        double at_s = 0;
        EventKind kind = EventKind::call;  // of the next event
        Call call;
        [[nodiscard]] Key key() const { return {at_s, dump, kind}; }
    };

    /// Keys lie in the heap, since comparing them is most of the work with many parts.
    struct Waiting {
        Key key;
        Progress* progress = nullptr;
    };
    static bool later(const Waiting& a, const Waiting& b) { return a.key > b.key; }

    static void advance(Progress& progress) {
        DumpSteps& steps = progress.part->steps();
        progress.kind = steps.next(progress.call) ? EventKind::call : EventKind::end;
        progress.at_s = steps.start_s();
    }

    /// Prepares what follows the event that was given last.
    void go_on() {
        if (present_->kind == EventKind::end) {
            std::swap(parts_[present_->place], parts_.back());
            parts_[present_->place]->place = present_->place;
            parts_.pop_back();
            present_ = nullptr;
        } else {
            advance(*present_);
        }
    }

    [[nodiscard]] bool comes_first(const Key& key) const {
        return (heap_.empty() || key < heap_.front().key) &&
               (next_ == entries_.size() || key < entries_[next_].key());
    }

    void push(Progress* progress) {
        heap_.push_back({progress->key(), progress});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    std::vector<AgendaEntry> entries_;
    std::size_t next_ = 0;
    std::vector<std::unique_ptr<Progress>> parts_;
    std::vector<Waiting> heap_;  // all parts but the present one
    Progress* present_ = nullptr;
};

}  // namespace wa
