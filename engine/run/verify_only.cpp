#include "run/verify_only.hpp"

#include <map>
#include <vector>

#include "data/intervals.hpp"
#include "errors.hpp"
#include "expand/dump.hpp"
#include "io/posix.hpp"
#include "run/failure.hpp"
#include "run/verify.hpp"

namespace wa {
namespace {

/// The largest number of ranges of later dumps that are remembered for a file. A file that needs more is too
/// irregular to be checked afterwards.
constexpr std::size_t most_ranges = 4'000'000;

class TooIrregular : public CallFailed {
  public:
    explicit TooIrregular(const std::string& path)
        : CallFailed("verify", "dumps overlap too irregularly in " + path + "; use --verify") {}
};

/// Files that exist after a run with --keep, and the dumps that wrote them, in order.
std::map<FileKey, std::vector<std::size_t>> files_left(const Setup& setup) {
    std::map<FileKey, std::vector<std::size_t>> out;
    for (std::size_t d = 0; d < setup.plan.dumps.size(); ++d) {
        const Dump& dump = setup.plan.dumps[d];
        if (!setup.performer(d).traits->performs) continue;
        if (!moves(setup.content(d), Direction::write)) continue;
        std::vector<std::size_t>& dumps = out[{dump.family, dump.file}];
        if (setup.uses[d].replaces) dumps.clear();
        dumps.push_back(d);
    }
    for (const FileKey& key : setup.deleted_files()) out.erase(key);
    return out;
}

DumpOperations operations_of(const Setup& setup, std::size_t dump, std::int64_t member) {
    DumpOperations::Options options;
    options.whole_elements = !setup.performer(dump).traits->plain_bytes;
    return {setup.plan, dump, setup.layout(dump), member, options};
}

/// The context of a file after the run, with its final name.
FileContext final_context(const Setup& setup, std::size_t dump, const FileSlot& slot, std::int64_t member) {
    FileContext context = setup.context(dump, member);
    context.path = setup.path(setup.plan.dumps[dump].family, setup.plan.dumps[dump].file, slot);
    context.comm = MPI_COMM_SELF;  // one process checks a file
    return context;
}

/// Plain bytes: a byte belongs to the last dump that wrote it, so dumps are visited from the last to the
/// first.
VerifyResult verify_plain(const Setup& setup, const std::vector<std::size_t>& dumps, const FileSlot& slot) {
    VerifyResult result;
    Intervals later;
    for (auto dump = dumps.rbegin(); dump != dumps.rend(); ++dump) {
        const FileContext context = final_context(setup, *dump, slot, slot.first_member);
        const bool together = setup.performer(*dump).traits->whole_pieces;
        std::optional<ByteVerifier> verifier;
        const auto each_range = [&](const RangeVisitor& visit) {
            for (std::int64_t m = slot.first_member; m < slot.first_member + slot.members; ++m) {
                DumpOperations operations = operations_of(setup, *dump, m);
                visit_moved(operations, Direction::write, together, visit);
            }
        };
        each_range([&](std::int64_t offset, std::int64_t size, std::int64_t place) {
            check_signals();
            if (!verifier) {
                verifier.emplace(context.path, static_cast<std::int64_t>(*dump), context.buffers->arena,
                                 context.phase);
            }
            later.each_gap(offset, offset + size, [&](std::int64_t from, std::int64_t to) {
                verifier->check(from, to - from, place + (from - offset), result);
            });
        });
        if (std::next(dump) == dumps.rend()) continue;
        each_range([&](std::int64_t offset, std::int64_t size, std::int64_t) {
            later.add(offset, offset + size);
            if (later.size() > most_ranges) throw TooIrregular(context.path);
        });
    }
    return result;
}

/// Files of a library: a dataset that is not extended holds what the last dump wrote.
VerifyResult verify_library(const Setup& setup, const std::vector<std::size_t>& dumps, const FileSlot& slot) {
    VerifyResult result;
    for (const std::size_t d : dumps) {
        const bool overwritten = setup.family(d).lifetime != Lifetime::appended && d != dumps.back();
        // The library's share of a stated size is known only during the run.
        if (overwritten || setup.content(d).sized()) continue;
        for (std::int64_t m = slot.first_member; m < slot.first_member + slot.members; ++m) {
            check_signals();
            DumpOperations operations = operations_of(setup, d, m);
            FileContext context = final_context(setup, d, slot, m);
            result.merge(verify_dump(context, setup.performer(d), nullptr, operations, Direction::write,
                                     check_signals));
        }
    }
    return result;
}

}  // namespace

FilesVerified verify_files(const Setup& setup, bool all) {
    FilesVerified out;
    std::int64_t turn = 0;
    for (const auto& [key, dumps] : files_left(setup)) {
        const Layout& layout = setup.layouts[key.first];
        const bool plain = setup.performers[key.first].traits->plain_bytes;
        for (std::int64_t file = 0; file < layout.files_of_dump(); ++file) {
            if (turn++ % setup.processes != setup.process) continue;
            const FileSlot slot = layout.slot(file);
            const std::string path = final_context(setup, dumps.back(), slot, slot.first_member).path;
            posix::drop_pages(path);
            const bool from_storage = !posix::is_cached(path);
            try {
                const VerifyResult found =
                    plain ? verify_plain(setup, dumps, slot) : verify_library(setup, dumps, slot);
                if (from_storage) out.storage_bytes += found.bytes;
                out.result.merge(found);
            } catch (const TooIrregular&) {
                if (all) throw;
            }
        }
    }
    return out;
}

}  // namespace wa
