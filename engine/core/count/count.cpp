#include "count/count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "count/alike.hpp"
#include "errors.hpp"
#include "expand/permutation.hpp"

namespace wa {
namespace {

/// Dumps that go through one open of a file, with the bytes that their library was given.
struct Chain {
    std::vector<std::size_t> dumps;
    std::vector<std::optional<std::int64_t>> payloads;
};

std::uint64_t sign_of(std::int64_t value) {
    return value > 0 ? 2U : value == 0 ? 1U : 0U;
}

/// What is left of the bounds of a count.
class Budget {
  public:
    explicit Budget(const CountBounds& bounds) : bounds_(bounds), left_(bounds.calls) {}

    /// Takes one call of a dump.
    void take(std::size_t dump) {
        if (left_-- <= 0) refuse(dump);
        if (left_ % calls_between_checkpoints == 0) bounds_.checkpoint();
    }
    /// Refuses a dump with more calls than are left. Nobody has to wait for what cannot succeed.
    void need(std::size_t dump, Wide calls) const {
        if (calls > left_) refuse(dump);
    }

  private:
    static constexpr std::int64_t calls_between_checkpoints = 1 << 16;

    [[noreturn]] void refuse(std::size_t dump) const {
        throw PlanError(
            fmt::format("dumps[{}]", dump),
            fmt::format(
                "more than {} calls of the plan have to be counted one by one, such as those in random order",
                bounds_.calls),
            "in a workload of your own, take fewer operations; replicate a log with a smaller --bytes-scale");
    }

    const CountBounds& bounds_;
    std::int64_t left_;
};

/// The operations of one member in a chain, with a hash of every decision that shaped them. A decision is,
/// for example, whether an access lies before, at or after the end of the previous one. If two members of a
/// run have equal hashes, all members between them took the same decisions.
class MemberCount {
  public:
    MemberCount(const ResolvedPlan& resolved, const Chain& chain, std::int64_t member, Budget& budget)
        : counts_(chain.dumps.size()), budget_(budget) {
        RankCalls::File stands;
        for (std::size_t i = 0; i < chain.dumps.size(); ++i) {
            const std::size_t dump = chain.dumps[i];
            budget_.take(dump);
            DumpOperations operations(resolved.plan, dump, resolved.layout(dump), member,
                                      counting_options(resolved, dump, stands.held, chain.payloads[i]));
            stands.closes = !resolved.holds(dump);
            if (operations.idle() && !(stands.held && stands.closes)) {
                note(0);
                continue;
            }
            RankCalls calls(operations, call_rules(resolved.traits(dump)), stands);
            count(dump, calls, counts_[i]);
            stands.held = !stands.closes && (stands.held || operations.uses_file());
            stands.state = calls.state();
        }
    }

    [[nodiscard]] const std::vector<DumpCount>& counts() const { return counts_; }
    [[nodiscard]] bool alike(const MemberCount& other) const { return hash_ == other.hash_; }

  private:
    void note(std::uint64_t word) { hash_ = mix(hash_, word); }

    void count(std::size_t dump, RankCalls& calls, DumpCount& out) {
        out.ranks = 1;
        Counters& counters = out.counters;
        std::int64_t position = calls.state().position;
        Call call;
        while (calls.next(call)) {
            budget_.take(dump);
            note(static_cast<std::uint64_t>(call.kind));
            const std::int64_t times = 1 + calls.skip_alike(call);
            if (times > 1) note(static_cast<std::uint64_t>(times));
            switch (call.kind) {
                case Call::Kind::stat:
                    out.calls_of(Kind::stat) += times;
                    counters.stats += times;
                    break;
                case Call::Kind::map:
                    out.calls_of(Kind::map) += times;
                    counters.maps += times;
                    break;
                case Call::Kind::open:
                    ++out.calls_of(Kind::open);
                    ++counters.opens;
                    break;
                case Call::Kind::close:
                    out.calls_of(Kind::close) += times;
                    out.calls_of(Kind::open) += times - 1;  // extra opens, which are closed at once
                    counters.opens += times - 1;
                    break;
                case Call::Kind::seek:
                    out.calls_of(Kind::seek) += times;
                    if (call.buffered == Buffered::none) counters.seeks += times;
                    note(sign_of(call.offset - position));
                    break;
                case Call::Kind::flush:
                    out.calls_of(Kind::flush) += times;
                    if (call.buffered == Buffered::none) counters.flushes += times;
                    break;
                case Call::Kind::sync:
                    out.calls_of(Kind::fsync) += times;
                    counters.fsyncs += times;
                    break;
                case Call::Kind::transfer:
                    transfer(call.operation, calls.state_of(call), position, out);
                    transfer_run(call.operation, calls, out);
                    break;
                default:
                    break;
            }
            position = calls.state().position;
        }
    }

    void transfer(const Operation& operation, AccessState& state, std::int64_t position, DumpCount& out) {
        const auto direction = static_cast<std::size_t>(operation.direction);
        ++out.calls_of(operation.direction == Direction::write ? Kind::write : Kind::read);
        note(direction);
        if (operation.joins) {
            out.counters.note_join(operation.direction);
            return;
        }
        note(static_cast<std::uint64_t>(operation.size));
        note(sign_of(operation.offset - state.last_byte[direction] - 1) * 3 +
             sign_of(operation.offset - position));
        out.counters.note(state, operation.direction, operation.offset, operation.size, operation.collective);
        out.payload[direction] += operation.size;
    }

    /// The transfers of a run are placed relative to each other like its first two, so they are not made one
    /// by one.
    void transfer_run(const Operation& operation, RankCalls& calls, DumpCount& out) {
        const RankCalls::TransferRun run = calls.skip_run();
        if (run.count == 0) return;
        out.calls_of(operation.direction == Direction::write ? Kind::write : Kind::read) += run.count;
        out.counters.note_run(calls.state(), {operation.direction, operation.offset, operation.size},
                              operation.collective, run.count, run.step);
        out.payload[static_cast<std::size_t>(operation.direction)] += operation.size * run.count;
        out.calls_of(Kind::seek) += run.seeks;
        out.counters.seeks += run.seeks;
        out.calls_of(Kind::flush) += run.flushes;
        out.counters.flushes += run.flushes;
        out.calls_of(Kind::fsync) += run.syncs;
        out.counters.fsyncs += run.syncs;
        note(static_cast<std::uint64_t>(run.count));
        note(static_cast<std::uint64_t>(run.seeks));
        note(static_cast<std::uint64_t>(run.flushes + run.syncs));
    }

    std::vector<DumpCount> counts_;
    Budget& budget_;
    std::uint64_t hash_ = 0;
};

class ChainCount {
  public:
    ChainCount(const ResolvedPlan& resolved, const Chain& chain, Budget& budget)
        : resolved_(resolved), chain_(chain), budget_(budget), sums_(chain.dumps.size()) {}

    /// If both ends of a run behave alike, all members between them do; otherwise the run is halved.
    void add(const MemberRun& run) {
        const MemberCount first(resolved_, chain_, run.first, budget_);
        if (run.first == run.last) return add(first, run.times);
        const MemberCount last(resolved_, chain_, run.last, budget_);
        add_between(run, first, last);
    }

    [[nodiscard]] const std::vector<DumpCount>& sums() const { return sums_; }

  private:
    void add_between(const MemberRun& run, const MemberCount& first, const MemberCount& last) {
        const std::int64_t members = run.last - run.first + 1;
        if (members == 2 || first.alike(last)) {
            // The largest byte is touched at one of the ends, so the last member is counted by itself.
            const std::int64_t with_first = first.alike(last) ? members - 1 : 1;
            add(first, with_first * run.times);
            add(last, run.times);
            return;
        }
        const std::int64_t middle = run.first + members / 2;
        const MemberCount before(resolved_, chain_, middle - 1, budget_);
        const MemberCount after(resolved_, chain_, middle, budget_);
        if (middle - 1 == run.first) {
            add(first, run.times);
        } else {
            add_between({run.first, middle - 1, run.times}, first, before);
        }
        if (middle == run.last) {
            add(last, run.times);
        } else {
            add_between({middle, run.last, run.times}, after, last);
        }
    }

    void add(const MemberCount& member, std::int64_t times) {
        for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i].add(member.counts()[i], times);
    }

    const ResolvedPlan& resolved_;
    const Chain& chain_;
    Budget& budget_;
    std::vector<DumpCount> sums_;
};

/// Dumps that keep a file open for each other are counted together; every other dump is counted alone.
std::vector<Chain> chains_of(const ResolvedPlan& resolved,
                             const std::vector<std::optional<std::int64_t>>& payloads) {
    std::vector<Chain> out;
    std::map<std::pair<std::size_t, std::int64_t>, std::size_t> open;
    for (std::size_t d = 0; d < resolved.plan.dumps.size(); ++d) {
        const Dump& dump = resolved.plan.dumps[d];
        std::size_t chain = out.size();
        if (resolved.family(d).lifetime == Lifetime::appended)
            chain = open.try_emplace({dump.family, dump.file}, chain).first->second;
        if (chain == out.size()) out.emplace_back();
        out[chain].dumps.push_back(d);
        out[chain].payloads.push_back(d < payloads.size() ? payloads[d] : std::nullopt);
    }
    return out;
}

/// A dump with its own file counts like any other of its family with the same content, unless its order is
/// random.
bool repeats(const Content& content) {
    if (content.dataset) return false;  // readers and order change from epoch to epoch
    return std::none_of(content.streams.begin(), content.streams.end(),
                        [](const Stream& stream) { return is_random(stream.pattern); });
}

/// Operations in random order, of all ranks. Each of them is looked at.
Wide random_operations(const Content& content) {
    Wide out = 0;
    for (const Stream& stream : content.streams) {
        if (!is_random(stream.pattern)) continue;
        for (const Entry& entry : stream.entries) out += entry.operations;
    }
    return out;
}

std::vector<DumpCount> count(const ResolvedPlan& resolved,
                             const std::vector<std::optional<std::int64_t>>& payloads, bool each_rank,
                             const CountBounds& bounds) {
    Budget budget(bounds);
    Wide random = 0;
    for (std::size_t d = 0; d < resolved.plan.dumps.size(); ++d) {
        random += random_operations(resolved.content(d));
        budget.need(d, random);
    }
    std::vector<DumpCount> out(resolved.plan.dumps.size());
    using Key = std::tuple<std::size_t, std::size_t, std::int64_t, std::optional<std::int64_t>>;
    std::map<Key, std::size_t> known;  // the first dump with this key, which was counted
    for (const Chain& chain : chains_of(resolved, payloads)) {
        const std::size_t first = chain.dumps.front();
        const Dump& dump = resolved.plan.dumps[first];
        const bool alone = chain.dumps.size() == 1 && resolved.family(first).lifetime != Lifetime::appended;
        if (alone && !each_rank && repeats(resolved.content(first))) {
            const auto [found, fresh] =
                known.try_emplace({dump.family, dump.content, dump.base, chain.payloads.front()}, first);
            if (!fresh) {
                out[first] = out[found->second];
                continue;
            }
        }
        ChainCount counting(resolved, chain, budget);
        if (each_rank) {
            for (std::int64_t m = 0; m < resolved.layout(first).size(); ++m) counting.add({m, m, 1});
        } else {
            for (const MemberRun& run : member_runs(resolved, chain.dumps, chain.payloads)) counting.add(run);
        }
        for (std::size_t i = 0; i < chain.dumps.size(); ++i) out[chain.dumps[i]] = counting.sums()[i];
    }
    return out;
}

}  // namespace

void DumpCount::add(const DumpCount& other, std::int64_t times) {
    ranks += other.ranks * times;
    for (std::size_t d = 0; d < payload.size(); ++d) payload[d] += other.payload[d] * times;
    for (std::size_t k = 0; k < calls.size(); ++k) calls[k] += other.calls[k] * times;
    counters.merge(other.counters, times);
}

std::vector<DumpCount> count_plan(const ResolvedPlan& resolved,
                                  const std::vector<std::optional<std::int64_t>>& payloads,
                                  const CountBounds& bounds) {
    return count(resolved, payloads, false, bounds);
}

std::vector<DumpCount> count_each_rank(const ResolvedPlan& resolved,
                                       const std::vector<std::optional<std::int64_t>>& payloads,
                                       const CountBounds& bounds) {
    return count(resolved, payloads, true, bounds);
}

}  // namespace wa
