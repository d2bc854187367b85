// The timeline of one rank: the calls of all its dumps, merged in the order of the moments at which they are
// planned. Many dumps can be in progress at once.
//
// All ranks that wait for each other in a call plan it at the same moment, and calls of one moment have the
// order of the plan's dumps. So all ranks make such calls in one order, and none waits for ever.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "expand/dump.hpp"
#include "expand/wide.hpp"
#include "schedule/dump_steps.hpp"
#include "schedule/times.hpp"
#include "schedule/tournament.hpp"

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

    explicit Agenda(std::vector<AgendaEntry> entries) : entries_(std::move(entries)) { set_next_entry_key(); }

    /// The next event; false when the rank has done everything. After `begin` the caller may add its part.
    bool next(Event& event) {
        if (present_ != nullptr) go_on();
        if (next_entry_key_ < order_.first_key()) {
            const AgendaEntry& entry = entries_[next_++];
            set_next_entry_key();
            event = {entry.kind, entry.dump, entry.at_s, 0, nullptr, nullptr};
            return true;
        }
        present_ = order_.first();
        if (present_ == nullptr) return false;
        const DumpSteps& steps = present_->part->steps();
        event = {present_->kind, present_->dump, steps.start_s(), 0, present_->part, nullptr};
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
        progress.number = parts_.size() - 1;
        progress.dump = dump;
        progress.part = &part;
        advance(progress);
        progress.place = order_.add(progress.key, progress);
    }

  private:
    /// A moment, and below it the place of an event among those of the moment. One number compares faster
    /// than two, and comparing is most of the work with many parts.
    using Key = UnsignedWide;
    static Key key_of(double at_s, std::size_t dump, EventKind kind) {
        constexpr std::size_t most_kinds = 8;
        return (static_cast<Key>(in_order(at_s)) << 64U) |
               (dump * most_kinds + static_cast<std::size_t>(kind));
    }
    /// A number that is larger for a later moment.
    static std::uint64_t in_order(double at_s) {
        constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
        const auto bits = std::bit_cast<std::uint64_t>(at_s + 0.0);  // of -0.0, those of 0.0
        return (bits & sign) != 0 ? ~bits : bits | sign;
    }

    struct Progress {
        std::size_t number = 0;  // among the parts
        std::size_t place = 0;   // in the tournament
        std::size_t dump = 0;
        Part* part = nullptr;
        EventKind kind = EventKind::call;  // of the next event
        Key key{};                         // of the next event
        Call call;
    };

    static void advance(Progress& progress) {
        DumpSteps& steps = progress.part->steps();
        progress.kind = steps.next(progress.call) ? EventKind::call : EventKind::end;
        progress.key = key_of(steps.start_s(), progress.dump, progress.kind);
    }

    /// Prepares what follows the event that was given last.
    void go_on() {
        Progress& part = *std::exchange(present_, nullptr);
        if (part.kind == EventKind::end) {
            order_.remove(part.place);
            std::swap(parts_[part.number], parts_.back());
            parts_[part.number]->number = part.number;
            parts_.pop_back();
            return;
        }
        const Key before = part.key;
        advance(part);
        if (part.key != before) order_.change(part.place, part.key);
    }

    void set_next_entry_key() {
        if (next_ == entries_.size()) {
            next_entry_key_ = Tournament<Key, Progress>::never;
        } else {
            const AgendaEntry& entry = entries_[next_];
            next_entry_key_ = key_of(entry.at_s, entry.dump, entry.kind);
        }
    }

    std::vector<AgendaEntry> entries_;
    std::size_t next_ = 0;
    Key next_entry_key_{};
    std::vector<std::unique_ptr<Progress>> parts_;
    Tournament<Key, Progress> order_;  // of the parts, by their next events
    Progress* present_ = nullptr;      // whose event was given last
};

}  // namespace wa
