#include "count/alike.hpp"

#include <algorithm>
#include <set>

#include "expand/split.hpp"

namespace wa {
namespace {

/// Up to this many breaks are listed; if a rule has more, every member is looked at.
constexpr std::int64_t most_breaks = 4096;

/// The member of `n` whose share of `total` holds the item `index`.
std::int64_t owner_of(std::int64_t total, std::int64_t n, std::int64_t index) {
    const std::int64_t small = total / n;
    const std::int64_t larger = total % n;
    const std::int64_t in_larger = larger * (small + 1);
    if (index < in_larger) return index / (small + 1);
    return small == 0 ? n : larger + (index - in_larger) / small;
}

/// Collects the breaks: members at which a rule of the plan starts to act differently. Positions are those of
/// the acting member; a rank that reads its neighbour's file counts as the neighbour.
class Breaks {
  public:
    explicit Breaks(const Layout& layout) : layout_(layout), n_(layout.size()) { at(0); }

    void add_dump(const ResolvedPlan& resolved, std::size_t dump, std::optional<std::int64_t> payload) {
        const Content& content = resolved.content(dump);
        const Family& family = resolved.family(dump);
        const std::int64_t shift = shift_of(family, content) % n_;
        if (dumps_++ > 0 && shift != shift_) each_member = true;
        shift_ = shift;
        for (const std::int64_t count :
             {content.opens, content.stats, content.seeks, content.flushes, content.fsyncs, content.maps}) {
            at((count % n_ + shift) % n_);
            if (!content.users.empty()) at(user_at(content.users, count % content.users.size()));
        }
        at(shift);
        for (const Stream& stream : content.streams) add_stream(stream);
        for (const Array& array : content.arrays) add_array(array);
        const std::int64_t unit =
            counting_options(resolved, dump, false, payload).whole_elements && content.fit
                ? content.fit->element
                : 1;
        if (content.fit) add_fit(*content.fit, payload.value_or(content.fit->bytes), unit);
        if (content.mesh) add_mesh(*content.mesh, payload);
        if (content.dataset) each_member = true;
        if (layout_.files_of_dump() > 1 && (payload || content.mesh)) each_file = true;
    }

    [[nodiscard]] std::int64_t shift() const { return shift_; }
    [[nodiscard]] const std::set<std::int64_t>& positions() const { return positions_; }

    bool each_member = false;  // rules that differ from member to member
    bool each_file = false;    // rules that differ from file to file

  private:
    void at(std::int64_t member) {
        if (member >= 0 && member < n_) positions_.insert(member);
        if (static_cast<std::int64_t>(positions_.size()) > most_breaks) each_member = true;
    }

    /// The member position of a stream's rank, from its index within the stream.
    [[nodiscard]] std::int64_t member_of(const Ranks& ranks, std::int64_t index) const {
        if (ranks.all) return index;
        return index < ranks.set.size() ? layout_.members().count_below(ranks.set.at(index)) : n_;
    }
    /// The member position of one of the ranks that streams name.
    [[nodiscard]] std::int64_t user_at(const RankSet& users, std::int64_t index) const {
        return layout_.members().count_below(users.at(index));
    }
    [[nodiscard]] std::int64_t size_of(const Ranks& ranks) const { return ranks.all ? n_ : ranks.set.size(); }

    void add_ranks(const Ranks& ranks) {
        if (ranks.all) return;
        for (const RankSpan& span : ranks.set.spans()) {
            const std::int64_t first = layout_.members().count_below(span.first);
            const std::int64_t last = layout_.members().count_below(span.last);
            if (last - first + 1 != span.size()) each_member = true;
            at(first);
            at(last + 1);
        }
    }

    void add_stream(const Stream& stream) {
        if (is_random(stream.pattern) || stream.pattern == Pattern::table) each_member = true;
        add_ranks(stream.ranks);
        const std::int64_t n = size_of(stream.ranks);
        if (n == 0) return;
        at(member_of(stream.ranks, stream.buffer_seeks % n));
        at(member_of(stream.ranks, stream.buffer_flushes % n));
        std::int64_t sum = 0;
        for (const Entry& entry : stream.entries) {
            sum += entry.operations;
            at(member_of(stream.ranks, sum % n));
            at(member_of(stream.ranks, entry.operations % n));
        }
    }

    void add_array(const Array& array) {
        for (const Access& access : array.access) {
            add_ranks(access.ranks);
            const std::int64_t n = size_of(access.ranks);
            if (n == 0) continue;
            for (const Slab& slab : access.slabs) {
                for (const std::int64_t dataset : {std::int64_t{0}, array.datasets - 1}) {
                    const std::int64_t total = share_of(slab.operations, array.datasets, dataset);
                    at(member_of(access.ranks, total % n));
                    add_wraps(access.ranks, total, n, TileGrid(array.dims, slab).tiles());
                }
            }
        }
    }

    /// Adds the members at which the tile number wraps around.
    void add_wraps(const Ranks& ranks, std::int64_t total, std::int64_t n, std::int64_t tiles) {
        if (total <= tiles || tiles == 1) return;
        if (layout_.files_of_dump() > 1 || total / tiles > most_breaks) {
            each_member = true;
            return;
        }
        if (tiles % n == 0) return;
        for (std::int64_t wrap = tiles; wrap < total; wrap += tiles) at(member_of(ranks, wrap % n));
    }

    void add_fit(const Fit& fit, std::int64_t bytes, std::int64_t unit) {
        for (const std::int64_t dataset : {std::int64_t{0}, fit.datasets - 1}) {
            const std::int64_t units = share_of(bytes / unit, fit.datasets, dataset);
            const std::int64_t total = fit.operations ? share_of(*fit.operations, fit.datasets, dataset) : n_;
            if (total == 0) continue;
            at(total % n_);
            const std::int64_t owner = owner_of(total, n_, units % total);
            at(owner);
            at(owner + 1);
        }
        // A dataset in the middle has one of two sizes and one of two numbers of operations.
        for (const std::int64_t units : {bytes / unit / fit.datasets, bytes / unit / fit.datasets + 1}) {
            if (!fit.operations) {
                at(units % n_);
                continue;
            }
            for (const std::int64_t total :
                 {*fit.operations / fit.datasets, *fit.operations / fit.datasets + 1}) {
                if (total == 0) continue;
                const std::int64_t owner = owner_of(total, n_, units % total);
                at(owner);
                at(owner + 1);
            }
        }
    }

    void add_mesh(const Mesh& mesh, std::optional<std::int64_t> bytes) {
        const PartRange all = parts_of(mesh, n_, 0, n_);
        const MeshParts parts =
            bytes ? MeshParts{nodes_for(mesh, all.count, *bytes), all.count} : planned_parts(mesh, all);
        at(1);  // what belongs to no part is written by the first member
        at(mesh.parts % n_);
        const std::int64_t owner =
            owner_of(mesh.parts, n_, parts.nodes % std::max<std::int64_t>(1, parts.parts));
        at(owner);
        at(owner + 1);
    }

    const Layout& layout_;
    std::int64_t n_;
    std::set<std::int64_t> positions_;
    std::int64_t dumps_ = 0;
    std::int64_t shift_ = 0;
};

std::vector<MemberRun> one_by_one(std::int64_t first, std::int64_t count) {
    std::vector<MemberRun> out;
    out.reserve(static_cast<std::size_t>(count));
    for (std::int64_t m = first; m < first + count; ++m) out.push_back({m, m, 1});
    return out;
}

/// Cuts [first, past) at the breaks.
void cut(const std::set<std::int64_t>& breaks, std::int64_t first, std::int64_t past, std::int64_t times,
         std::vector<MemberRun>& out) {
    for (std::int64_t from = first; from < past;) {
        const auto next = breaks.upper_bound(from);
        const std::int64_t to = next == breaks.end() ? past : std::min(past, *next);
        out.push_back({from, to - 1, times});
        from = to;
    }
}

bool broken_inside(const std::set<std::int64_t>& breaks, const FileSlot& slot) {
    const auto next = breaks.upper_bound(slot.first_member);
    return next != breaks.end() && *next < slot.first_member + slot.members;
}

/// Files without a break among their members have equal runs as long as they have equally many members.
std::vector<MemberRun> runs_of_files(const Layout& layout, const Breaks& breaks) {
    std::vector<MemberRun> out;
    const std::int64_t files = layout.files_of_dump();
    const std::set<std::int64_t>& positions = breaks.positions();
    for (std::int64_t file = 0; file < files;) {
        const FileSlot slot = layout.slot(file);
        std::int64_t alike = 1;
        if (!breaks.each_file && !broken_inside(positions, slot)) {
            // Equal files end at the file with the next break, or at the first smaller file.
            const auto next = positions.upper_bound(slot.first_member);
            const std::int64_t bound = next == positions.end() ? layout.size() : *next;
            alike = std::max<std::int64_t>(1, (bound - slot.first_member) / slot.members);
            const std::int64_t larger = layout.size() % files;
            if (file < larger) alike = std::min(alike, larger - file);
        }
        cut(positions, slot.first_member, slot.first_member + slot.members, alike, out);
        file += alike;
    }
    return out;
}

/// Converts runs of acting members into runs of the members that read for them.
std::vector<MemberRun> runs_of_readers(const std::vector<MemberRun>& acting, std::int64_t n,
                                       std::int64_t shift) {
    std::vector<MemberRun> out;
    for (const MemberRun& run : acting) {
        const std::int64_t first = (run.first - shift + n) % n;
        out.push_back({first, first + (run.last - run.first), run.times});
    }
    return out;
}

}  // namespace

std::vector<MemberRun> member_runs(const ResolvedPlan& resolved, const std::vector<std::size_t>& dumps,
                                   const std::vector<std::optional<std::int64_t>>& payloads) {
    const Layout& layout = resolved.layout(dumps.front());
    Breaks breaks(layout);
    for (std::size_t i = 0; i < dumps.size() && !breaks.each_member; ++i)
        breaks.add_dump(resolved, dumps[i], payloads[i]);
    if (breaks.each_member) return one_by_one(0, layout.size());
    std::vector<MemberRun> out;
    if (layout.files_of_dump() == 1) {
        cut(breaks.positions(), 0, layout.size(), 1, out);
    } else {
        out = runs_of_files(layout, breaks);
    }
    return breaks.shift() > 0 ? runs_of_readers(out, layout.size(), breaks.shift()) : out;
}

}  // namespace wa
