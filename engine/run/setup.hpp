// Everything that a run works with. It is made before the first dump and does not change afterwards.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "backends/backend.hpp"
#include "folder/folder_locks.hpp"
#include "plan/file_uses.hpp"
#include "plan/plan.hpp"
#include "run/communicators.hpp"
#include "run/options.hpp"
#include "schedule/clock.hpp"
#include "schedule/compute.hpp"
#include "schedule/times.hpp"
#include "sharing/layout.hpp"

namespace wa {

struct Performer {
    const Traits* traits = nullptr;
    Backend* backend = nullptr;
    const Traits* counted = nullptr;  // the backend whose calls are counted
};

/// A file of a family: the family's position in the plan, and the file's number.
using FileKey = std::pair<std::size_t, std::int64_t>;

struct Setup {
    Options options;
    Plan plan;
    std::vector<Layout> layouts;        // one per family
    std::vector<Performer> performers;  // one per family
    std::vector<FileUse> uses;          // one per dump
    std::vector<DumpTimes> times;       // one per dump
    std::vector<bool> reads_others;     // one per dump: ranks read in it what others write in it
    std::map<const Traits*, std::unique_ptr<Backend>> backends;
    Buffers buffers;
    Communicators communicators;
    FolderLocks locks;
    int process = 0;
    int processes = 1;
    bool performs = false;  // a family touches files, so each plan rank needs a process
    Clock clock;
    std::unique_ptr<Computing> computing;  // set if the plan computes and something is performed

    [[nodiscard]] const Family& family(std::size_t dump) const {
        return plan.families[plan.dumps[dump].family];
    }
    [[nodiscard]] const Layout& layout(std::size_t dump) const { return layouts[plan.dumps[dump].family]; }
    [[nodiscard]] const Performer& performer(std::size_t dump) const {
        return performers[plan.dumps[dump].family];
    }
    [[nodiscard]] const Content& content(std::size_t dump) const {
        return plan.contents[plan.dumps[dump].content];
    }
    /// The file of a dump from the point of view of a member of its family.
    [[nodiscard]] FileContext context(std::size_t dump, std::int64_t member) const;
    /// How often a dump renames a file once it has closed it, beside what `rename` and `backup` say.
    [[nodiscard]] std::int64_t further_renames(std::size_t dump, const FileSlot& slot) const;
    /// The files that the run deletes itself.
    [[nodiscard]] std::set<FileKey> deleted_files() const;
    /// The directories of all families.
    [[nodiscard]] std::vector<std::string> folders() const { return options.directories.of_plan(plan); }
    /// The full path of a file of a family.
    [[nodiscard]] std::string path(std::size_t family, std::int64_t file, const FileSlot& slot) const;
    /// The folder that it lies in.
    [[nodiscard]] std::string folder(std::size_t family, std::int64_t file, const FileSlot& slot) const;
};

}  // namespace wa
