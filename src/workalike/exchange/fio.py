"""`workalike export fio`: a job file. fio knows processes and files, but neither MPI nor I/O libraries."""

from __future__ import annotations

from workalike.exchange.notes import Exported, Notes, say_computing, say_names_and_delays, say_table
from workalike.exchange.shape import (
    LIBRARIES,
    Event,
    Shape,
    Transfer,
    events,
    is_private,
    say_data_set,
    shapes_of,
)
from workalike.workload.model import SharingMode, Workload
from workalike.workload.units import format_size
from workalike.workload.words import AT_RANDOM, Direction, Interface, Lifetime, Pattern

MOST_SECTIONS = 2000
MOST_BLOCK = 2**30
MOST_JOBS = 4096  # fio's limit
MOST_TRIED = 10_000  # numbers of parts to try for an operation that is larger than MOST_BLOCK


def write_fio(workload: Workload) -> Exported:
    """A job file with one section per kind of transfer of each dump, which starts at the dump's time."""
    notes = Notes()
    say_computing(workload, "fio", notes)
    say_names_and_delays(workload, "fio", notes)
    say_table(workload, "fio", notes)
    shapes = shapes_of(workload)
    notes.say("fio runs on one node; on several nodes, run it on each with its part of the ranks")
    lines = [
        "[global]",
        "ioengine=psync",
        "thread=0",
        "group_reporting=1",
        "fallocate=none",
        "allow_file_create=1",
    ]
    sections = 0
    for event in events(shapes):
        for number, transfer in enumerate(t for t in event.shape.transfers(event.dump) if t.bytes):
            for repeat in range(event.count):
                if sections == MOST_SECTIONS:
                    notes.lost(f"more than {MOST_SECTIONS} sections: later dumps are left out")
                    return Exported("\n".join(lines) + "\n", notes)
                sections += 1
                lines += ["", *_section(event, repeat, number, transfer, notes)]
        _say(event.shape, notes)
    if not sections:
        notes.lost("the workload has nothing that fio could do")
    return Exported("\n".join(lines) + "\n", notes)


def _section(event: Event, repeat: int, number: int, transfer: Transfer, notes: Notes) -> list[str]:
    shape, dump = event.shape, event.dump + repeat
    start = event.start + repeat * event.every
    file = dump if shape.family.lifetime is Lifetime.PER_DUMP else 0
    name = f"{shape.family.role.value}-{shape.family.number}.{file:06}"
    jobs, block = transfer.ranks, _block(shape, transfer, notes)
    if jobs > MOST_JOBS:
        notes.lost(f"{shape.name}: {jobs} ranks become {MOST_JOBS} processes, fio's limit")
        jobs = MOST_JOBS
    own = transfer.bytes // transfer.ranks
    lines = [f"[{shape.family.role.value}-{shape.family.number}-{dump}-{number}]"]
    lines += [f"numjobs={jobs}", f"bs={block}", f"startdelay={round(start * 1e6)}us"]
    base = _base(shape, dump, number)
    if is_private(shape):
        word = "read" if transfer.direction is Direction.READ else "write"
        lines += [*_order(transfer, word, 0), f"filename_format={name}.$jobnum", f"size={own}"]
        base //= transfer.ranks
    else:
        lines += [f"filename={name}", *_where(transfer, own, block, jobs)]
    lines += [f"io_size={own}", *([f"offset={base}"] if base else [])]
    lines += ["direct=1"] if shape.family.direct else []
    content = shape.family.content_of(event.dump)
    if content.sync and transfer.direction is Direction.WRITE:
        lines.append(f"fsync={content.sync.writes}")
    if content.fsyncs and transfer.direction is Direction.WRITE:
        lines.append("end_fsync=1")
    return lines


def _base(shape: Shape, dump: int, number: int) -> int:
    """Where a kind of transfer begins: after those before it, and in an appended file after earlier dumps."""
    transfers = [t for t in shape.transfers(dump) if t.bytes]
    direction = transfers[number].direction
    before = sum(t.bytes for t in transfers[:number] if t.direction is direction)
    if shape.family.lifetime is Lifetime.APPENDED:
        before += sum(shape.bytes_of(earlier) for earlier in range(dump))
    return before


def _block(shape: Shape, transfer: Transfer, notes: Notes) -> int:
    """The size of an operation; one that is too large is split."""
    if transfer.size <= MOST_BLOCK:
        return transfer.size
    fewest = -(-transfer.size // MOST_BLOCK)
    parts = next((n for n in range(fewest, fewest + MOST_TRIED) if transfer.size % n == 0), None)
    if parts is None:
        notes.lost(f"{shape.name}: operations of {format_size(transfer.size)} become about {fewest} each")
        return transfer.size // fewest
    notes.say(f"{shape.name}: operations of {format_size(transfer.size)} become {parts} each")
    return transfer.size // parts


def _where(transfer: Transfer, own: int, block: int, jobs: int) -> list[str]:
    """Options for the order of operations, and for their places in a shared file: jobs are `offset_increment` apart."""
    word = "read" if transfer.direction is Direction.READ else "write"
    if transfer.pattern is Pattern.REPLICATED:
        return [f"rw={word}", f"size={own}"]
    if transfer.pattern is Pattern.SAME:
        return [f"rw={word}", f"size={block}"]
    if transfer.pattern is Pattern.SHUFFLED:
        return [f"rw=rand{word}", f"size={own * jobs}"]
    if transfer.pattern is Pattern.STRIDED:
        span = transfer.stride * transfer.count * transfer.segments
        return [*_order(transfer, word, transfer.stride - block), f"offset_increment={span}", f"size={span}"]
    if transfer.pattern is Pattern.INTERLEAVED or (transfer.segments > 1 and transfer.count == 1):
        hole = (
            (jobs - 1) * block if block == transfer.size else 0
        )  # no hole within an operation that is split
        if hole or jobs == 1:
            return [*_order(transfer, word, hole), f"offset_increment={block}", f"size={own * jobs}"]
    return [*_order(transfer, word, 0), f"offset_increment={own}", f"size={own}"]


def _order(transfer: Transfer, word: str, hole: int) -> list[str]:
    if transfer.pattern in AT_RANDOM:
        return [f"rw=rand{word}"]
    return [f"rw={word}:{hole}" if hole > 0 else f"rw={word}"]


def _say(shape: Shape, notes: Notes) -> None:
    """Note what fio cannot express."""
    family, sharing = shape.family, shape.family.sharing
    say_data_set(shape, "fio", notes)
    if family.interface in LIBRARIES:
        notes.lost(
            f"{shape.name}: {family.interface.value} becomes plain reads and writes, without its metadata"
        )
    elif family.interface is not Interface.POSIX:
        notes.say(f"{shape.name}: {family.interface.value} becomes plain reads and writes")
    if shape.collective:
        notes.lost(f"{shape.name}: fio has no collective operations; each process does its own")
    if sharing.mode is SharingMode.GROUPS and not is_private(shape):
        notes.lost(f"{shape.name}: {sharing.files} files of groups of ranks become one shared file")
    if len(shape.transfers(0)) > 1:
        notes.say(f"{shape.name}: the kinds of transfers of a dump run at the same time")
    if any(t.pattern is Pattern.SHUFFLED for t in shape.transfers(0)) and not is_private(shape):
        notes.say(f"{shape.name}: each process chooses its places at random, so that some are used twice")
    if any(t.segments > 1 and t.count > 1 for t in shape.transfers(0)):
        notes.say(f"{shape.name}: the repetitions of a stream are contiguous for each rank")
    if family.schedule.computes_within:
        notes.say(f"{shape.name}: the compute time between operations of a dump is left out")
