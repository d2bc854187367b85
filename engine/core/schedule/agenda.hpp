// The timeline of one rank: the calls of all its dumps, merged in the order of the moments at which they are
// planned. Many dumps can be in progress at once.
//
// All ranks that wait for each other in a call plan it at the same moment, and calls of one moment have the
// order of the plan's dumps. So all ranks make such calls in one order, and none waits for ever.
#pragma once

#include <algorithm>
#include <limits>
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
        if (present_ == nullptr || limit_ < present_->key) {
            if (entry_is_next()) {
                if (present_ != nullptr) push(present_);
                present_ = nullptr;
                const AgendaEntry& entry = entries_[next_++];
                set_limit();
                event = {entry.kind, entry.dump, entry.at_s, 0, nullptr, nullptr};
                return true;
            }
            if (heap_.empty()) return false;
            present_ = present_ == nullptr ? pop() : exchange(present_);
            set_limit();
        }
        const DumpSteps& steps = present_->part->steps();
        event = {present_->kind, present_->dump, present_->key.at_s, 0, present_->part, nullptr};
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
        set_limit();
    }

  private:
    /// A moment, and the place of an event among those of the moment.
    struct Key {
        double at_s = 0;
        std::size_t place = 0;
        [[nodiscard]] bool operator<(const Key& other) const {
            // Without branches, since which of two parts comes first cannot be foreseen.
            const int earlier = static_cast<int>(at_s < other.at_s);
            const int same = static_cast<int>(at_s == other.at_s);
            return (earlier | (same & static_cast<int>(place < other.place))) != 0;
        }
    };
    static Key key_of(double at_s, std::size_t dump, EventKind kind) {
        constexpr std::size_t most_kinds = 8;
        return {at_s, dump * most_kinds + static_cast<std::size_t>(kind)};
    }
    static Key key_of(const AgendaEntry& entry) { return key_of(entry.at_s, entry.dump, entry.kind); }

    struct Progress {
        std::size_t place = 0;  // among the parts
        std::size_t dump = 0;
        Part* part = nullptr;
        EventKind kind = EventKind::call;  // of the next event
        Key key;                           // of the next event
        Call call;
    };

    /// Keys lie in the heap, since comparing them is most of the work with many parts.
    struct Waiting {
        Key key;
        Progress* progress = nullptr;
    };
    static void advance(Progress& progress) {
        DumpSteps& steps = progress.part->steps();
        progress.kind = steps.next(progress.call) ? EventKind::call : EventKind::end;
        progress.key = key_of(steps.start_s(), progress.dump, progress.kind);
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

    /// Whether an entry comes before all parts but the present one.
    [[nodiscard]] bool entry_is_next() const {
        return next_ < entries_.size() && (heap_.empty() || key_of(entries_[next_]) < heap_.front().key);
    }

    void set_limit() {
        limit_ = {std::numeric_limits<double>::infinity(), std::numeric_limits<std::size_t>::max()};
        if (!heap_.empty()) limit_ = heap_.front().key;
        if (entry_is_next()) limit_ = key_of(entries_[next_]);
    }

    void push(Progress* progress) {
        heap_.emplace_back();
        rise(heap_.size() - 1, {progress->key, progress});
    }

    /// Takes the first out.
    Progress* pop() {
        Progress* first = heap_.front().progress;
        const Waiting last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) sink(last);
        return first;
    }

    /// Takes the first out and puts another in.
    Progress* exchange(Progress* progress) {
        Progress* first = heap_.front().progress;
        sink({progress->key, progress});
        return first;
    }

    /// Fills the place of the first. What is put in comes late in most cases, so its place is looked for from
    /// the end: one comparison a level on the way down.
    void sink(const Waiting& waiting) {
        const std::size_t size = heap_.size();
        std::size_t hole = 0;
        for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
            if (child + 1 < size) child += static_cast<std::size_t>(heap_[child + 1].key < heap_[child].key);
            heap_[hole] = heap_[child];
            hole = child;
        }
        rise(hole, waiting);
    }

    void rise(std::size_t hole, const Waiting& waiting) {
        while (hole > 0) {
            const std::size_t parent = (hole - 1) / 2;
            if (!(waiting.key < heap_[parent].key)) break;
            heap_[hole] = heap_[parent];
            hole = parent;
        }
        heap_[hole] = waiting;
    }

    std::vector<AgendaEntry> entries_;
    std::size_t next_ = 0;
    std::vector<std::unique_ptr<Progress>> parts_;
    std::vector<Waiting> heap_;  // a binary heap of all parts but the present one
    Progress* present_ = nullptr;
    Key limit_;  // of what comes first beside the present part
};

}  // namespace wa
