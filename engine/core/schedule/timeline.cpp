#include "schedule/timeline.hpp"

#include <map>
#include <memory>
#include <string>

#include "schedule/agenda.hpp"
#include "sharing/names.hpp"

namespace wa {
namespace {

/// A rank's part in a dump that is counted.
struct CountedPart {
    CountedPart(const ResolvedPlan& resolved, const DumpTimes& times, const OwnTime& own, std::size_t dump,
                std::int64_t member, const RankCalls::File& stands)
        : operations(resolved.plan, dump, resolved.layout(dump), member,
                     counting_options(resolved, dump, stands.held, std::nullopt)),
          calls(operations, call_rules(resolved.traits(dump)), stands),
          dump_steps(resolved.plan, dump, times, own, operations, calls),
          closes(stands.closes) {}
    CountedPart(const CountedPart&) = delete;
    CountedPart& operator=(const CountedPart&) = delete;
    CountedPart(CountedPart&&) = delete;
    CountedPart& operator=(CountedPart&&) = delete;
    ~CountedPart() = default;
    [[nodiscard]] DumpSteps& steps() { return dump_steps; }

    DumpOperations operations;
    RankCalls calls;
    DumpSteps dump_steps;
    bool closes;
    std::string name;
};

class Timeline {
  public:
    Timeline(const ResolvedPlan& resolved, std::int64_t rank)
        : resolved_(resolved),
          rank_(rank),
          life_(life_of(resolved.plan, rank)),
          times_(dump_times(resolved.plan)),
          agenda_(agenda_entries(resolved.plan, resolved.layouts, times_, rank, false)) {}

    void visit(const std::function<bool(const TimedCall&)>& visit) {
        Agenda<CountedPart>::Event event;
        while (agenda_.next(event)) {
            if (event.kind == EventKind::begin) begin(event.dump);
            if (event.kind == EventKind::end) end(event.dump);
            if (event.kind != EventKind::call || event.call == nullptr) continue;
            if (event.call->kind == Call::Kind::begin_file)
                event.part->name = name_of(event.dump, *event.part, event.call->file);
            const RankCall call{rank_, event.dump, event.part->name, event.call};
            if (!visit({call, event.at_s, event.busy_s})) return;
        }
    }

  private:
    using File = std::pair<std::size_t, std::int64_t>;

    [[nodiscard]] File file_of(std::size_t dump) const {
        return {resolved_.plan.dumps[dump].family, resolved_.plan.dumps[dump].file};
    }

    [[nodiscard]] std::string name_of(std::size_t dump, const CountedPart& part, std::int64_t file) const {
        const FileSlot& slot = part.operations.slot();
        return file_name(resolved_.plan, resolved_.family(dump),
                         resolved_.layout(dump).members().at(slot.first_member), file, slot);
    }

    void begin(std::size_t dump) {
        const auto member = resolved_.layout(dump).members().index_of(rank_);
        if (!member) return;
        const auto open = held_.find(file_of(dump));
        RankCalls::File stands{open != held_.end(), !resolved_.holds(dump), {}};
        if (stands.held) stands.state = open->second;
        auto part = std::make_unique<CountedPart>(
            resolved_, times_[dump],
            OwnTime{life_, delays_of(resolved_.family(dump), resolved_.plan.dumps[dump].index, rank_)}, dump,
            *member, stands);
        part->name = name_of(dump, *part, resolved_.plan.dumps[dump].file);
        agenda_.add(dump, *part);
        parts_[dump] = std::move(part);
    }

    void end(std::size_t dump) {
        const CountedPart& part = *parts_.at(dump);
        if (part.closes) {
            held_.erase(file_of(dump));
        } else if (held_.contains(file_of(dump)) || part.operations.uses_file()) {
            held_[file_of(dump)] = parts_.at(dump)->calls.state();
        }
        parts_.erase(dump);
    }

    const ResolvedPlan& resolved_;
    std::int64_t rank_;
    Life life_;
    std::vector<DumpTimes> times_;
    Agenda<CountedPart> agenda_;
    std::map<std::size_t, std::unique_ptr<CountedPart>> parts_;  // by dump
    std::map<File, AccessState> held_;
};

}  // namespace

void visit_timeline(const ResolvedPlan& resolved, std::int64_t rank,
                    const std::function<bool(const TimedCall&)>& visit) {
    Timeline(resolved, rank).visit(visit);
}

}  // namespace wa
