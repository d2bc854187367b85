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
#include "run/file_sizes.hpp"
#include "sharing/names.hpp"

namespace wa {
namespace {

constexpr double poll_every_s = 0.05;
constexpr int turn_tag = 7;

/// MPI-IO calls are those of a part while it exists.
class CountMpiio {
  public:
    explicit CountMpiio(RankPart& part) {
        if (part.performer.traits->over_mpiio) count_mpiio_in(&part.summary.mpiio);
    }
    ~CountMpiio() { count_mpiio_in(nullptr); }
    CountMpiio(const CountMpiio&) = delete;
    CountMpiio& operator=(const CountMpiio&) = delete;
    CountMpiio(CountMpiio&&) = delete;
    CountMpiio& operator=(CountMpiio&&) = delete;
};

}  // namespace

RankRun::RankRun(Setup& setup, std::int64_t rank, std::function<void()> poll)
    : setup_(setup), rank_(rank), life_(life_of(setup.plan, rank)), poll_(std::move(poll)) {}

template <typename F>
void RankRun::timed(RankPart& part, Kind kind, F&& call, std::int64_t bytes) {
    if (!part.performs) {
        call();
        part.summary.times_of(kind).note(0, 0);
        return;
    }
    part.summary.times_of(kind).note(seconds_in(part, kind, call), bytes);
}

template <typename F>
double RankRun::seconds_in(RankPart& part, Kind kind, F&& call) {
    const double start = now();
    call();
    const double end = now();
    between_.called(start, end);
    part.summary.active.cover(start, end);
    if (kind != Kind::stat) part.summary.files.cover(start, end);
    if (kind == Kind::read || kind == Kind::write) part.summary.transfer.cover(start, end);
    if (end - last_look_ > poll_every_s) {
        last_look_ = end;
        poll_();
    }
    return end - start;
}

std::unique_ptr<RankPart> RankRun::part_of(std::size_t dump, std::int64_t member) {
    const Dump& d = setup_.plan.dumps[dump];
    const Family& family = setup_.family(dump);
    const Performer& performer = setup_.performer(dump);
    const auto held = held_.find({d.family, d.file});
    const FileContext context = setup_.context(dump, member);
    DumpOperations::Options options;
    options.collective_files = performer.counted->collective_files;
    options.lone_opens = performer.counted->lone_opens;
    options.file_is_open = held != held_.end();
    options.whole_elements = !performer.traits->plain_bytes;
    const bool fits = performer.traits->performs && context.content->sized();
    if (fits) options.fit_bytes = performer.backend->fit_payload(context);
    RankCalls::File stands{
        held != held_.end(), family.lifetime != Lifetime::appended || setup_.uses[dump].last, {}};
    if (stands.held) stands.state = held->second.state;
    auto part = std::make_unique<RankPart>(
        setup_, dump, member, OwnTime{life_, delays_of(family, d.index, rank_)}, options, stands, context);
    part->fits = fits;
    if (held != held_.end()) part->file = &held->second;
    return part;
}

void RankRun::note_start(RankPart& part) const {
    const double start = now();
    part.summary.active.cover(start, start);
}

RankPart* RankRun::begin(std::size_t dump, double due) {
    const bool gathers = setup_.family(dump).sharing.gather && setup_.performer(dump).traits->performs;
    const auto member = setup_.layout(dump).members().index_of(rank_);
    if (!member) {
        if (gathers) Gather(setup_, dump, setup_.communicators.everyone()).serve_root();
        return nullptr;
    }
    RankPart& part = *parts_.emplace(dump, part_of(dump, *member)).first->second;
    if (gathers) part.gather.emplace(setup_, dump, setup_.communicators.everyone());
    if (part.performs) wait_for_writers(part);
    if (part.operations.idle() && (part.file == nullptr || !part.use.last)) return &part;
    part.summary.participants = 1;
    part.summary.due_s = due;
    if (part.performs && part.family.drop_caches && !part.operations.many_files() &&
        moves(*part.context.content, Direction::read)) {
        posix::drop_pages(part.context.path);
    }
    if (!part.family.sharing.baton) note_start(part);
    return &part;
}

Summary RankRun::end(RankPart& part) {
    {
        const CountMpiio counted(part);
        if (part.file != nullptr) part.file->state = part.calls.state();
        if (!part.performs && part.summary.participants > 0) part.summary.active.cover(now(), now());
        if (part.fits && part.operations.uses_file()) {
            const auto writes = static_cast<std::size_t>(Direction::write);
            part.performer.backend->dump_done(part.context, part.summary.payload[writes],
                                              part.summary.mpiio.by_direction[writes].bytes);
        }
    }
    if (part.performs) after_close(part);
    const Traits& traits = *part.performer.traits;
    if (traits.over_mpiio && !traits.plain_bytes && part.family.level == Level::mpiio) {
        // At this level the library's own traffic is counted.
        part.summary.counters.by_direction = part.summary.mpiio.by_direction;
    }
    part.summary.close(rank_);
    const Summary summary = part.summary;
    parts_.erase(part.position);
    return summary;
}

std::optional<Summary> RankRun::perform_dump(std::size_t dump, double due) {
    RankPart* part = begin(dump, due);
    if (part == nullptr) return std::nullopt;
    Call call;
    while (part->steps().next(call)) perform(*part, call);
    return end(*part);
}

void RankRun::perform(RankPart& part, const Call& call) {
    const CountMpiio counted(part);
    switch (call.kind) {
        case Call::Kind::take_turn:
            if (part.performs) waiting([&] { pass_turn(part, true); });
            if (part.summary.participants > 0) note_start(part);
            return;
        case Call::Kind::pass_turn:
            if (part.performs) pass_turn(part, false);
            return;
        case Call::Kind::begin_file:
            enter_file(part, call.file);
            return;
        case Call::Kind::stat:
            timed(part, Kind::stat, [&] { part.performer.backend->stat(part.context); });
            ++part.summary.counters.stats;
            return;
        case Call::Kind::open:
            open(part, call);
            return;
        case Call::Kind::close:
            if (call.again) {
                leave(part);
            } else {
                close(part, call.extra);
            }
            return;
        case Call::Kind::begin_dump:
            begin_dump(part);
            return;
        case Call::Kind::begin_section:
            wait_for_writers(part, call.section);
            if (part.file != nullptr && part.operations.uses_file())
                part.file->file->begin_section(call.section);
            return;
        case Call::Kind::begin_operation:
            if (part.gather && part.gather->direction() == Direction::write)
                waiting([&] { part.gather->advance(call.operation.size); });
            return;
        case Call::Kind::end_operation:
            if (part.gather && part.gather->direction() == Direction::read)
                waiting([&] { part.gather->advance(call.operation.size); });
            return;
        default:
            perform_in_file(part, call);
    }
}

/// Calls on a file that is open.
void RankRun::perform_in_file(RankPart& part, const Call& call) {
    OpenFile& file = *part.file->file;
    Counters& counters = part.summary.counters;
    switch (call.kind) {
        case Call::Kind::end_section:
            file.end_section();
            return;
        case Call::Kind::transfer:
            transfer(part, call);
            return;
        case Call::Kind::complete:
            if (file.posts()) {
                const double waited = seconds_in(part, Kind::write, [&] { file.complete(); });
                part.summary.times_of(Kind::write).note_wait(waited);
            }
            return;
        case Call::Kind::seek:
            timed(part, Kind::seek, [&] { file.seek(call.offset); });
            if (call.buffered == Buffered::none) ++counters.seeks;
            return;
        case Call::Kind::flush:
            timed(part, Kind::flush, [&] { file.flush(); });
            if (call.buffered == Buffered::none) ++counters.flushes;
            return;
        case Call::Kind::sync:
            timed(part, Kind::fsync, [&] { file.sync(); });
            ++counters.fsyncs;
            return;
        case Call::Kind::map:
            timed(part, Kind::map, [&] { file.map(); });
            ++counters.maps;
            return;
        case Call::Kind::end_dump:
            file.end_dump();
            return;
        default:
            return;
    }
}

void RankRun::enter_file(RankPart& part, std::int64_t file) const {
    part.context.path = setup_.path(setup_.plan.dumps[part.position].family, file, part.context.slot);
    if (part.performs && part.family.drop_caches) posix::drop_pages(part.context.path);
}

void RankRun::open(RankPart& part, const Call& call) {
    std::unique_ptr<OpenFile> file;
    FileContext context = part.context;
    if (call.alone) {
        context.comm = MPI_COMM_SELF;
        context.creates = false;
    }
    timed(part, Kind::open, [&] { file = part.performer.backend->open(context); });
    ++part.summary.counters.opens;
    part.context.exclusive = part.context.empties = false;
    if (call.extra) {
        part.extra = std::move(file);
        return;
    }
    const bool appended = part.family.lifetime == Lifetime::appended;
    part.file =
        appended ? &held_[{setup_.plan.dumps[part.position].family, part.context.dump->file}] : &part.own;
    part.file->file = std::move(file);
    if (call.again) {
        part.file->file->begin_dump(part.context);
        part.file->file->begin_section(call.section);
    }
}

void RankRun::begin_dump(RankPart& part) {
    if (part.file == nullptr || part.file->file == nullptr)
        throw CallFailed("open", "the plan opened no file to work on");
    // Ranks that opened a file with this one have reported its earlier dumps before. Receiving the reports
    // now puts them into the record, even if the next collective call never ends.
    if (part.performs) poll_();
    part.file->file->begin_dump(part.context);
}

void RankRun::transfer(RankPart& part, const Call& call) {
    const Operation& operation = call.operation;
    const bool writes = operation.direction == Direction::write;
    std::int64_t moved = 0;
    part.file->file->make_data(operation);
    timed(
        part, writes ? Kind::write : Kind::read, [&] { moved = part.file->file->transfer(operation); },
        operation.size);
    if (operation.joins) {
        part.summary.counters.note_join(operation.direction);
        return;
    }
    part.summary.counters.note(part.calls.state_of(call), operation.direction, operation.offset, moved,
                               operation.collective);
    part.summary.payload[static_cast<std::size_t>(operation.direction)] += moved;
    if (moved >= operation.size) return;
    const std::string& path = part.context.path;
    throw CallFailed("read",
                     fmt::format("{} ends early: asked for {} bytes at byte {}, got {}",
                                 path.substr(path.rfind('/') + 1), operation.size, operation.offset, moved));
}

/// Data that other ranks write in the same dump must be there before it is read: a barrier between the two.
void RankRun::wait_for_writers(RankPart& part, const Section& section) {
    if (!part.reads_others || section.kind != Section::Kind::stream) return;
    if (section.writes) {
        part.wrote = true;
    } else if (part.wrote) {
        part.wrote = false;
        publish(part);
        barrier(setup_.communicators.file(part.family, false));
    }
}

/// Others do not see what a stream still holds in its buffer.
void RankRun::publish(const RankPart& part) {
    if (part.file == nullptr) return;
    const CapturePause uncounted;  // the application's own flushes are counted
    part.file->file->publish();
}

void RankRun::close(RankPart& part, bool extra) {
    if (extra) {
        timed(part, Kind::close, [&] { part.extra->close(); });
        part.extra.reset();
        return;
    }
    timed(part, Kind::close, [&] { part.file->file->close(); });
    part.file = nullptr;
    part.own = HeldFile{};
    held_.erase({setup_.plan.dumps[part.position].family, part.context.dump->file});
}

/// Closes a file that is opened again at once.
void RankRun::leave(RankPart& part) {
    OpenFile& file = *part.file->file;
    file.end_section();
    file.end_dump();
    timed(part, Kind::close, [&] { file.close(); });
}

void RankRun::after_close(RankPart& part) {
    const FileSlot& slot = part.operations.slot();
    const bool first = part.operations.acting_member() == slot.first_member;
    const bool open = part.file != nullptr;
    const bool renames =
        part.context.renames > 0 && !open && (part.family.lifetime != Lifetime::appended || part.use.last);
    const bool deletes = part.use.deletes.has_value();
    const bool collective = part.performer.counted->collective_files && !part.family.sharing.baton;
    // Before renaming and deleting, all ranks that share the file must be done with it, as in the
    // application. An older file that was in use no longer when this dump began may be deleted when all have
    // opened the current one, which a collective open ensures.
    const bool overlapped =
        deletes && (part.use.deleted_after == part.position ||
                    setup_.times[part.use.deleted_after].end_s > setup_.times[part.position].start_s);
    if (slot.members > 1 && (renames || (deletes && (!collective || overlapped)))) {
        barrier(setup_.communicators.file(part.family, part.operations.shifted()));
    }
    if (renames && first) {
        const FileContext& context = part.context;
        // Names between are none of a backup that is there already.
        const std::int64_t backups =
            part.family.backup ? static_cast<std::int64_t>(setup_.plan.dumps.size()) : 0;
        const std::string own =
            setup_.path(setup_.plan.dumps[part.position].family, context.dump->file, slot);
        std::string now_at = context.path;
        for (std::int64_t done = 1; done <= context.renames; ++done) {
            const bool last = done == context.renames;
            const std::string next = last ? context.final_path : name_on_the_way(own, backups + done);
            posix::rename(now_at, next);
            now_at = next;
        }
        const double end = now();
        part.summary.active.cover(end, end);
    }
    // The next dump begins a new file under the same name, a temporary one or that of the family.
    if (renames && replaces_its_file(part.family) && slot.members > 1)
        barrier(setup_.communicators.file(part.family, part.operations.shifted()));
    if (setup_.options.verify) verify(part);
    if (deletes && first) {
        const FileSlot own = setup_.layout(part.position).slot_of_member(part.operations.acting_member());
        const std::string path = setup_.path(setup_.plan.dumps[part.position].family, *part.use.deletes, own);
        {
            const CapturePause uncounted;
            if (const auto size = posix::size_of(path))
                check_file(setup_, part.use.deleted_after, own, path, size);
        }
        posix::remove(path);
    }
}

void RankRun::barrier(MPI_Comm comm) {
    waiting([&] { mpi::check(MPI_Barrier(comm), "MPI_Barrier"); });
}

void RankRun::wait_for_writers(const RankPart& part) {
    // Data that other ranks have written must be complete before it is read. This is a dependency of the
    // data, not an additional barrier.
    const bool reads = moves(*part.context.content, Direction::read);
    if (!reads || !part.use.written_before) return;
    publish(part);
    if (part.operations.shifted()) {
        barrier(setup_.communicators.members(part.family));
    } else if (part.operations.slot().members > 1) {
        barrier(setup_.communicators.file(part.family, false));
    }
}

void RankRun::pass_turn(const RankPart& part, bool receive) const {
    const MPI_Comm comm = setup_.communicators.file(part.family, part.operations.shifted());
    const int rank = mpi::rank(comm);
    if (receive && rank > 0) {
        mpi::check(MPI_Recv(nullptr, 0, MPI_BYTE, rank - 1, turn_tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    }
    if (!receive && rank + 1 < mpi::size(comm)) {
        mpi::check(MPI_Send(nullptr, 0, MPI_BYTE, rank + 1, turn_tag, comm), "MPI_Send");
    }
}

/// What the file of the dump is known to contain: what the dump wrote, or what the run prepared for it and no
/// dump writes.
std::optional<Direction> RankRun::verifiable(const RankPart& part) {
    if (moves(*part.context.content, Direction::write))
        return part.context.writes ? std::optional(Direction::write) : std::nullopt;
    // If several dumps read a file of a library, each has overwritten the others' prepared values.
    const bool own = part.performer.traits->plain_bytes || part.family.lifetime == Lifetime::per_dump;
    const bool loads = moves(*part.context.content, Direction::read);
    if (loads && own && part.use.prepared && !part.use.written) return Direction::read;
    return std::nullopt;
}

void RankRun::verify(RankPart& part) {
    const std::optional<Direction> direction = verifiable(part);
    if (!direction) return;
    // Verification is not measured, so it may wait. While a file is read, all ranks that share it have
    // finished writing, and none goes on to overwrite it.
    const CapturePause uncounted;
    const MPI_Comm comm = setup_.communicators.file(part.family, part.operations.shifted());
    const bool together = part.operations.slot().members > 1 && !part.operations.many_files();
    if (part.file != nullptr) part.file->file->flush();
    if (together) barrier(comm);
    FileContext context = part.context;
    if (part.file == nullptr) context.path = context.final_path;
    DumpOperations::Options options = part.options;
    options.file_is_open = false;
    const Layout& layout = setup_.layout(part.position);
    DumpOperations again(setup_.plan, part.position, layout, *layout.members().index_of(rank_), options);
    if (again.many_files()) return verify_dataset(part, again, context);
    OpenFile* file = part.file != nullptr ? part.file->file.get() : nullptr;
    if (direction == Direction::read && part.performer.traits->plain_bytes)
        context.phase =
            prepared_phase(setup_.plan.seed, part.family.id, context.dump->file, context.slot.file);
    verified_.merge(verify_dump(context, part.performer, file, again, *direction, poll_));
    if (together) barrier(comm);
}

/// A data set is only read, so no rank waits for another.
void RankRun::verify_dataset(const RankPart& part, DumpOperations& operations, FileContext& context) {
    const std::size_t family = setup_.plan.dumps[part.position].family;
    while (operations.next_file()) {
        context.path = setup_.path(family, operations.file(), context.slot);
        context.phase =
            prepared_phase(setup_.plan.seed, part.family.id, operations.file(), context.slot.file);
        verified_.merge(verify_dump(context, part.performer, nullptr, operations, Direction::read, poll_));
    }
}

}  // namespace wa
