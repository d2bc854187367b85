#include "plan/unwritten.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "backends/traits.hpp"
#include "errors.hpp"
#include "expand/dump.hpp"
#include "plan/file_uses.hpp"
#include "plan/operation_table.hpp"
#include "sharing/names.hpp"

namespace wa {
namespace {

/// Up to so many streams, over all files, are looked at; beyond, only the files where a rule changes.
constexpr std::int64_t most_streams = 2'000'000;
/// Up to so many rows of a table that is not sorted by rank, times ranks, are looked at.
constexpr std::int64_t most_rows = 100'000'000;

using FileKey = std::pair<std::size_t, std::int64_t>;  // family, file number

/// The dumps of a file, in order.
struct FileDumps {
    std::vector<std::size_t> dumps;
    std::int64_t streams = 0;
    bool reads = false;
};

bool reads_anything(const Content& content) {
    return std::any_of(content.streams.begin(), content.streams.end(), [](const Stream& stream) {
        return stream.pattern == Pattern::table || stream.direction == Direction::read;
    });
}

std::map<FileKey, FileDumps> files_of(const Plan& plan) {
    std::map<FileKey, FileDumps> out;
    for (std::size_t d = 0; d < plan.dumps.size(); ++d) {
        const Dump& dump = plan.dumps[d];
        const Content& content = plan.contents[dump.content];
        FileDumps& file = out[{dump.family, dump.file}];
        file.dumps.push_back(d);
        file.streams += static_cast<std::int64_t>(content.streams.size());
        file.reads |= reads_anything(content);
    }
    return out;
}

/// The members at which a stream's operations in a file may change, with their neighbours.
void add_breaks(const Stream& stream, const Layout& layout, std::set<std::int64_t>& members) {
    const auto at = [&](std::int64_t member) {
        for (std::int64_t m = member - 1; m <= member + 1; ++m) {
            if (m >= 0 && m < layout.size()) members.insert(m);
        }
    };
    const std::int64_t n = stream.ranks.all ? layout.size() : stream.ranks.set.size();
    const auto member_of = [&](std::int64_t index) {
        return stream.ranks.all ? index : layout.members().count_below(stream.ranks.set.at(index));
    };
    if (!stream.ranks.all) {
        for (const RankSpan& span : stream.ranks.set.spans()) {
            at(layout.members().count_below(span.first));
            at(layout.members().count_below(span.last));
        }
    }
    for (const Entry& entry : stream.entries) {
        if (n > 0) at(member_of(entry.operations % n));
    }
}

/// What is found for dumps, by their position in the plan.
struct Findings {
    std::map<std::size_t, UnwrittenRead> unwritten;
    std::set<std::size_t> read_others;
};

/// Whether two streams of opposite directions touch the same bytes on each rank.
bool same_places(const Stream& a, const Stream& b) {
    const auto entries = [](const Stream& stream) {
        std::vector<std::pair<std::int64_t, std::int64_t>> out;
        for (const Entry& entry : stream.entries) out.emplace_back(entry.operations, entry.size);
        return out;
    };
    return a.pattern == b.pattern && a.base == b.base && a.stride == b.stride && a.pieces == b.pieces &&
           a.ranks.all == b.ranks.all && a.ranks.set == b.ranks.set && entries(a) == entries(b);
}

class FileEnds {
  public:
    FileEnds(const Plan& plan, const std::vector<FileUse>& uses, const Layout& layout)
        : plan_(plan), uses_(uses), layout_(layout) {}

    /// Looks for each dump of a file for the first read beyond its end.
    void look(const FileDumps& file, Findings& found) const {
        for (const FileSlot& slot : slots_of(file)) {
            Wide end = prepared_end(file, slot);
            for (const std::size_t d : file.dumps) look_at_dump(d, slot, end, found);
        }
    }

  private:
    [[nodiscard]] std::vector<FileSlot> slots_of(const FileDumps& file) const {
        std::vector<FileSlot> out;
        const std::int64_t files = layout_.files_of_dump();
        if (files <= most_streams / std::max<std::int64_t>(1, file.streams)) {
            for (std::int64_t f = 0; f < files; ++f) out.push_back(layout_.slot(f));
            return out;
        }
        std::set<std::int64_t> members{0, layout_.size() - 1};
        for (const std::size_t d : file.dumps) {
            for (const Stream& stream : plan_.contents[plan_.dumps[d].content].streams)
                add_breaks(stream, layout_, members);
        }
        for (const std::int64_t member : members) out.push_back(layout_.slot_of_member(member));
        return out;
    }

    /// As run/prepare.cpp makes the file.
    [[nodiscard]] Wide prepared_end(const FileDumps& file, const FileSlot& slot) const {
        Wide end = 0;
        for (const std::size_t d : file.dumps) {
            const Dump& dump = plan_.dumps[d];
            if (!uses_[d].prepared || !(dump.prepare || uses_[d].first)) continue;
            end = std::max(end, dump_end(plan_, dump, layout_, slot, Direction::read));
        }
        return end;
    }

    void look_at_dump(std::size_t d, const FileSlot& slot, Wide& end, Findings& found) const {
        const Dump& dump = plan_.dumps[d];
        const Content& content = plan_.contents[dump.content];
        const Wide before = end;
        for (std::size_t s = 0; s < content.streams.size(); ++s) {
            const Stream& stream = content.streams[s];
            if (stream.pattern == Pattern::table) {
                note_table(d, s, slot, end, found);
                end = std::max(end, table_end(stream, slot, Direction::write, dump.base));
                continue;
            }
            const Wide reached = data_end(stream, place_of(stream.ranks, layout_, slot, slot.first_member));
            if (reached == 0) continue;
            if (stream.direction == Direction::write) {
                end = std::max(end, reached + dump.base);
            } else {
                note(d, s, slot, end, reached + dump.base, found);
                if (slot.members > 1 && reached + dump.base > before && !reads_its_own(content, s))
                    found.read_others.insert(d);
            }
        }
        if (!content.arrays.empty() || content.fit || content.mesh)
            end = std::max(end, dump_end(plan_, dump, layout_, slot, Direction::write));
    }

    [[nodiscard]] Wide table_end(const Stream& stream, const FileSlot& slot, Direction direction,
                                 std::int64_t base) const {
        if (!stream.rows) return 0;
        std::int64_t end = 0;
        if (slot.members == layout_.size()) {
            end = stream.rows->end(direction);
        } else {
            for (std::int64_t m = slot.first_member; m < slot.first_member + slot.members; ++m)
                end = std::max(end, stream.rows->end_of(direction, layout_.members().at(m)));
        }
        return end > 0 ? Wide{base} + stream.base + end : 0;
    }

    /// The rows of a table are of both directions, and nothing makes ranks wait for each other amid them:
    /// each rank may read what was there before, and what it writes itself.
    void note_table(std::size_t d, std::size_t s, const FileSlot& slot, Wide end, Findings& found) const {
        const Dump& dump = plan_.dumps[d];
        const Stream& stream = plan_.contents[dump.content].streams[s];
        const Wide reached = table_end(stream, slot, Direction::read, dump.base);
        if (reached <= end) return;
        const OperationRows& rows = *stream.rows;
        if (!rows.sorted() && rows.rows() > most_rows / slot.members) return;
        const Wide base = Wide{dump.base} + stream.base;
        for (std::int64_t m = slot.first_member; m < slot.first_member + slot.members; ++m) {
            const std::int64_t rank = layout_.members().at(m);
            const std::int64_t read = rows.end_of(Direction::read, rank);
            if (read == 0) continue;
            note(d, s, slot, std::max(end, base + rows.end_of(Direction::write, rank)), base + read, found);
        }
    }

    /// Whether each rank reads only what it has written itself in an earlier stream.
    static bool reads_its_own(const Content& content, std::size_t s) {
        const auto end = content.streams.begin() + static_cast<std::ptrdiff_t>(s);
        return std::any_of(content.streams.begin(), end, [&](const Stream& earlier) {
            return earlier.direction == Direction::write && same_places(earlier, content.streams[s]);
        });
    }

    static void note(std::size_t d, std::size_t s, const FileSlot& slot, Wide end, Wide reached,
                     Findings& found) {
        if (reached <= end) return;
        found.unwritten.try_emplace(
            d, UnwrittenRead{d, s, slot, static_cast<std::int64_t>(end), static_cast<std::int64_t>(reached)});
    }

    const Plan& plan_;
    const std::vector<FileUse>& uses_;
    const Layout& layout_;
};

/// What was found for one dump holds for another.
void repeat(Findings& found, std::size_t of_dump, std::size_t dump) {
    if (found.read_others.contains(of_dump)) found.read_others.insert(dump);
    const auto same = found.unwritten.find(of_dump);
    if (same == found.unwritten.end()) return;
    UnwrittenRead read = same->second;
    read.dump = dump;
    found.unwritten.emplace(dump, read);
}

Findings findings_of(const Plan& plan) {
    const std::vector<FileUse> uses = file_uses(plan);
    std::vector<Layout> layouts;
    layouts.reserve(plan.families.size());
    for (const Family& family : plan.families) layouts.emplace_back(family, plan.ranks);
    Findings found;
    // Files of a family with a dump each are alike where their contents are: the first stands for all.
    std::map<std::tuple<std::size_t, std::size_t, std::int64_t, bool>, std::size_t> known;
    for (const auto& [key, file] : files_of(plan)) {
        if (!file.reads || !plan.families[key.first].backend->plain_bytes) continue;
        const std::size_t d = file.dumps.front();
        const Dump& first = plan.dumps[d];
        if (file.dumps.size() == 1) {
            const auto [alike, fresh] =
                known.try_emplace({key.first, first.content, first.base, first.prepare}, d);
            if (!fresh) {
                repeat(found, alike->second, d);
                continue;
            }
        }
        FileEnds(plan, uses, layouts[key.first]).look(file, found);
    }
    return found;
}

}  // namespace

std::vector<UnwrittenRead> unwritten_reads(const Plan& plan) {
    std::vector<UnwrittenRead> out;
    for (const auto& [dump, read] : findings_of(plan).unwritten) out.push_back(read);
    return out;
}

std::vector<bool> dumps_that_read_others(const Plan& plan) {
    std::vector<bool> out(plan.dumps.size());
    for (const std::size_t dump : findings_of(plan).read_others) out[dump] = true;
    return out;
}

void check_reads(const Plan& plan) {
    const std::vector<UnwrittenRead> found = unwritten_reads(plan);
    if (found.empty()) return;
    const UnwrittenRead& read = found.front();
    const Dump& dump = plan.dumps[read.dump];
    const Family& family = plan.families[dump.family];
    const Layout layout(family, plan.ranks);
    const std::string name =
        file_name(plan, family, layout.members().at(read.slot.first_member), dump.file, read.slot);
    throw PlanError(fmt::format("dumps[{}]", read.dump),
                    fmt::format("stream {} reads bytes {} to {} of {}, which no dump has written",
                                read.stream, read.from, read.to - 1, name),
                    "set prepare to true, or write them before");
}

}  // namespace wa
