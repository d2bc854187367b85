#include "count/operations.hpp"

#include <iterator>
#include <map>

#include "sharing/names.hpp"

namespace wa {

void append_line(fmt::memory_buffer& out, const RankCall& made) {
    const std::optional<Kind> kind = kind_of(*made.call);
    if (!kind) return;
    const auto to = std::back_inserter(out);
    fmt::format_to(to, "{}\t{}\t{}\t{}\t", made.rank, made.dump, made.file, kind_name(*kind));
    const Operation& operation = made.call->operation;
    if (made.call->kind == Call::Kind::seek) {
        fmt::format_to(to, "{}\t-\tindependent", made.call->offset);
    } else if (made.call->kind != Call::Kind::transfer) {
        fmt::format_to(to, "-\t-\tindependent");
    } else {
        const char* together = operation.collective ? "collective" : "independent";
        if (operation.joins) {
            fmt::format_to(to, "-\t0\t{}", together);
        } else {
            fmt::format_to(to, "{}\t{}\t{}", operation.offset, operation.size, together);
        }
        if (operation.pieces > 1) fmt::format_to(to, "\t{}x{}", operation.pieces, operation.piece_stride);
    }
    out.push_back('\n');
}

void visit_calls(const ResolvedPlan& resolved, std::int64_t rank,
                 const std::function<bool(const RankCall&)>& visit) {
    std::map<std::pair<std::size_t, std::int64_t>, AccessState> held;
    for (std::size_t d = 0; d < resolved.plan.dumps.size(); ++d) {
        const Dump& dump = resolved.plan.dumps[d];
        const Layout& layout = resolved.layout(d);
        const auto member = layout.members().index_of(rank);
        if (!member) continue;
        const auto open = held.find({dump.family, dump.file});
        RankCalls::File stands{open != held.end(), !resolved.holds(d), {}};
        if (stands.held) stands.state = open->second;
        DumpOperations operations(resolved.plan, d, layout, *member,
                                  counting_options(resolved, d, stands.held, std::nullopt));
        if (operations.idle() && !(stands.held && stands.closes)) continue;
        const FileSlot& slot = operations.slot();
        const auto name_of = [&](std::int64_t file) {
            return file_name(resolved.plan, resolved.family(d), layout.members().at(slot.first_member), file,
                             slot);
        };
        std::string name = name_of(dump.file);
        RankCalls calls(operations, call_rules(resolved.traits(d)), stands);
        Call call;
        while (calls.next(call)) {
            if (call.kind == Call::Kind::begin_file) name = name_of(call.file);
            if (!visit({rank, d, name, &call, &calls})) return;
        }
        if (stands.closes) {
            held.erase({dump.family, dump.file});
        } else if (stands.held || operations.uses_file()) {
            held[{dump.family, dump.file}] = calls.state();
        }
    }
}

}  // namespace wa
