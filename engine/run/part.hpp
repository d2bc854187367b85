// A rank's part in a dump that is in progress.
#pragma once

#include <memory>
#include <optional>

#include "count/resolved.hpp"
#include "expand/calls.hpp"
#include "record/summary.hpp"
#include "run/gather.hpp"
#include "run/setup.hpp"
#include "schedule/dump_steps.hpp"

namespace wa {

/// A file that a rank has open.
struct HeldFile {
    std::unique_ptr<OpenFile> file;
    AccessState state;
};

struct RankPart {
    RankPart(const Setup& setup, std::size_t dump, std::int64_t member, const OwnTime& own_time,
             const DumpOperations::Options& dump_options, const RankCalls::File& file_state,
             FileContext file_context)
        : position(dump),
          family(setup.family(dump)),
          performer(setup.performer(dump)),
          use(setup.uses[dump]),
          performs(performer.traits->performs),
          reads_others(performs && setup.reads_others[dump] && !family.sharing.baton),
          options(dump_options),
          operations(setup.plan, dump, setup.layout(dump), member, dump_options),
          calls(operations, call_rules(*performer.counted), file_state),
          dump_steps(setup.plan, dump, setup.times[dump], own_time, operations, calls, reads_others),
          context(std::move(file_context)) {
        context.mesh = operations.mesh();
        summary.dump = static_cast<std::int64_t>(dump);
    }
    RankPart(const RankPart&) = delete;
    RankPart& operator=(const RankPart&) = delete;
    RankPart(RankPart&&) = delete;
    RankPart& operator=(RankPart&&) = delete;
    ~RankPart() = default;
    [[nodiscard]] DumpSteps& steps() { return dump_steps; }

    std::size_t position;
    const Family& family;
    const Performer& performer;
    const FileUse& use;
    bool performs;
    bool reads_others;   // a barrier between its writes and its reads is needed
    bool wrote = false;  // since the last such barrier
    bool fits = false;   // the library was given other bytes than the plan has
    DumpOperations::Options options;
    DumpOperations operations;
    RankCalls calls;
    DumpSteps dump_steps;
    FileContext context;
    Summary summary;
    HeldFile* file = nullptr;
    HeldFile own;                     // a file that exists in this dump only
    std::unique_ptr<OpenFile> extra;  // opened to be closed again at once
    std::optional<Gather> gather;
};

}  // namespace wa
