#include "run/rank.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>

#include "count/resolved.hpp"
#include "io/capture_pause.hpp"
#include "io/mpi.hpp"
#include "io/mpiio_tally.hpp"
#include "io/posix.hpp"
#include "run/failure.hpp"
#include "run/gather.hpp"
#include "sharing/names.hpp"

namespace wa {
namespace {

/// A shorter sleep would take longer than requested.
constexpr double shortest_compute_s = 2e-4;

constexpr double poll_every_s = 0.05;
constexpr int baton_tag = 7;

}  // namespace

struct RankRun::Task {
    Task(const Setup& setup, std::size_t dump, const DumpOperations::Options& dump_options,
         DumpOperations& dump_operations, const RankCalls::File& file_state, FileContext file_context)
        : position(dump),
          family(setup.family(dump)),
          performer(setup.performer(dump)),
          use(setup.uses[dump]),
          options(dump_options),
          operations(dump_operations),
          calls(dump_operations, call_rules(*performer.counted), file_state),
          context(std::move(file_context)),
          performs(performer.traits->performs) {}

    std::size_t position;
    const Family& family;
    const Performer& performer;
    const FileUse& use;
    DumpOperations::Options options;
    DumpOperations& operations;
    RankCalls calls;
    FileContext context;
    bool performs;
    Summary summary;
    Use* file = nullptr;
    Use own;                          // a file that exists in this dump only
    std::unique_ptr<OpenFile> extra;  // opened to be closed again at once
    std::optional<Gather> gather;
    bool meets = false;  // its ranks wait for each other between their writes and their reads
    bool wrote = false;  // since they have done so
    double computed_s = 0;
};

RankRun::RankRun(Setup& setup, std::int64_t rank, Host host)
    : setup_(setup), rank_(rank), host_(std::move(host)) {}

template <typename F>
void RankRun::timed(Task& task, Kind kind, F&& call) {
    if (!task.performs) {
        call();
        task.summary.times_of(kind).note(0);
        return;
    }
    const double start = now();
    call();
    const double end = now();
    task.summary.times_of(kind).note(end - start);
    task.summary.active.cover(start, end);
    if (kind != Kind::stat) task.summary.files.cover(start, end);
    if (kind == Kind::read || kind == Kind::write) task.summary.transfer.cover(start, end);
    if (end - last_look_ > poll_every_s) {
        last_look_ = end;
        host_.poll();
    }
}

std::optional<Summary> RankRun::perform(std::size_t dump, double due) {
    const Dump& d = setup_.plan.dumps[dump];
    const Family& family = setup_.family(dump);
    const Layout& layout = setup_.layout(dump);
    const Performer& performer = setup_.performer(dump);
    const bool gathers = family.sharing.gather && performer.traits->performs;
    const auto member = layout.members().index_of(rank_);
    if (!member) {
        if (gathers) Gather(setup_, dump, setup_.communicators.everyone()).serve_root();
        return std::nullopt;
    }
    const auto held = held_.find({d.family, d.file});
    const FileContext context = setup_.context(dump, *member);
    DumpOperations::Options options;
    options.collective_files = performer.counted->collective_files;
    options.lone_opens = performer.counted->lone_opens;
    options.file_is_open = held != held_.end();
    options.whole_elements = !performer.traits->plain_bytes;
    const bool fits = performer.traits->performs && context.content->sized();
    if (fits) options.fit_bytes = performer.backend->fit_payload(context);
    DumpOperations operations(setup_.plan, dump, layout, *member, options);
    RankCalls::File stands{
        held != held_.end(), family.lifetime != Lifetime::appended || setup_.uses[dump].last, {}};
    if (stands.held) stands.state = held->second.state;
    Task task(setup_, dump, options, operations, stands, context);
    task.context.mesh = operations.mesh();
    task.summary.dump = static_cast<std::int64_t>(dump);
    if (gathers) task.gather.emplace(setup_, dump, setup_.communicators.everyone());
    if (held != held_.end()) task.file = &held->second;

    task.meets = task.performs && setup_.meets[dump] && !family.sharing.baton;
    if (task.performs) wait_for_writers(task);
    const bool last_of_held = task.file != nullptr && task.use.last;
    if (family.sharing.baton && task.performs) pass_baton(task, true);
    const MpiioTally before = mpiio_tally();
    if (!operations.idle() || last_of_held) {
        task.summary.participants = 1;
        task.summary.due_s = due;
        if (task.performs && family.drop_caches && !operations.many_files() &&
            moves(*task.context.content, Direction::read)) {
            posix::drop_pages(task.context.path);
        }
        const double start = now();
        task.summary.active.cover(start, start);
        Call call;
        while (task.calls.next(call)) perform_call(task, call);
        if (operations.many_files()) compute(task);  // for the last batches
        if (task.file != nullptr) task.file->state = task.calls.state();
        if (!task.performs) task.summary.active.cover(start, now());
    }
    if (task.meets && !operations.uses_file()) {
        Section section;
        while (operations.next_section(section)) meet_before(task, section);
    }
    if (performer.traits->over_mpiio) task.summary.mpiio = mpiio_tally().since(before);
    if (fits && operations.uses_file()) {
        const auto writes = static_cast<std::size_t>(Direction::write);
        performer.backend->dump_done(task.context, task.summary.payload[writes],
                                     task.summary.mpiio.by_direction[writes].bytes);
    }
    if (family.sharing.baton && task.performs) pass_baton(task, false);
    if (task.performs) after_close(task);
    if (performer.traits->over_mpiio && !performer.traits->plain_bytes && family.level == Level::mpiio) {
        // At this level the library's own traffic is counted.
        task.summary.counters.by_direction = task.summary.mpiio.by_direction;
    }
    task.summary.close(rank_);
    return task.summary;
}

void RankRun::perform_call(Task& task, const Call& call) {
    Counters& counters = task.summary.counters;
    switch (call.kind) {
        case Call::Kind::begin_file:
            enter_file(task, call.file);
            return;
        case Call::Kind::stat:
            timed(task, Kind::stat, [&] { task.performer.backend->stat(task.context); });
            ++counters.stats;
            return;
        case Call::Kind::open:
            open(task, call);
            return;
        case Call::Kind::close:
            close(task, call.extra);
            return;
        case Call::Kind::begin_dump:
            begin_dump(task);
            return;
        case Call::Kind::begin_section:
            meet_before(task, call.section);
            task.file->file->begin_section(call.section);
            return;
        case Call::Kind::end_section:
            task.file->file->end_section();
            return;
        case Call::Kind::begin_operation:
            compute(task);
            if (task.gather && task.gather->direction() == Direction::write)
                task.gather->advance(call.operation.size);
            return;
        case Call::Kind::end_operation:
            if (task.gather && task.gather->direction() == Direction::read)
                task.gather->advance(call.operation.size);
            return;
        case Call::Kind::transfer:
            transfer(task, call.operation);
            return;
        case Call::Kind::complete:
            if (task.file->file->posts()) timed(task, Kind::write, [&] { task.file->file->complete(); });
            return;
        case Call::Kind::seek:
            timed(task, Kind::seek, [&] { task.file->file->seek(call.offset); });
            ++counters.seeks;
            return;
        case Call::Kind::flush:
            timed(task, Kind::flush, [&] { task.file->file->flush(); });
            ++counters.flushes;
            return;
        case Call::Kind::sync:
            timed(task, Kind::fsync, [&] { task.file->file->sync(); });
            ++counters.fsyncs;
            return;
        case Call::Kind::end_dump:
            task.file->file->end_dump();
            return;
    }
}

void RankRun::enter_file(Task& task, std::int64_t file) const {
    task.context.path = setup_.path(setup_.plan.dumps[task.position].family, file, task.context.slot);
    if (task.performs && task.family.drop_caches) posix::drop_pages(task.context.path);
}

void RankRun::open(Task& task, const Call& call) {
    std::unique_ptr<OpenFile> file;
    FileContext context = task.context;
    if (call.alone) {
        context.comm = MPI_COMM_SELF;
        context.creates = false;
    }
    timed(task, Kind::open, [&] { file = task.performer.backend->open(context); });
    ++task.summary.counters.opens;
    task.context.exclusive = task.context.empties = false;
    if (call.extra) {
        task.extra = std::move(file);
        return;
    }
    const bool appended = task.family.lifetime == Lifetime::appended;
    task.file =
        appended ? &held_[{setup_.plan.dumps[task.position].family, task.context.dump->file}] : &task.own;
    task.file->file = std::move(file);
}

void RankRun::begin_dump(Task& task) {
    if (task.file == nullptr || task.file->file == nullptr)
        throw CallFailed("open", "the plan opened no file to work on");
    // Ranks that opened a file with this one have reported its earlier dumps before. Receiving the reports
    // now puts them into the record, even if the next collective call never ends.
    if (task.performs) host_.poll();
    task.file->file->begin_dump(task.context);
}

void RankRun::transfer(Task& task, const Operation& operation) {
    const bool writes = operation.direction == Direction::write;
    std::int64_t moved = 0;
    timed(task, writes ? Kind::write : Kind::read, [&] { moved = task.file->file->transfer(operation); });
    if (operation.joins) {
        task.summary.counters.note_join(operation.direction);
        return;
    }
    task.summary.counters.note(task.calls.state(), operation.direction, operation.offset, moved,
                               operation.collective);
    task.summary.payload[static_cast<std::size_t>(operation.direction)] += moved;
    if (moved >= operation.size) return;
    const std::string& path = task.context.path;
    throw CallFailed("read",
                     fmt::format("{} ends early: asked for {} bytes at byte {}, got {}",
                                 path.substr(path.rfind('/') + 1), operation.size, operation.offset, moved));
}

/// Data that other ranks write in the same dump must be there before it is read.
void RankRun::meet_before(Task& task, const Section& section) const {
    if (!task.meets || section.kind != Section::Kind::stream) return;
    if (section.writes) {
        task.wrote = true;
    } else if (task.wrote) {
        task.wrote = false;
        publish(task);
        mpi::check(MPI_Barrier(setup_.communicators.file(task.family, false)), "MPI_Barrier");
    }
}

/// Others do not see what a stream still holds in its buffer.
void RankRun::publish(const Task& task) {
    if (task.file == nullptr) return;
    const CapturePause uncounted;  // the application's own flushes are counted
    task.file->file->publish();
}

/// The application computes between its operations: the completed share of the compute time equals that of
/// the operations.
void RankRun::compute(Task& task) {
    const double whole = setup_.plan.dumps[task.position].compute_s * setup_.plan.time_scale;
    if (whole <= 0 || !task.performs) return;
    const double remaining_s = whole * share_to_compute(task) - task.computed_s;
    if (remaining_s < shortest_compute_s) return;
    const bool shares_file = task.operations.slot().members > 1 && !task.operations.many_files();
    const bool waited_for = shares_file || task.family.sharing.baton || task.gather.has_value();
    const double start = now();
    host_.compute(remaining_s, !waited_for);
    task.computed_s += now() - start;
}

/// The share of a dump's compute time that is due before the next operation, or before the end of an epoch.
/// Of a data set, whole batches are computed once they and those that are fetched ahead have been read.
double RankRun::share_to_compute(const Task& task) {
    const DatasetOperations* share = task.operations.dataset();
    if (share == nullptr) {
        const auto all = static_cast<double>(std::max<std::int64_t>(1, task.operations.own_operations()));
        return static_cast<double>(task.calls.operations_done() + 1) / all;
    }
    const Dataset& dataset = *task.context.content->dataset;
    const std::int64_t read = share->samples_done();
    if (read == share->samples()) return 1;
    const std::int64_t batches = std::max<std::int64_t>(read - dataset.prefetch, 0) / dataset.batch;
    return static_cast<double>(batches * dataset.batch) / static_cast<double>(share->samples());
}

void RankRun::close(Task& task, bool extra) {
    if (extra) {
        timed(task, Kind::close, [&] { task.extra->close(); });
        task.extra.reset();
        return;
    }
    timed(task, Kind::close, [&] { task.file->file->close(); });
    task.file = nullptr;
    task.own = Use{};
    held_.erase({setup_.plan.dumps[task.position].family, task.context.dump->file});
}

void RankRun::after_close(Task& task) {
    const FileSlot& slot = task.operations.slot();
    const bool first = task.operations.acting_member() == slot.first_member;
    const bool open = task.file != nullptr;
    const bool renames = task.family.rename && !open && task.context.path.ends_with(temporary_suffix) &&
                         (task.family.lifetime != Lifetime::appended || task.use.last);
    const bool deletes = task.use.deletes.has_value();
    const bool collective = task.performer.counted->collective_files && !task.family.sharing.baton;
    // Before renaming and deleting, all ranks that share the file must be done with it, as in the
    // application. Deleting an older file only requires that all have opened the current one, which a
    // collective open ensures.
    if (slot.members > 1 && (renames || (deletes && !collective))) {
        mpi::check(MPI_Barrier(setup_.communicators.file(task.family, task.operations.shifted())),
                   "MPI_Barrier");
    }
    if (renames && first) {
        const std::string final_path =
            task.context.path.substr(0, task.context.path.size() - temporary_suffix.size());
        if (posix::size_of(task.context.path)) posix::rename(task.context.path, final_path);
        const double end = now();
        task.summary.active.cover(end, end);
    }
    if (setup_.options.verify) verify(task);
    if (deletes && first) {
        const FileSlot own = setup_.layout(task.position).slot_of_member(task.operations.acting_member());
        posix::remove(setup_.path(setup_.plan.dumps[task.position].family, *task.use.deletes, own));
    }
}

void RankRun::wait_for_writers(const Task& task) const {
    // Data that other ranks have written must be complete before it is read. This is a dependency of the
    // data, not an additional barrier.
    const bool reads = moves(*task.context.content, Direction::read);
    if (!reads || !task.use.written_before) return;
    publish(task);
    if (task.operations.shifted()) {
        mpi::check(MPI_Barrier(setup_.communicators.members(task.family)), "MPI_Barrier");
    } else if (task.operations.slot().members > 1) {
        mpi::check(MPI_Barrier(setup_.communicators.file(task.family, false)), "MPI_Barrier");
    }
}

void RankRun::pass_baton(const Task& task, bool receive) const {
    const MPI_Comm comm = setup_.communicators.file(task.family, task.operations.shifted());
    const int rank = mpi::rank(comm);
    if (receive && rank > 0) {
        mpi::check(MPI_Recv(nullptr, 0, MPI_BYTE, rank - 1, baton_tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    }
    if (!receive && rank + 1 < mpi::size(comm)) {
        mpi::check(MPI_Send(nullptr, 0, MPI_BYTE, rank + 1, baton_tag, comm), "MPI_Send");
    }
}

/// What the file of the dump is known to contain: what the dump wrote, or what the run prepared for it and no
/// dump writes.
std::optional<Direction> RankRun::verifiable(const Task& task) {
    if (moves(*task.context.content, Direction::write))
        return task.context.writes ? std::optional(Direction::write) : std::nullopt;
    // If several dumps read a file of a library, each has overwritten the others' prepared values.
    const bool own = task.performer.traits->plain_bytes || task.family.lifetime == Lifetime::per_dump;
    const bool loads = moves(*task.context.content, Direction::read);
    if (loads && own && task.use.prepared && !task.use.written) return Direction::read;
    return std::nullopt;
}

void RankRun::verify(Task& task) {
    const std::optional<Direction> direction = verifiable(task);
    if (!direction) return;
    // Verification is not measured, so it may wait. While a file is read, all ranks that share it have
    // finished writing, and none goes on to overwrite it.
    const CapturePause uncounted;
    const MPI_Comm comm = setup_.communicators.file(task.family, task.operations.shifted());
    const bool together = task.operations.slot().members > 1 && !task.operations.many_files();
    if (task.file != nullptr) task.file->file->flush();
    if (together) mpi::check(MPI_Barrier(comm), "MPI_Barrier");
    FileContext context = task.context;
    if (task.file == nullptr && context.path.ends_with(temporary_suffix)) {
        context.path.resize(context.path.size() - temporary_suffix.size());
    }
    DumpOperations::Options options = task.options;
    options.file_is_open = false;
    const Layout& layout = setup_.layout(task.position);
    DumpOperations again(setup_.plan, task.position, layout, *layout.members().index_of(rank_), options);
    if (again.many_files()) return verify_dataset(task, again, context);
    OpenFile* file = task.file != nullptr ? task.file->file.get() : nullptr;
    if (direction == Direction::read && task.performer.traits->plain_bytes)
        context.phase =
            prepared_phase(setup_.plan.seed, task.family.id, context.dump->file, context.slot.file);
    verified_.merge(verify_dump(context, task.performer, file, again, *direction, host_.poll));
    if (together) mpi::check(MPI_Barrier(comm), "MPI_Barrier");
}

/// A data set is only read, so no rank waits for another.
void RankRun::verify_dataset(const Task& task, DumpOperations& operations, FileContext& context) {
    const std::size_t family = setup_.plan.dumps[task.position].family;
    while (operations.next_file()) {
        context.path = setup_.path(family, operations.file(), context.slot);
        context.phase =
            prepared_phase(setup_.plan.seed, task.family.id, operations.file(), context.slot.file);
        verified_.merge(
            verify_dump(context, task.performer, nullptr, operations, Direction::read, host_.poll));
    }
}

}  // namespace wa
