#include "plan/unwritten.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "backends/traits.hpp"
#include "data/intervals.hpp"
#include "errors.hpp"
#include "expand/dump.hpp"
#include "expand/ranges.hpp"
#include "plan/file_uses.hpp"
#include "plan/operation_table.hpp"
#include "sharing/names.hpp"

namespace wa {
namespace {

/// Up to so many streams and entries, over all files of all dumps, are looked at. Then only the files where a
/// rule changes are, while they are as few; at last the first and the last file of a dump.
constexpr std::int64_t most_rules = 8'000'000;
/// Up to so many ranges that leave holes, and rows of tables, are looked at one by one. What comes after them
/// counts as if it left no holes.
constexpr std::int64_t most_pieces = 2'000'000;

using FileKey = std::pair<std::size_t, std::int64_t>;  // family, file number

/// The dumps of a file, in order.
struct FileDumps {
    std::vector<std::size_t> dumps;
    std::int64_t rules = 0;  // streams and their entries
    bool reads = false;
};

std::int64_t rules_of(const Content& content) {
    std::size_t out = 0;
    for (const Stream& stream : content.streams) out += 1 + stream.entries.size();
    return static_cast<std::int64_t>(out);
}

bool reads_anything(const Content& content) {
    return std::any_of(content.streams.begin(), content.streams.end(), [](const Stream& stream) {
        return stream.pattern == Pattern::table || stream.direction == Direction::read;
    });
}

std::map<FileKey, FileDumps> files_of(const Plan& plan) {
    std::map<FileKey, FileDumps> out;
    std::vector<std::int64_t> rules;
    rules.reserve(plan.contents.size());
    for (const Content& content : plan.contents) rules.push_back(rules_of(content));
    for (std::size_t d = 0; d < plan.dumps.size(); ++d) {
        const Dump& dump = plan.dumps[d];
        const Content& content = plan.contents[dump.content];
        FileDumps& file = out[{dump.family, dump.file}];
        file.dumps.push_back(d);
        file.rules += rules[dump.content];
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

/// The bytes that a stream touches on each rank: two streams with the same numbers touch the same.
std::vector<std::int64_t> places_of(const Stream& stream) {
    std::vector<std::int64_t> out{static_cast<std::int64_t>(stream.pattern), stream.base, stream.stride,
                                  stream.pieces, stream.ranks.all ? 1 : 0};
    const std::vector<RankSpan>& spans = stream.ranks.set.spans();
    out.push_back(static_cast<std::int64_t>(spans.size()));
    for (const RankSpan& span : spans) out.insert(out.end(), {span.first, span.last, span.step});
    for (const Entry& entry : stream.entries) out.insert(out.end(), {entry.operations, entry.size});
    return out;
}

/// For each stream of a content, whether each rank reads only what it has written itself in an earlier one.
std::vector<bool> reads_its_own(const Content& content) {
    std::vector<bool> out;
    std::set<std::vector<std::int64_t>> written;
    for (const Stream& stream : content.streams) {
        std::vector<std::int64_t> places = places_of(stream);
        // Shuffled places are dealt to the ranks of each stream anew.
        out.push_back(stream.pattern != Pattern::shuffled && written.contains(places));
        if (stream.direction == Direction::write) written.insert(std::move(places));
    }
    return out;
}

/// How much is looked at one by one, over all files.
class Effort {
  public:
    explicit Effort(std::function<void()> checkpoint) : checkpoint_(std::move(checkpoint)) {}

    /// Whether so many pieces may still be looked at, which are then counted.
    [[nodiscard]] bool afford(std::int64_t pieces) {
        if (pieces > left_) return false;
        left_ -= pieces;
        return true;
    }

    /// The same for the rules of so many files.
    [[nodiscard]] bool afford_files(std::int64_t files, std::int64_t rules) {
        if (files > rules_left_ / std::max<std::int64_t>(1, rules)) return false;
        rules_left_ -= files * rules;
        return true;
    }

    /// To be called for each piece, and each stream of a file.
    void step() {
        if (++steps_ % steps_between_checkpoints == 0 && checkpoint_) checkpoint_();
    }

  private:
    static constexpr std::int64_t steps_between_checkpoints = 1 << 14;
    std::function<void()> checkpoint_;
    std::int64_t left_ = most_pieces;
    std::int64_t rules_left_ = most_rules;
    std::int64_t steps_ = 0;
};

/// No file of a plan that was checked reaches further than 64 bits.
std::int64_t narrow(Wide bytes) {
    return static_cast<std::int64_t>(bytes);
}

ByteRange part_of(const RangeRow& row, std::int64_t index) {
    const Wide start = row.first + index * row.step;
    return {narrow(start), narrow(start + row.size)};
}

ByteRange range_of(const RangeRow& row) {
    return {narrow(row.first), narrow(row.end())};
}

/// Goes through the dumps of one file in their order.
class FileReads {
  public:
    FileReads(const Plan& plan, const std::vector<FileUse>& uses, const Layout& layout, Effort& effort,
              Findings& found)
        : plan_(plan), uses_(uses), layout_(layout), effort_(effort), found_(found) {}

    /// Looks for each dump of the file for the first read of bytes that were not written.
    void look(const FileDumps& file) {
        for (const FileSlot& slot : slots_of(file)) {
            slot_ = slot;
            written_.clear();
            written_.add(0, narrow(prepared_end(file)));
            there_ = written_;
            for (const std::size_t d : file.dumps) look_at_dump(d);
        }
    }

  private:
    [[nodiscard]] std::vector<FileSlot> slots_of(const FileDumps& file) const {
        std::vector<FileSlot> out;
        const std::int64_t files = layout_.files_of_dump();
        if (effort_.afford_files(files, file.rules)) {
            for (std::int64_t f = 0; f < files; ++f) out.push_back(layout_.slot(f));
            return out;
        }
        std::set<std::int64_t> looked_at = files_with_changes(file);
        if (!effort_.afford_files(static_cast<std::int64_t>(looked_at.size()), file.rules))
            looked_at = {0, files - 1};
        for (const std::int64_t f : looked_at) out.push_back(layout_.slot(f));
        return out;
    }

    [[nodiscard]] std::set<std::int64_t> files_with_changes(const FileDumps& file) const {
        const std::int64_t files = layout_.files_of_dump();
        std::set<std::int64_t> members{0, layout_.size() - 1};
        for (const std::size_t d : file.dumps) {
            for (const Stream& stream : plan_.contents[plan_.dumps[d].content].streams)
                add_breaks(stream, layout_, members);
        }
        std::set<std::int64_t> out{layout_.size() % files};  // the first file of fewer members than others
        for (const std::int64_t member : members) out.insert(layout_.slot_of_member(member).file);
        return out;
    }

    /// As run/prepare.cpp makes the file.
    [[nodiscard]] Wide prepared_end(const FileDumps& file) const {
        Wide end = 0;
        for (const std::size_t d : file.dumps) {
            const Dump& dump = plan_.dumps[d];
            if (!uses_[d].prepared || !(dump.prepare || uses_[d].first)) continue;
            end = std::max(end, dump_end(plan_, dump, layout_, slot_, Direction::read));
        }
        return end;
    }

    void look_at_dump(std::size_t d) {
        const Dump& dump = plan_.dumps[d];
        const Content& content = plan_.contents[dump.content];
        dump_ = d;
        fresh_.clear();
        const Family& family = plan_.families[dump.family];
        const bool empties = (family.truncate && slot_.members == 1 && !uses_[d].first) ||
                             (family.backup && uses_[d].replaces);
        if (empties && moves(content, Direction::write)) {
            written_.clear();
            there_.clear();
        }
        const std::vector<bool>& own = own_reads(dump.content);
        for (std::size_t s = 0; s < content.streams.size(); ++s) {
            const Stream& stream = content.streams[s];
            effort_.step();
            if (stream.pattern == Pattern::table) {
                if (stream.rows) look_at_table(s, *stream.rows, dump.base + stream.base);
                continue;
            }
            for (RangeRow row :
                 ranges_of(stream, place_of(stream.ranks, layout_, slot_, slot_.first_member))) {
                row.first += dump.base;
                if (stream.direction == Direction::write) {
                    write(row);
                } else {
                    read(s, row, slot_.members > 1 && !own[s]);
                }
            }
        }
        // What arrays and meshes write is taken as one range without holes.
        if (!content.arrays.empty() || content.fit || content.mesh)
            add({dump.base, narrow(dump_end(plan_, dump, layout_, slot_, Direction::write))});
        if (plan_.families[dump.family].sharing.baton && found_.read_others.contains(d)) look_at_turns();
        written_.add(fresh_);
    }

    /// A rank that takes turns cannot wait for what a rank with a later turn writes. Beyond the bound of such
    /// pieces, the reads count as if they met data.
    void look_at_turns() {
        const auto of_member = [&](std::int64_t m) {
            return DumpOperations(plan_, dump_, layout_, slot_.first_member + m, {});
        };
        const auto streams =
            static_cast<std::int64_t>(plan_.contents[plan_.dumps[dump_].content].streams.size());
        if (!effort_.afford(streams * slot_.members)) return;
        std::int64_t operations = 0;
        for (std::int64_t m = 0; m < slot_.members; ++m) operations += of_member(m).own_operations();
        if (!effort_.afford(operations)) return;
        Intervals there = written_;
        for (std::int64_t m = 0; m < slot_.members; ++m) {
            DumpOperations calls = of_member(m);
            Section section;
            Operation call;
            while (calls.next_section(section)) {
                while (calls.next(call)) take_turn(section.part, call, there);
            }
        }
    }

    void take_turn(std::size_t s, const Operation& call, Intervals& there) {
        for (std::int64_t i = 0; i < call.pieces; ++i) {
            effort_.step();
            const std::int64_t start = call.offset + i * call.piece_stride;
            const ByteRange range{start, start + call.size / call.pieces};
            const bool in_file = plan_.families[plan_.dumps[dump_].family].sparse && range.end <= there.end();
            if (call.direction == Direction::write) {
                there.add(range.start, range.end);
            } else if (const auto gap = in_file ? std::nullopt : there.first_gap(range)) {
                found_.unwritten.try_emplace(
                    dump_, UnwrittenRead{dump_, s, slot_, gap->start, gap->end, false, true});
            }
        }
    }

    const std::vector<bool>& own_reads(std::size_t content) {
        const auto [known, fresh] = own_reads_.try_emplace(content);
        if (fresh) known->second = reads_its_own(plan_.contents[content]);
        return known->second;
    }

    void add(ByteRange range) {
        fresh_.add(range.start, range.end);
        there_.add(range.start, range.end);
    }

    void write(const RangeRow& row) {
        const ByteRange whole = range_of(row);
        if (row.count == 1 || !written_.first_gap(whole) || !effort_.afford(row.count)) {
            add(whole);
            return;
        }
        for (std::int64_t i = 0; i < row.count; ++i) {
            effort_.step();
            add(part_of(row, i));
        }
    }

    void read(std::size_t s, const RangeRow& row, bool of_others) {
        const ByteRange whole = range_of(row);
        if (!written_.first_gap(whole)) return;
        const std::int64_t first = effort_.afford(row.count) ? 0 : row.count - 1;
        for (std::int64_t i = first; i < row.count; ++i) read(s, part_of(row, i), whole.end, of_others);
    }

    /// `reached`: one past the last byte that is read with these.
    void read(std::size_t s, ByteRange range, std::int64_t reached, bool of_others) {
        effort_.step();
        if (!written_.first_gap(range)) return;
        if (of_others) found_.read_others.insert(dump_);
        if (const auto gap = there_.first_gap(range)) note(s, *gap, reached);
    }

    /// The rows of a table are of both directions, and nothing makes ranks wait for each other amid them:
    /// each rank may read what was there before, and what it has written itself.
    void look_at_table(std::size_t s, const OperationRows& rows, std::int64_t base) {
        const auto [first, last] = rows_of_slot(rows);
        if (!effort_.afford(last - first)) {
            look_at_ends(s, rows, base);
            return;
        }
        Intervals all;
        std::map<std::int64_t, Intervals> own;  // by rank
        for (std::int64_t i = first; i < last; ++i) {
            effort_.step();
            const OperationTable::Row row = rows.row(i);
            if (row.length == 0 || !in_slot(row.rank)) continue;
            const ByteRange range{base + row.offset, base + row.offset + row.length};
            if (row.write) {
                all.add(range.start, range.end);
                own[row.rank].add(range.start, range.end);
            } else {
                read_row(s, range, own[row.rank], base + rows.end(Direction::read));
            }
        }
        fresh_.add(all);
        there_.add(all);
    }

    /// Each part that earlier dumps and streams left out must be the rank's own. Beyond the bound of such
    /// parts, only the end of what is read counts.

    void read_row(std::size_t s, ByteRange range, const Intervals& own, std::int64_t reached) {
        while (const auto gap = there_.first_gap(range)) {
            if (const auto missing = own.first_gap(*gap)) {
                note(s, *missing, reached);
                return;
            }
            effort_.step();
            range.start = effort_.afford(1) ? gap->end : std::max({gap->end, there_.end(), own.end()});
        }
    }

    [[nodiscard]] std::pair<std::int64_t, std::int64_t> rows_of_slot(const OperationRows& rows) const {
        const std::int64_t last_member = slot_.first_member + slot_.members - 1;
        return {rows.range_of(layout_.members().at(slot_.first_member)).first,
                rows.range_of(layout_.members().at(last_member)).second};
    }

    [[nodiscard]] bool in_slot(std::int64_t rank) const {
        const auto member = layout_.members().index_of(rank);
        return member && *member >= slot_.first_member && *member < slot_.first_member + slot_.members;
    }

    /// Of a table that is too long to be looked at row by row, only the ends count; they are those of all
    /// files.
    void look_at_ends(std::size_t s, const OperationRows& rows, std::int64_t base) {
        const std::int64_t reached = base + rows.end(Direction::read);
        const std::int64_t written = base + rows.end(Direction::write);
        const std::int64_t end = std::max(there_.end(), written);
        const bool one_file = slot_.members == layout_.size();
        if (one_file && rows.end(Direction::read) > 0 && reached > end) note(s, {end, reached}, reached);
        add({base, written});
    }

    /// A read of [.., reached) that begins to miss data at `gap`.
    void note(std::size_t s, ByteRange gap, std::int64_t reached) {
        const std::int64_t end = there_.end();
        const bool hole = reached <= end;
        if (plan_.families[plan_.dumps[dump_].family].sparse) {
            if (hole) return;
            gap = {std::max(gap.start, end), reached};
        }
        const UnwrittenRead read{dump_, s, slot_, gap.start, gap.end, hole};
        const auto [known, first] = found_.unwritten.try_emplace(dump_, read);
        if (!first && known->second.hole && !hole) known->second = read;
    }

    const Plan& plan_;
    const std::vector<FileUse>& uses_;
    const Layout& layout_;
    Effort& effort_;
    Findings& found_;
    FileSlot slot_;
    std::size_t dump_ = 0;
    Intervals written_;  // before the dump
    Intervals fresh_;    // in the dump
    Intervals there_;    // both together: a search in each of them would meet every hole of the other
    std::map<std::size_t, std::vector<bool>> own_reads_;  // by content
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

Findings findings_of(const Plan& plan, const std::function<void()>& checkpoint) {
    const std::vector<FileUse> uses = file_uses(plan);
    std::vector<Layout> layouts;
    layouts.reserve(plan.families.size());
    for (const Family& family : plan.families) layouts.emplace_back(family, plan.ranks);
    Findings found;
    Effort effort(checkpoint);
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
        FileReads(plan, uses, layouts[key.first], effort, found).look(file);
    }
    return found;
}

}  // namespace

std::vector<UnwrittenRead> unwritten_reads(const Plan& plan, const std::function<void()>& checkpoint) {
    std::vector<UnwrittenRead> out;
    for (const auto& [dump, read] : findings_of(plan, checkpoint).unwritten) out.push_back(read);
    return out;
}

std::vector<bool> dumps_that_read_others(const Plan& plan) {
    std::vector<bool> out(plan.dumps.size());
    for (const std::size_t dump : findings_of(plan, {}).read_others) out[dump] = true;
    return out;
}

void check_reads(const Plan& plan, const std::function<void()>& checkpoint) {
    const std::vector<UnwrittenRead> found = unwritten_reads(plan, checkpoint);
    if (found.empty()) return;
    const UnwrittenRead& read = found.front();
    const Dump& dump = plan.dumps[read.dump];
    const Family& family = plan.families[dump.family];
    const Layout layout(family, plan.ranks);
    const std::string name =
        file_name(plan, family, layout.members().at(read.slot.first_member), dump.file, read.slot);
    const std::string what = fmt::format("stream {} reads bytes {} to {} of {}, which ", read.stream,
                                         read.from, read.to - 1, name);
    if (read.later_turn)
        throw PlanError(fmt::format("dumps[{}]", read.dump), what + "a rank with a later turn writes",
                        "set prepare to true, or turns of the family to concurrent");
    throw PlanError(fmt::format("dumps[{}]", read.dump), what + "no dump has written",
                    read.hole ? "set prepare to true, or sparse of the family if the file has a hole there"
                              : "set prepare to true, or write them before");
}

}  // namespace wa
