"""`workalike export ior`: a script of IOR command lines, one per run of equal dumps."""

from __future__ import annotations

from workalike.exchange.notes import Exported, Notes, say_computing, say_names_and_delays, say_table
from workalike.exchange.shape import Event, Shape, Transfer, events, is_private, say_data_set, shapes_of
from workalike.workload.model import SharingMode, Workload
from workalike.workload.units import format_size
from workalike.workload.words import AT_RANDOM, Direction, Interface, Lifetime, Pattern

APIS = {
    Interface.POSIX: "POSIX",
    Interface.STDIO: "POSIX",
    Interface.MPIIO: "MPIIO",
    Interface.HDF5: "HDF5",
    Interface.TYPHONIO: "HDF5",
    Interface.PNETCDF: "NCMPI",
    Interface.ADIOS2: "POSIX",
}
WORD = 8  # IOR's transfers are multiples of this
MOST_LINES = 20_000


def write_ior(workload: Workload) -> Exported:
    """A shell script that runs IOR for each dump and sleeps between them."""
    notes = Notes()
    say_computing(workload, "IOR", notes)
    say_names_and_delays(workload, "IOR", notes)
    say_table(workload, "IOR", notes)
    lines = ["#!/bin/sh", "# Run it in the folder for the data.", "set -e"]
    now = 0.0
    for event in events(shapes_of(workload)):
        commands = list(_commands(event, notes))
        if not commands:
            continue
        if event.start > now:
            lines.append(f"sleep {_seconds(event.start - now)}")
        now = max(now, event.start + (event.count - 1) * event.every)
        lines += commands
        if len(lines) > MOST_LINES:
            notes.lost(f"more than {MOST_LINES} command lines: later dumps are left out")
            break
    notes.say("IOR's own time is not subtracted from the sleeps, which last from start to start")
    if len(lines) == 3:
        notes.lost("the workload has nothing that IOR could do")
    return Exported("\n".join(lines) + "\n", notes)


def _seconds(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _commands(event: Event, notes: Notes) -> list[str]:
    """The command lines of a run of equal dumps, one per direction."""
    shape = event.shape
    transfers = [t for t in shape.transfers(event.dump) if t.bytes]
    _say(shape, transfers, notes)
    commands = []
    for direction in (Direction.READ, Direction.WRITE):
        same_direction = [t for t in transfers if t.direction is direction]
        if same_direction:
            main = max(same_direction, key=lambda t: t.bytes)
            rest = sum(t.bytes for t in same_direction if t is not main)
            if rest:
                share = 100 * rest / (rest + main.bytes)
                notes.lost(
                    f"{shape.name}: IOR has one transfer size; {share:.2g} % of the bytes are left out"
                )
            commands.append(_command(event, main, notes))
    return commands


def _command(event: Event, transfer: Transfer, notes: Notes) -> str:
    shape = event.shape
    size = -(-transfer.size // WORD) * WORD
    if size != transfer.size:
        notes.say(f"{shape.name}: transfers are rounded up to multiples of {WORD} bytes")
    block, segments = _block(transfer, size)
    words = [*_hints(shape), "mpiexec", "-n", str(transfer.ranks), "ior", "-a", APIS[shape.family.interface]]
    words += ["-w" if transfer.direction is Direction.WRITE else "-r", "-k"]
    words += ["-t", str(size), "-b", str(block), "-s", str(segments)]
    words += ["-F"] if is_private(shape) else []
    words += ["-c"] if transfer.collective and not is_private(shape) else []
    words += ["-z"] if transfer.pattern in AT_RANDOM else []
    content = shape.family.content_of(event.dump)
    words += ["-e"] if content.fsyncs or content.sync.writes > 1 else []
    words += ["-Y"] if content.sync.writes == 1 and transfer.direction is Direction.WRITE else []
    if content.sync.writes > 1:
        notes.say(
            f"{shape.name}: ior has no sync after every {content.sync.writes} writes, and syncs at the end"
        )
    words += _repeats(event, notes)
    words += _tunables(shape)
    number = event.dump if shape.family.lifetime is Lifetime.PER_DUMP else 0
    name = f"{shape.family.role.value}-{shape.family.number}.{number:06}"
    return " ".join([*words, "-o", name])


def _block(transfer: Transfer, size: int) -> tuple[int, int]:
    """(block size in bytes, segments): a block is contiguous data of one rank."""
    if transfer.pattern is Pattern.INTERLEAVED:
        return size, transfer.count * transfer.segments
    return size * transfer.count, transfer.segments


def _repeats(event: Event, notes: Notes) -> list[str]:
    """Options for equal dumps as repetitions, each into a file of its own where the lifetime is per-dump."""
    if event.count == 1:
        return ["-E"] if event.shape.family.lifetime is not Lifetime.PER_DUMP else []
    words = ["-i", str(event.count)]
    if event.shape.family.lifetime is Lifetime.PER_DUMP:
        words.append("-m")
    else:
        words.append("-E")
    delay = round(event.every)
    if delay != event.every:
        notes.say(
            f"{event.shape.name}: IOR waits whole seconds, {delay} s instead of {_seconds(event.every)} s"
        )
    return [*words, "-d", str(delay)] if delay else words


def _tunables(shape: Shape) -> list[str]:
    """Options of the API, as in IOR from version 3.3 on."""
    tunable, api = shape.family.tunable, APIS[shape.family.interface]
    words = []
    if tunable.alignment and api == "HDF5":
        words.append(f"--hdf5.setAlignment={tunable.alignment}")
    if shape.family.direct:
        words.append("--posix.odirect")
    if api == "POSIX" and tunable.stripe_count is not None:
        words.append(f"--posix.lustre.stripecount={tunable.stripe_count}")
    if api == "POSIX" and tunable.stripe_size is not None:
        words.append(f"--posix.lustre.stripesize={tunable.stripe_size}")
    return words


def _hints(shape: Shape) -> list[str]:
    """MPI-IO hints, which IOR takes from the environment."""
    if APIS[shape.family.interface] == "POSIX":
        return []
    tunable = shape.family.tunable
    switches = {True: "enable", False: "disable", None: None}
    hints = {
        "striping_factor": tunable.stripe_count,
        "striping_unit": tunable.stripe_size,
        "cb_nodes": tunable.cb_nodes,
        "cb_buffer_size": tunable.cb_buffer_size,
        "romio_cb_write": switches[tunable.collective_buffering],
        "romio_ds_write": switches[tunable.data_sieving],
    }
    return [f"IOR_HINT__MPI__{name}={value}" for name, value in hints.items() if value is not None]


def _say(shape: Shape, transfers: list[Transfer], notes: Notes) -> None:
    """Note what IOR cannot express."""
    family, sharing = shape.family, shape.family.sharing
    say_data_set(shape, "IOR", notes)
    if family.interface in (Interface.STDIO, Interface.TYPHONIO, Interface.ADIOS2):
        notes.lost(f"{shape.name}: IOR has no {family.interface.value}; it is {APIS[family.interface]}")
    if sharing.mode is SharingMode.GROUPS and not is_private(shape):
        notes.lost(f"{shape.name}: {sharing.files} files of groups of ranks become one shared file")
    if sharing.mode is SharingMode.ROOT and sharing.gather:
        notes.say(f"{shape.name}: the data are not sent to the writing rank first")
    if family.lifetime is Lifetime.OVERWRITTEN and family.schedule.dumps > 1:
        notes.say(f"{shape.name}: IOR opens the file anew at each dump")
    if family.lifetime is Lifetime.APPENDED:
        notes.lost(f"{shape.name}: IOR writes an appended file from its start at each dump")
    if family.schedule.computes_within:
        notes.say(f"{shape.name}: the compute time between operations of a dump is left out")
    if shape.mesh is not None or family.content_of(0).arrays or family.content_of(0).fit:
        notes.say(f"{shape.name}: datasets become segments of one size, without the library's metadata")
    for pattern, loss in (
        (Pattern.STRIDED, "holes between operations are left out"),
        (Pattern.SAME, "operations at one place become contiguous"),
        (Pattern.REPLICATED, "each rank has a part of its own, not all of the file"),
    ):
        if any(t.pattern is pattern for t in transfers):
            notes.lost(f"{shape.name}: {loss}")
    regions = any(t.pattern is Pattern.RANDOM and t.ranks > 1 for t in transfers)
    if regions and not is_private(shape) and family.content_of(0).dataset is None:
        notes.say(f"{shape.name}: the random order is over the whole file, not over each rank's region")
    large = [t for t in transfers if t.size > 2**31 - WORD]
    if large:
        notes.say(
            f"{shape.name}: a transfer has {format_size(large[0].size)}; some MPI libraries stop at 2 GiB"
        )
