#include "plan/read_ranks.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "plan/limits.hpp"
#include "sharing/named_once.hpp"

namespace wa {
namespace {

Ranks read_ranks(const Node& node, std::int64_t ranks) {
    Ranks out;
    if (node.is_text("all")) return out;
    out.all = false;
    std::vector<RankSpan> spans;
    const std::size_t count = node.size();
    if (count == 0) node.fail("must name at least one rank");
    spans.reserve(count);
    std::int64_t previous = -1;
    for (std::size_t i = 0; i < count; ++i) {
        const Node item = node[i];
        if (item.size() != 3) item.fail("must be [first, last, step]");
        RankSpan span;
        span.first = item[0].integer(0, ranks - 1);
        span.last = item[1].integer(span.first, ranks - 1);
        span.step = item[2].integer(1, limits::ranks);
        if (span.first <= previous)
            item.fail("ranks must be ascending and named once", "sort and merge the ranges");
        span.last = span.first + (span.last - span.first) / span.step * span.step;
        previous = span.last;
        spans.push_back(span);
    }
    out.set = RankSet(spans);
    return out;
}

/// Items of a list, and the ranks that each names.
struct NamedGroups {
    std::vector<std::size_t> items;
    std::vector<RankSet> ranks;
    void add(std::size_t item, RankSet named) {
        items.push_back(item);
        ranks.push_back(std::move(named));
    }
};

/// Raises PlanError where two of the items name the same rank.
void check_named_once(const Node& list, const NamedGroups& groups, std::int64_t ranks) {
    if (const auto twice = named_twice(groups.ranks, ranks))
        list[groups.items[twice->group]].at("ranks").fail(
            fmt::format("rank {} is in another group, too", twice->rank), "name it once");
}

}  // namespace

Ranks ranks_or_all(const Node& node, std::string_view key, std::int64_t ranks) {
    const auto found = node.find(key);
    return found ? read_ranks(*found, ranks) : Ranks{};
}

Sharing read_sharing(const Node& node, std::int64_t ranks) {
    node.allow_only({"mode", "files", "turns", "ranks", "gather"});
    Sharing out;
    out.mode = node.at("mode").word<SharingMode>();
    out.files = node.integer("files", 1, limits::ranks, 1);
    if (const auto turns = node.find("turns")) {
        if (!turns->is_text("concurrent") && !turns->is_text("baton")) {
            turns->fail("unknown word " + turns->quoted(), "use one of concurrent, baton");
        }
        out.baton = turns->is_text("baton");
    }
    out.ranks = ranks_or_all(node, "ranks", ranks);
    out.gather = node.boolean("gather", false);
    return out;
}

std::vector<Skew> read_skew(const Node& node, std::int64_t ranks) {
    const std::size_t count = node.size();
    if (count > limits::skews) node.fail(fmt::format("more than {} groups", limits::skews), "merge them");
    std::vector<Skew> out;
    std::map<std::optional<std::int64_t>, NamedGroups> groups;  // by the dump
    for (std::size_t i = 0; i < count; ++i) {
        const Node item = node[i];
        item.allow_only({"ranks", "delay_s", "dump"});
        Skew late{read_ranks(item.at("ranks"), ranks), item.at("delay_s").number(0, limits::seconds), {}};
        if (const auto dump = item.find("dump")) late.dump = dump->integer(0, limits::number);
        groups[late.dump].add(i, late.ranks.all ? RankSet::all(ranks) : late.ranks.set);
        out.push_back(std::move(late));
    }
    for (const auto& [dump, of_dump] : groups) check_named_once(node, of_dump, ranks);
    return out;
}

std::vector<Processes> read_processes(const Node& node, std::int64_t ranks) {
    const std::size_t count = node.size();
    if (count > limits::processes)
        node.fail(fmt::format("more than {} groups", limits::processes), "merge them");
    std::vector<Processes> out;
    NamedGroups groups;
    for (std::size_t i = 0; i < count; ++i) {
        const Node item = node[i];
        item.allow_only({"ranks", "start_s", "end_s"});
        Processes group;
        group.ranks = read_ranks(item.at("ranks"), ranks).set;
        if (group.ranks.empty()) group.ranks = RankSet::all(ranks);
        group.life.start_s = item.number("start_s", 0, limits::seconds, 0);
        if (const auto end = item.find("end_s")) {
            group.life.end_s = end->number(0, limits::seconds);
            if (group.life.end_s < group.life.start_s)
                end->fail("is before start_s", "state an end after the start");
        }
        groups.add(i, group.ranks);
        out.push_back(std::move(group));
    }
    check_named_once(node, groups, ranks);
    return out;
}

}  // namespace wa
