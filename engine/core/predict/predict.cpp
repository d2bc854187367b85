#include "predict/predict.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "count/operations.hpp"
#include "counting/mpiio.h"
#include "counting/posix.h"
#include "counting/stdio.h"
#include "errors.hpp"
#include "predict/transfer_row.hpp"

namespace wa {
namespace {

static_assert(int{POSIX_COUNTERS} >= int{MPIIO_COUNTERS} && int{POSIX_COUNTERS} >= int{STDIO_COUNTERS});

/// A file as one rank has it.
struct RankRecord {
    std::size_t family = 0;
    std::array<std::int64_t, POSIX_COUNTERS> counter{};
    posix_history posix{};
    mpiio_history mpiio{};
    bool dirty = false;  // a stream holds what was written since its last flush
};

using FileRecords = std::unordered_map<std::string, RankRecord>;

/// The four commonest values, in a record's places for them.
void store_common(const common_values& values, std::int64_t* counter, int value_at, int count_at) {
    std::array<int, COMMON_KEPT> best{};
    const int kept = common_best(static_cast<const std::int64_t*>(values.value), 1,
                                 static_cast<const std::int64_t*>(values.count), values.used, best.data());
    for (int i = 0; i < kept; ++i) {
        counter[value_at + i] = values.value[best[static_cast<std::size_t>(i)]];
        counter[count_at + i] = values.count[best[static_cast<std::size_t>(i)]];
    }
}

/// Where a module has its groups of common values, and which of its counters are no sums.
struct Places {
    std::vector<std::pair<int, int>> common;  // values, counts
    std::set<int> largest;
    std::set<int> same;  // of all ranks
    std::array<int, 2> bytes{};
};

const Places& places_of(LogModule module) {
    static const std::array<Places, log_modules> places{
        Places{{{POSIX_STRIDE, POSIX_STRIDE_COUNT}, {POSIX_ACCESS, POSIX_ACCESS_COUNT}},
               {POSIX_MAX_BYTE_READ, POSIX_MAX_BYTE_WRITTEN},
               {POSIX_FILE_ALIGNMENT},
               {POSIX_BYTES_READ, POSIX_BYTES_WRITTEN}},
        Places{{{MPIIO_ACCESS, MPIIO_ACCESS_COUNT}}, {}, {}, {MPIIO_BYTES_READ, MPIIO_BYTES_WRITTEN}},
        Places{
            {}, {STDIO_MAX_BYTE_READ, STDIO_MAX_BYTE_WRITTEN}, {}, {STDIO_BYTES_READ, STDIO_BYTES_WRITTEN}}};
    return places[static_cast<std::size_t>(module)];
}

void add_rank(LogModule module, PredictedRecord& sum, const RankRecord& record) {
    const Places& places = places_of(module);
    std::vector<bool> done(sum.counters.size());
    for (const auto& [values, counts] : places.common) {
        common_add(1, &sum.counters[static_cast<std::size_t>(values)],
                   &sum.counters[static_cast<std::size_t>(counts)],
                   &record.counter[static_cast<std::size_t>(values)],
                   &record.counter[static_cast<std::size_t>(counts)]);
        for (int i = 0; i < COMMON_KEPT; ++i)
            for (const int at : {values + i, counts + i}) done.at(static_cast<std::size_t>(at)) = true;
    }
    for (std::size_t c = 0; c < sum.counters.size(); ++c) {
        if (done[c]) continue;
        const auto number = static_cast<int>(c);
        if (places.largest.contains(number)) {
            sum.counters[c] = std::max(sum.counters[c], record.counter[c]);
        } else if (places.same.contains(number)) {
            sum.counters[c] = record.counter[c];
        } else {
            sum.counters[c] += record.counter[c];
        }
    }
    ++sum.ranks;
    double moved = 0;
    for (const int place : places.bytes)
        moved += static_cast<double>(record.counter[static_cast<std::size_t>(place)]);
    sum.moved += moved;
    sum.squares += moved * moved;
}

LogModule module_of(Level level) {
    switch (level) {
        case Level::posix:
            return LogModule::posix;
        case Level::stdio:
            return LogModule::stdio;
        default:
            return LogModule::mpiio;
    }
}

bool predicted(Level level) {
    return level == Level::posix || level == Level::stdio || level == Level::mpiio;
}

class Walk {
  public:
    Walk(const ResolvedPlan& resolved, const std::vector<std::int64_t>& alignments, std::int64_t most,
         const std::vector<bool>& apart)
        : resolved_(resolved), alignments_(alignments), apart_(apart), left_(most) {
        const std::size_t families = resolved.plan.families.size();
        for (std::size_t f = 0; f < families; ++f) {
            const Level level = resolved.counted[f]->level.value_or(resolved.plan.families[f].level);
            levels_.push_back(level);
            out_.below_mpiio.push_back(level == Level::mpiio);
        }
    }

    Prediction run() {
        // Of a large job, a single family may have few ranks.
        const RankSet* only = resolved_.layouts.size() == 1 ? &resolved_.layouts.front().members() : nullptr;
        const std::int64_t ranks = only != nullptr ? only->size() : resolved_.plan.ranks;
        for (std::int64_t i = 0; i < ranks; ++i) {
            const std::int64_t rank = only != nullptr ? only->at(i) : i;
            visit_calls(resolved_, rank, [&](const RankCall& made) {
                if (!kind_of(*made.call)) return true;
                spend(1);
                see(made);
                return true;
            });
            for (std::size_t m = 0; m < log_modules; ++m) take(static_cast<LogModule>(m));
        }
        for (std::vector<PredictedRecord>& records : out_.records) {
            std::erase_if(records, [&](const PredictedRecord& record) {
                return &records == &out_.records[static_cast<std::size_t>(LogModule::posix)] &&
                       levels_[record.family] == Level::mpiio && !out_.below_mpiio[record.family];
            });
        }
        return std::move(out_);
    }

  private:
    void spend(std::int64_t calls) {
        left_ -= calls;
        if (left_ < 0) throw UsageError("the plan has too many calls to be predicted one by one");
    }

    RankRecord& record(LogModule module, const RankCall& made) {
        Latest& latest = latest_[static_cast<std::size_t>(module)];
        if (latest.record != nullptr && *latest.file == made.file) return *latest.record;
        auto [found, fresh] = open_[static_cast<std::size_t>(module)].try_emplace(std::string(made.file));
        RankRecord& record = found->second;
        latest = {&found->first, &record};
        if (fresh) {
            record.family = resolved_.plan.dumps[made.dump].family;
            if (module == LogModule::posix)
                record.counter[POSIX_FILE_ALIGNMENT] =
                    record.family < alignments_.size() ? alignments_[record.family] : 0;
        }
        return record;
    }

    void see(const RankCall& made) {
        const std::size_t family = resolved_.plan.dumps[made.dump].family;
        const Level level = levels_[family];
        if (!predicted(level)) return;
        const LogModule module = module_of(level);
        if (module == LogModule::stdio) return stdio(made);
        if (made.call->buffered != Buffered::none) return buffered(made);
        if (made.call->kind == Call::Kind::transfer) return transfers(module, family, made);
        if (module == LogModule::posix) return posix(record(module, made), *made.call);
        if (made.call->kind == Call::Kind::open) opened_below(made);
        mpiio(record(module, made), made);
    }

    /// A transfer, and those that follow it by a rule.
    void transfers(LogModule module, std::size_t family, const RankCall& made) {
        const Operation operation = made.call->operation;
        const RankCalls::TransferRun run = made.calls->skip_run();
        RankRecord& counted = record(module, made);
        if (!operation.joins || module != LogModule::posix) {
            const TransferRow row{operation.offset, operation.size, run.step, run.count + 1};
            if (module == LogModule::posix) {
                posix_transferred_row(&counted.posix, counted.counter.data(), transfer_of(operation), row);
            } else {
                mpiio_transferred_row(&counted.mpiio, counted.counter.data(), mpiio_call_of(operation),
                                      row.size, row.count);
                if (out_.below_mpiio[family]) below(family, made, operation, row);
            }
        }
        if (module == LogModule::posix) counted.counter[POSIX_SEEKS] += run.seeks;
        counted.counter[module == LogModule::posix ? int{POSIX_FSYNCS} : int{MPIIO_SYNCS}] +=
            run.flushes + run.syncs;
    }

    static enum transfer transfer_of(const Operation& operation) {
        return operation.direction == Direction::write ? TRANSFER_WRITE : TRANSFER_READ;
    }

    static enum mpiio_counter mpiio_call_of(const Operation& operation) {
        const bool writes = operation.direction == Direction::write;
        if (operation.collective) return writes ? MPIIO_COLL_WRITES : MPIIO_COLL_READS;
        if (operation.nonblocking) return writes ? MPIIO_NB_WRITES : MPIIO_NB_READS;
        return writes ? MPIIO_INDEP_WRITES : MPIIO_INDEP_READS;
    }

    static void posix(RankRecord& record, const Call& call) {
        std::int64_t* counter = record.counter.data();
        switch (*kind_of(call)) {
            case Kind::open:
                return posix_opened(&record.posix, counter);
            case Kind::stat:
                ++counter[POSIX_STATS];
                return;
            case Kind::map:
                ++counter[POSIX_MMAPS];
                return;
            case Kind::seek:
                ++counter[POSIX_SEEKS];
                return;
            case Kind::flush:  // there is nothing else to flush
            case Kind::fsync:
                ++counter[POSIX_FSYNCS];
                return;
            default:  // transfers() has those that move data
                return;
        }
    }

    /// Of a stream on a descriptor that is open already, the record has no open of its own. Its offsets are
    /// counted from where it began, up to its first seek.
    void buffered(const RankCall& made) {
        const Call& call = *made.call;
        if (call.opens_buffer) {
            buffer_began_ = call.buffered == Buffered::descriptor && call.kind == Call::Kind::transfer
                                ? call.operation.offset
                                : 0;
            if (call.buffered == Buffered::name) ++record(LogModule::stdio, made).counter[STDIO_OPENS];
        }
        if (call.kind == Call::Kind::seek) buffer_began_ = 0;
        stdio(made, buffer_began_);
    }

    void stdio(const RankCall& made, std::int64_t began = 0) {
        RankRecord& counted = record(LogModule::stdio, made);
        std::int64_t* counter = counted.counter.data();
        const Operation& operation = made.call->operation;
        switch (*kind_of(*made.call)) {
            case Kind::open:
                ++counter[STDIO_OPENS];
                counted.dirty = false;
                return;
            case Kind::seek:
                ++counter[STDIO_SEEKS];
                return;
            case Kind::flush:
                ++counter[STDIO_FLUSHES];
                counted.dirty = false;
                return;
            case Kind::map:  // by the descriptor below the stream
                ++record(LogModule::posix, made).counter[POSIX_MMAPS];
                return;
            case Kind::fsync:  // what the stream still holds is flushed before
                if (counted.dirty) ++counter[STDIO_FLUSHES];
                counted.dirty = false;
                ++record(LogModule::posix, made).counter[POSIX_FSYNCS];
                return;
            case Kind::read:
            case Kind::write:
                counted.dirty |= operation.direction == Direction::write;
                return stdio_transferred(counter, operation.direction == Direction::write,
                                         operation.offset - began + operation.size, operation.size);
            default:
                return;
        }
    }

    void mpiio(RankRecord& record, const RankCall& made) {
        std::int64_t* counter = record.counter.data();
        switch (*kind_of(*made.call)) {
            case Kind::open:
                ++counter[made.call->alone || opens_alone(made.dump) ? MPIIO_INDEP_OPENS : MPIIO_COLL_OPENS];
                return;
            case Kind::flush:
            case Kind::fsync:
                ++counter[MPIIO_SYNCS];
                return;
            default:
                return;
        }
    }

    bool opens_alone(std::size_t dump) const {
        const Family& family = resolved_.family(dump);
        return family.sharing.mode == SharingMode::per_rank || family.sharing.mode == SharingMode::root ||
               resolved_.layout(dump).size() == 1;
    }

    /// How often an MPI-IO library opens the file is its choice, but each rank that opens it does so at
    /// POSIX.
    void opened_below(const RankCall& made) {
        FileRecords& records = open_[static_cast<std::size_t>(LogModule::posix)];
        const auto found = records.find(std::string(made.file));
        if (found != records.end()) posix_forget_places(&found->second.posix);
    }

    /// What an independent call does below MPI-IO: one POSIX call for each contiguous piece, as long as the
    /// library does not sieve. All else is the library's choice.
    void below(std::size_t family, const RankCall& made, const Operation& operation, const TransferRow& row) {
        const bool dense = operation.pieces * operation.piece_stride == operation.size;
        const std::int64_t pieces = dense ? 1 : operation.pieces;
        if (pieces > 1) left_ -= row.count;
        if (operation.collective || operation.slab != nullptr || left_ < 0) {
            out_.below_mpiio[family] = false;
            left_ = std::max<std::int64_t>(left_, 0);
            return;
        }
        if (operation.size == 0) return;
        RankRecord& posix = record(LogModule::posix, made);
        std::int64_t* counter = posix.counter.data();
        const enum transfer kind = transfer_of(operation);
        if (pieces == 1) return posix_transferred_row(&posix.posix, counter, kind, row);
        for (std::int64_t i = 0; i < row.count; ++i) {
            posix_transferred_row(
                &posix.posix, counter, kind,
                {row.offset + i * row.step, operation.size / pieces, operation.piece_stride, pieces});
        }
    }

    /// Adds the rank's records to those of all ranks.
    void take(LogModule module) {
        FileRecords& records = open_[static_cast<std::size_t>(module)];
        for (auto& [file, record] : records) {
            std::int64_t* counter = record.counter.data();
            if (module == LogModule::posix) {
                store_common(record.posix.sizes, counter, POSIX_ACCESS, POSIX_ACCESS_COUNT);
                store_common(record.posix.strides, counter, POSIX_STRIDE, POSIX_STRIDE_COUNT);
            } else if (module == LogModule::mpiio) {
                store_common(record.mpiio.sizes, counter, MPIIO_ACCESS, MPIIO_ACCESS_COUNT);
            }
            std::vector<PredictedRecord>& all = out_.records[static_cast<std::size_t>(module)];
            const auto [found, fresh] =
                places_[static_cast<std::size_t>(module)].try_emplace(file, all.size());
            const bool apart = record.family < apart_.size() && apart_[record.family];
            if (apart) found->second = all.size();
            if (fresh || apart)
                all.push_back({record.family, file, 0, std::vector<std::int64_t>(counters_of(module)), 0, 0});
            add_rank(module, all[found->second], record);
        }
        records.clear();
        latest_[static_cast<std::size_t>(module)] = {};
    }

    /// Most calls are of the file that the call before was of.
    struct Latest {
        const std::string* file = nullptr;
        RankRecord* record = nullptr;
    };

    const ResolvedPlan& resolved_;
    const std::vector<std::int64_t>& alignments_;
    const std::vector<bool>& apart_;
    std::int64_t left_;
    std::int64_t buffer_began_ = 0;
    std::vector<Level> levels_;
    std::array<FileRecords, log_modules> open_;
    std::array<Latest, log_modules> latest_;
    std::array<std::unordered_map<std::string, std::size_t>, log_modules> places_;
    Prediction out_;
};

}  // namespace

std::string_view module_name(LogModule module) {
    constexpr std::array<std::string_view, log_modules> names{"POSIX", "MPI-IO", "STDIO"};
    return names[static_cast<std::size_t>(module)];
}

std::size_t counters_of(LogModule module) {
    constexpr std::array<std::size_t, log_modules> counts{POSIX_COUNTERS, MPIIO_COUNTERS, STDIO_COUNTERS};
    return counts[static_cast<std::size_t>(module)];
}

Prediction predict(const ResolvedPlan& resolved, const std::vector<std::int64_t>& alignments,
                   std::int64_t most, const std::vector<bool>& apart) {
    return Walk(resolved, alignments, most, apart).run();
}

}  // namespace wa
