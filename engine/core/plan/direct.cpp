#include "plan/direct.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "backends/traits.hpp"
#include "errors.hpp"
#include "plan/enum_words.hpp"
#include "plan/limits.hpp"
#include "plan/operation_table.hpp"

namespace wa {
namespace {

std::string name_of(const Family& family) {
    return fmt::format("{} {}", word_of(family.role), family.number);
}

/// The numbers of one content that a family uses.
class Blocks {
  public:
    Blocks(const Family& family, std::size_t content)
        : name_(name_of(family)), place_(fmt::format("contents[{}]", content)) {}

    void check(const Content& content) const {
        if (!content.arrays.empty() || content.fit || content.mesh) {
            throw PlanError(place_, name_ + " is direct, which goes with streams and data sets",
                            "leave out `direct`");
        }
        for (std::size_t s = 0; s < content.streams.size(); ++s) check(content.streams[s], s);
        if (content.dataset) check(*content.dataset);
    }

    void whole(std::int64_t bytes, const std::string& place, const char* what) const {
        if (bytes % limits::direct_block == 0) return;
        throw PlanError(place,
                        fmt::format("{} is direct, and {} of {} bytes is no multiple of {}", name_, what,
                                    bytes, limits::direct_block),
                        "use whole blocks, another scale, or leave out `direct`");
    }

  private:
    void check(const Stream& stream, std::size_t number) const {
        const std::string place = fmt::format("{}.streams[{}]", place_, number);
        if (stream.rows) return check(*stream.rows, place);
        whole(stream.base, place + ".base", "an offset");
        if (stream.pattern == Pattern::strided) whole(stream.stride, place + ".stride", "a stride");
        for (std::size_t e = 0; e < stream.entries.size(); ++e) {
            const Entry& entry = stream.entries[e];
            if (entry.operations > 0)
                whole(entry.size / stream.pieces, fmt::format("{}.entries[{}]", place, e), "an operation");
        }
    }

    void check(const OperationRows& rows, const std::string& place) const {
        for (std::int64_t i = 0; i < rows.rows(); ++i) {
            const OperationTable::Row row = rows.row_at(i);
            const std::string where = fmt::format("{}, row {}", place, i);
            whole(row.offset, where, "an offset");
            whole(row.length, where, "an operation");
        }
    }

    void check(const Dataset& set) const {
        const std::string place = place_ + ".dataset";
        const std::int64_t samples = set.files * set.samples;
        if (set.deviation > 0) {
            throw PlanError(place + ".deviation", name_ + " is direct, and its samples are of any size",
                            "leave out `deviation` or `direct`");
        }
        whole(set.header, place + ".header", "a header");
        whole(set.transfer, place + ".transfer", "a read");
        whole(set.bytes % samples, place + ".bytes", "the rest of equal samples");
        whole(set.bytes / samples, place + ".bytes", "a sample");
    }

    std::string name_;
    std::string place_;
};

}  // namespace

void check_direct(const Plan& plan) {
    std::set<std::pair<std::size_t, std::size_t>> seen;
    for (std::size_t d = 0; d < plan.dumps.size(); ++d) {
        const Dump& dump = plan.dumps[d];
        const Family& family = plan.families[dump.family];
        if (!family.direct) continue;
        const Blocks blocks(family, dump.content);
        blocks.whole(dump.base, fmt::format("dumps[{}].base", d), "an offset");
        if (seen.emplace(dump.family, dump.content).second) blocks.check(plan.contents[dump.content]);
    }
}

void refuse_direct(const Family& family, const Traits& traits, const std::string& place) {
    if (!family.direct || !traits.performs || traits.direct) return;
    throw PlanError(place, fmt::format("the backend {} opens no files with O_DIRECT", traits.name),
                    "leave out `direct`, or use the backend posix");
}

}  // namespace wa
