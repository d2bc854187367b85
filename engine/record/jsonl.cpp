#include "record/jsonl.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "errors.hpp"
#include "plan/enum_words.hpp"

namespace wa {
namespace {

using Json = nlohmann::ordered_json;

/// Tenths of microseconds are enough and keep lines short.
double rounded(double seconds) {
    return std::isfinite(seconds) ? std::round(seconds * 1e7) / 1e7 : 0;
}

std::string text(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json times(const KindTimes& kind) {
    Json out{{"count", kind.count}, {"min_s", 0.0},   {"mean_s", 0.0},
             {"max_s", 0.0},        {"total_s", 0.0}, {"slowest_rank", -1}};
    if (kind.count == 0) return out;
    out["min_s"] = rounded(kind.min_s);
    out["mean_s"] = rounded(kind.total_s / static_cast<double>(kind.count));
    out["max_s"] = rounded(kind.max_s);
    out["total_s"] = rounded(kind.total_s);
    out["slowest_rank"] = kind.slowest_rank;
    if (kind.max_bytes > 0) out["max_bytes"] = kind.max_bytes;
    return out;
}

Json counters(const Counters& c) {
    const DirectionCounters& reads = c.transfers(Direction::read);
    const DirectionCounters& writes = c.transfers(Direction::write);
    return {{"OPENS", c.opens},
            {"READS", reads.operations},
            {"WRITES", writes.operations},
            {"COLL_READS", reads.collective},
            {"COLL_WRITES", writes.collective},
            {"INDEP_READS", reads.operations - reads.collective},
            {"INDEP_WRITES", writes.operations - writes.collective},
            {"STATS", c.stats},
            {"SEEKS", c.seeks},
            {"FSYNCS", c.fsyncs},
            {"FLUSHES", c.flushes},
            {"MMAPS", c.maps},
            {"BYTES_READ", reads.bytes},
            {"BYTES_WRITTEN", writes.bytes},
            {"MAX_BYTE_READ", reads.max_byte},
            {"MAX_BYTE_WRITTEN", writes.max_byte},
            {"SEQ_READS", reads.sequential},
            {"SEQ_WRITES", writes.sequential},
            {"CONSEC_READS", reads.consecutive},
            {"CONSEC_WRITES", writes.consecutive},
            {"SIZE_READ", reads.sizes},
            {"SIZE_WRITE", writes.sizes}};
}

Json levels(const Family& family, const Summary& s, const Traits& counted) {
    Json out = Json::object();
    const auto level = [&out](std::string_view name, std::int64_t written, std::int64_t read) {
        out[std::string(name)] = Json{{"bytes_written", written}, {"bytes_read", read}};
    };
    level(word_of(counted.level.value_or(family.level)), s.payload[1], s.payload[0]);
    const DirectionCounters& reads = s.mpiio.by_direction[0];
    const DirectionCounters& writes = s.mpiio.by_direction[1];
    if (s.mpiio.opens + s.mpiio.syncs + s.mpiio.views + reads.operations + writes.operations > 0) {
        out["mpiio"] =
            Json{{"bytes_written", writes.bytes},    {"bytes_read", reads.bytes},
                 {"coll_writes", writes.collective}, {"indep_writes", writes.operations - writes.collective},
                 {"coll_reads", reads.collective},   {"indep_reads", reads.operations - reads.collective}};
    }
    return out;
}

}  // namespace

std::string run_line(const Plan& plan, const RunHead& head) {
    const Environment& e = head.environment;
    const Json hdf5 = e.hdf5.empty() ? Json(nullptr) : Json(e.hdf5);
    const DirectoryFacts& plain = e.directories.front();
    const Json mpi_io = plain.mpi_io.empty() ? Json(nullptr) : Json(plain.mpi_io);
    Json out{{"type", "run"},
             {"format", "workalike-record"},
             {"version", 1},
             {"plan_ranks", plan.ranks},
             {"processes", head.processes},
             {"backend", head.backend},
             {"clock", word_of(plan.clock)},
             {"time_scale", plan.time_scale},
             {"scale",
              {{"ranks", plan.scale_ranks},
               {"bytes", plan.scale_bytes},
               {"time", plan.scale_time},
               {"scaling", plan.scale_weak ? "weak" : "strong"}}},
             {"environment",
              {{"engine", e.engine},
               {"mpi", e.mpi},
               {"mpi_io", mpi_io},
               {"hdf5", hdf5},
               {"compiler", e.compiler},
               {"file_system", plain.file_system},
               {"host_count", e.host_memory_bytes.size()},
               {"memory_bytes",
                std::accumulate(e.host_memory_bytes.begin(), e.host_memory_bytes.end(), std::int64_t{0})},
               {"host_memory_bytes", e.host_memory_bytes}}}};
    for (const DirectoryFacts& each : e.directories) {
        if (each.name.empty()) continue;
        out["environment"]["file_system." + each.name] = each.file_system;
        if (!each.mpi_io.empty()) out["environment"]["mpi_io." + each.name] = each.mpi_io;
    }
    return text(out);
}

std::string dump_line(const Plan& plan, const Summary& s, const Traits& counted) {
    const Dump& dump = plan.dumps[static_cast<std::size_t>(s.dump)];
    const Family& family = plan.families[dump.family];
    const double start = s.active.empty() ? s.due_s : s.active.first;
    const double end = s.active.empty() ? start : s.active.last;
    const double due = plan.time_scale > 0 ? s.due_s : start;
    Json kinds_json = Json::object();
    for (std::size_t k = 0; k < kinds; ++k) {
        kinds_json[std::string(kind_name(static_cast<Kind>(k)))] = times(s.times[k]);
    }
    Json out{{"type", "dump"},
             {"family", family.id},
             {"role", word_of(family.role)},
             {"number", family.number},
             {"index", dump.index},
             {"file", dump.file},
             {"ranks", s.participants},
             {"bytes_written", s.counters.transfers(Direction::write).bytes},
             {"bytes_read", s.counters.transfers(Direction::read).bytes},
             {"payload_bytes", s.payload[0] + s.payload[1]},
             {"levels", levels(family, s, counted)},
             {"due_s", rounded(due)},
             {"start_s", rounded(start)},
             {"end_s", rounded(end)},
             {"late_s", rounded(start > due ? start - due : 0)},
             {"io_s", rounded(s.files.empty() ? s.active.length() : s.files.length())},
             {"transfer_s", rounded(s.transfer.length())},
             {"kinds", std::move(kinds_json)},
             {"counters", counters(s.counters)}};
    if (family.buffer_alignment > 0) out["buffer_alignment"] = family.buffer_alignment;
    if (family.direct) out["direct"] = true;
    return text(out);
}

std::string error_line(const Plan& plan, const FailureLine& failure) {
    Json out{{"type", "error"},
             {"rank", failure.rank},
             {"role", nullptr},
             {"family", -1},
             {"number", -1},
             {"index", -1},
             {"operation", failure.operation},
             {"reason", failure.reason}};
    if (failure.dump) {
        const Dump& dump = plan.dumps[*failure.dump];
        const Family& family = plan.families[dump.family];
        out["role"] = word_of(family.role);
        out["family"] = family.id;
        out["number"] = family.number;
        out["index"] = dump.index;
    }
    return text(out);
}

std::string compute_item(const ComputeTotals& totals) {
    return text(Json{{"level", totals.level},
                     {"units", totals.units},
                     {"min_s", rounded(totals.min_s)},
                     {"mean_s", rounded(totals.mean_s)},
                     {"max_s", rounded(totals.max_s)},
                     {"slowest_rank", totals.slowest},
                     {"checksum", totals.checksum}});
}

std::string file_item(const Family& family, std::int64_t file, const std::string& name, std::int64_t size) {
    return text(Json{{"role", word_of(family.role)},
                     {"family", family.id},
                     {"number", family.number},
                     {"index", file},
                     {"name", name},
                     {"size", size}});
}

posix::Fd open_to_append(const std::string& path) {
    try {
        return posix::open(path, O_WRONLY | O_CREAT | O_APPEND);
    } catch (const CallFailed& error) {
        throw UsageError(fmt::format("{}: {}", path, error.what()), "name a file that can be written");
    }
}

LineFile::LineFile(const std::string& path, bool fresh) {
    fd_ = open_to_append(path);
    if (fresh && ::lseek(fd_.get(), 0, SEEK_END) > 0) {
        throw UsageError(path + ": exists already", "remove it or name another file");
    }
}

void LineFile::append(std::string line) {
    line += '\n';
    append_raw(line);
}

void LineFile::append_raw(const std::string& line) {
    std::size_t done = 0;
    while (done < line.size()) {
        const ssize_t moved = ::write(fd_.get(), line.data() + done, line.size() - done);
        if (moved < 0 && errno == EINTR) continue;
        if (moved < 0) posix::fail("write of the record", errno);
        done += static_cast<std::size_t>(moved);
    }
}

}  // namespace wa
