"""The parts of a workload in words, for the summary and the disclosure."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Callable, Sequence

from workalike.text import count_text, plural, seconds_text, size_text
from workalike.workload import units
from workalike.workload.content import BufferedStream, mesh_moves
from workalike.workload.family import Folders, Rehearsed
from workalike.workload.model import (
    Arrays,
    Assumption,
    Compute,
    Content,
    Dataset,
    Direction,
    Family,
    Fit,
    Lifetime,
    Mesh,
    Order,
    Pattern,
    Privacy,
    Processes,
    Reason,
    Rows,
    Schedule,
    Sharing,
    SharingMode,
    Split,
    Stream,
    Turns,
)
from workalike.workload.schedule import Skew

MOST_GROUPS = 6  # of processes, that are named
PATTERN_WORDS = {
    Pattern.CONTIGUOUS: "each rank in a region of its own",  # with one rank: "one after the other"
    Pattern.INTERLEAVED: "blocks of the ranks in turn",
    Pattern.STRIDED: "with holes between",
    Pattern.RANDOM: "in random order",
    Pattern.SHUFFLED: "in random order over all of it",
    Pattern.SAME: "all at the same place",
    Pattern.REPLICATED: "every rank all of it",
}
LIFETIME_WORDS = {
    Lifetime.PER_DUMP: "new for each dump",
    Lifetime.APPENDED: "held open and appended to",
    Lifetime.OVERWRITTEN: "held open and overwritten",
    Lifetime.REUSED: "opened anew each time",
}
ASSUMPTION_WORDS = {
    Assumption.PLACEMENT: "the places of operations in the file",
    Assumption.RANK_SHARES: "how much each rank moved",
    Assumption.SIZES: "rare sizes of operations",
    Assumption.STATES: "the number of dumps in the file",
    Assumption.STATE_SIZES: "the bytes of each dump in the file",
    Assumption.SCHEDULE: "when the dumps happen",
    Assumption.ROLE: "the role",
    Assumption.DATASET_SHAPE: "the datasets' shape",
    Assumption.ORDER: "the order of operations in a dump",
    Assumption.BATCH: "the number of samples in a batch",
    Assumption.SYNC_PLACE: "when a dump is synced",
    Assumption.LATE_RANKS: "which ranks are late at later dumps",
    Assumption.DELETIONS: "when files are deleted",
    Assumption.HOLES: "whether bytes that are read but not written are holes or older data",
    Assumption.LIBRARY: "what the library does below its calls",
    Assumption.DECK: "sizes or times borrowed from another run's input deck",
}
PRIVACY_WORDS = {
    Privacy.NAMES: "without names; all numbers are the application's",
    Privacy.ROUNDED: "without names; sizes and times have two digits",
    Privacy.SUMMARY: "without names; sizes are powers of two, times have one digit, and lists are means",
}
REASON_WORDS = {
    Reason.PARTIAL_MODULE: "the log is partial",
    Reason.UNSUPPORTED_MODULE: "a module that is not read",
    Reason.MISSING_RANKS: "ranks that are not in the log of a killed job",
    Reason.UNKNOWN_COUNTERS: "counters that are not measured or impossible",
    Reason.SIEVING: "added by data sieving",
    Reason.LIBRARY_METADATA: "a library's own metadata",
    Reason.FILL_VALUES: "a library's fill values",
    Reason.WHOLE_CHUNKS: "a library's whole chunks",
    Reason.NOISE: "files other than data: libraries, streams, temporary files",
    Reason.PROGRAM_START: "program start: libraries, standard streams, MPI's own files",
    Reason.NEGLIGIBLE: "small files: few bytes, few calls, little time",
    Reason.MMAP: "memory-mapped files",
}


COMPUTE_WORDS = {1: "memory", 2: "arithmetic", 3: "stencil"}


def compute_words(compute: Compute) -> str:
    """`4 units of arithmetic on every rank`."""
    return f"{plural(compute.units, 'unit')} of {COMPUTE_WORDS[compute.level]} on every rank"


def name_of(family: Family) -> str:
    """`checkpoint 1`."""
    return f"{family.role.value} {family.number}"


def spread(values: Sequence[float], text: Callable[[float], str]) -> str:
    """`a`, or `a to b`."""
    low, high = text(min(values)), text(max(values))
    return low if low == high else f"{low} to {high}"


def members_words(sharing: Sharing, ranks: int) -> str:
    """The ranks that take part in a family."""
    members = ranks if sharing.ranks is None else units.count_ranks(sharing.ranks)
    return "all ranks" if sharing.ranks is None else f"{count_text(members)} of {plural(ranks, 'rank')}"


def sharing_words(sharing: Sharing, ranks: int) -> str:
    """The number of files of a dump, and the ranks that write them."""
    who = members_words(sharing, ranks)
    if sharing.mode is SharingMode.PER_RANK:
        return f"a file for each of {who}"
    if sharing.mode is SharingMode.GROUPS:
        turns = (
            "its ranks one after the other" if sharing.turns is Turns.BATON else "its ranks at the same time"
        )
        return f"{who} in {plural(sharing.files, 'group')} with a file each, {turns}"
    if sharing.mode is SharingMode.ROOT:
        return "one file by one rank" + (", gathered from all ranks" if sharing.gather else "")
    return "one file" if ranks == 1 else f"one file shared by {who}"


def library_words(family: Family) -> str:
    """The interface, and the level at which its bytes are counted if that is another."""
    interface, level = family.interface.value, family.counted_at.value
    return interface if interface == level else f"{interface}, counted at {level}"


def folders_words(folders: Folders) -> str:
    """Where files lie that are spread over folders."""
    each = "" if folders.files is None else f"{plural(folders.files, 'file')} in each"
    whose = "each rank has its own" if folders.per_rank else ""
    return ", ".join(filter(None, (whose, each)))


def libraries_words(rehearsed: Rehearsed) -> str:
    """The libraries of a rehearsal with their versions."""
    known = {"HDF5": rehearsed.hdf5, "PnetCDF": rehearsed.pnetcdf}
    return " and ".join(f"{name} {version}" for name, version in known.items() if version)


def schedule_words(schedule: Schedule) -> str:
    """The first and the last start, and the intervals between dumps."""
    starts = schedule.starts()
    if len(starts) == 1:
        return f"at {seconds_text(starts[0])}"
    gaps = [b - a for a, b in itertools.pairwise(starts)]
    text = f"from {seconds_text(starts[0])} to {seconds_text(starts[-1])}"
    if max(gaps) - min(gaps) <= 0.01 * statistics.fmean(gaps):
        return f"{text}, every {seconds_text(statistics.fmean(gaps))}"
    return f"{text}, {spread(gaps, seconds_text)} apart (median {seconds_text(statistics.median(gaps))})"


def duration_words(schedule: Schedule) -> str | None:
    lengths = schedule.lengths()
    return f"each takes {spread(lengths, seconds_text)}" if max(lengths) > 0 else None


def window_words(schedule: Schedule) -> list[str]:
    """When in a dump its writes and reads are, a line for each direction."""
    out = []
    for direction in Direction:
        window = schedule.window(direction)
        if window is not None:
            spans = window.of_dumps(schedule.lengths())
            first, last, busy = (spread(values, seconds_text) for values in zip(*spans, strict=True))
            out.append(
                f"{direction.value}s begin {first} and end {last} after its start; {busy} inside calls"
            )
            if window.skew:
                out += _skew_lines(window.skew)
    return out


def _skew_lines(groups: Sequence[Skew]) -> list[str]:
    """How many ranks are late: in every dump, and in single ones."""
    out = []
    for dump in dict.fromkeys(group.dump for group in groups):
        own = [group for group in groups if group.dump == dump]
        named = [group.ranks for group in own if group.ranks is not None]
        every = len(named) < len(own)
        late = "all ranks" if every else plural(sum(map(units.count_ranks, named)), "rank")
        longest = seconds_text(max(group.delay for group in own))
        where = "every dump" if dump is None else f"dump {dump}"
        out.append(f"{late} begin later in {where}, by at most {longest}")
    return out


def dump_bytes(family: Family, ranks: int, direction: Direction) -> list[int]:
    """Bytes of each dump in one direction, as the plan will have them at full scale."""
    members = family.members(ranks)
    stated = family.dump_sizes()
    factors = family.factors()
    out = []
    for i in range(family.schedule.dumps):
        content = family.content_of(i)
        moved = {d: content.moved(members, d) for d in Direction}
        if stated is None and content.mesh is not None:
            moves = direction is content.mesh.direction
            out.append(mesh_moves(content.mesh, members, factors[i]) if moves else 0)
        elif stated is None:
            out.append(moved[direction])
        elif content.mesh is not None:
            out.append(stated[i] if direction is content.mesh.direction else 0)
        elif content.fit is not None or not sum(moved.values()):
            out.append(stated[i] if direction is Direction.WRITE else 0)
        else:
            out.append(stated[i] * moved[direction] // sum(moved.values()))
    return out


def growth_words(sizes: Sequence[int], event: str) -> str:
    """How the sizes of the dumps or loads (`event` is the word for one) change over the run."""
    moving = [size for size in sizes if size]
    how_many = f"in {len(moving)} of {len(sizes)}, " if len(moving) < len(sizes) else ""
    if len(set(moving)) == 1:
        return how_many + (f"each {size_text(moving[0])}" if len(moving) > 1 else size_text(moving[0]))
    text = f"{how_many}{spread(moving, size_text)} per {event}"
    first, last = moving[0], moving[-1]
    if abs(last - first) > 0.01 * first:
        return f"{text}, the last {last / first:.3g} times the first"
    return text


def stream_words(stream: Stream, members: int) -> str:
    """One access stream, of a family with `members` ranks, on one line."""
    sizes = [e.size for e in stream.sizes]
    ranks = members if stream.ranks is None else units.count_ranks(stream.ranks)
    count = stream.repeat * sum(e.total(ranks) for e in stream.sizes)
    who = "" if ranks == members else f" by {plural(ranks, 'rank')}"
    how = "collective" if stream.collective else "nonblocking" if stream.nonblocking else "independent"
    what = f"{plural(count, f'{how} {stream.direction.value}')} of {spread(sizes, size_text)}{who}"
    if stream.pattern is Pattern.CONTIGUOUS and ranks == 1:
        return what if count == 1 else f"{what}, one after the other"
    times = f", {stream.repeat} times over" if stream.repeat > 1 else ""
    return f"{what}, {PATTERN_WORDS[stream.pattern]}{times}"


def buffered_words(stream: BufferedStream, members: int) -> str:
    """A buffered stream on one line."""
    how = "a stream that opens the file" if stream.by_name else "a stream on the open descriptor"
    return f"{stream_words(stream, members)}, through {how}"


def arrays_words(arrays: Arrays) -> str:
    shape = " x ".join(map(str, arrays.dims))
    many = "a dataset" if arrays.datasets == 1 else f"{arrays.datasets} datasets"
    slabs = sum(s.count for a in arrays.access for s in a.slabs)
    grows = ", extended by each dump" if arrays.extendible else ""
    grows += f" in dimension {arrays.unlimited} (from 0)" if arrays.unlimited else ""
    grows += ", filled by the library first" if arrays.fill_values else ""
    elements = f"{shape} elements of {plural(arrays.element, 'byte')}"
    return f"{many} of {elements}{grows}, {plural(slabs, 'hyperslab')}"


def fit_words(fit: Fit) -> str:
    how = "collectively" if fit.collective else "independently"
    return f"{plural(fit.datasets, 'equal dataset')} that fill the dump's size, written {how}"


def mesh_words(mesh: Mesh, members: int) -> str:
    """A mesh on one line: its parts, its variables, and how it is moved."""
    parts = mesh.total_parts(members)
    kind = f"{mesh.dimensions}-D {mesh.type.value} mesh"
    size = ""
    if mesh.part_dims is not None:
        size = f" of {' x '.join(map(str, mesh.part_dims))} nodes"
    elif mesh.part_size is not None:
        size = f" of {mesh.part_size // 8} nodes"
    extra = f", {plural(mesh.materials, 'material')}" if mesh.materials else ""
    extra += f" ({100 * mesh.mixed:.3g} % of the cells mixed)" if mesh.mixed else ""
    extra += f", {plural(mesh.ghost, 'ghost layer')}" if mesh.ghost else ""
    how = "collectively" if mesh.collective else "independently"
    moved = "written" if mesh.direction is Direction.WRITE else "read"
    variables = plural(mesh.variable_count, "variable")
    return f"{kind}: {plural(parts, 'part')}{size} with {variables}{extra}, {moved} {how}"


ORDER_WORDS = {
    Order.SEQUENTIAL: "in sequence",
    Order.SHUFFLED: "shuffled once",
    Order.SHUFFLED_EACH_EPOCH: "shuffled anew in each epoch",
}


def dataset_words(dataset: Dataset, members: int) -> list[str]:
    """A data set on a few lines: its files and samples, their order, and who reads what."""
    spread = f" ± {size_text(dataset.deviation)}" if dataset.deviation else ""
    lines = [
        f"a data set of {plural(dataset.files, 'file')} with {plural(dataset.samples, 'sample')} of "
        f"{size_text(dataset.sample)}{spread} in each"
    ]
    if dataset.samples == 1:
        lines.append(f"files {ORDER_WORDS[dataset.order_of_files]}")
    elif dataset.order_of_files is dataset.order:
        lines.append(f"files, and samples in each, {ORDER_WORDS[dataset.order]}")
    else:
        files, samples = ORDER_WORDS[dataset.order_of_files], ORDER_WORDS[dataset.order]
        lines.append(f"files {files}, samples in each {samples}")
    lines.append(_reader_words(dataset, members))
    if dataset.transfer is not None:
        lines.append(f"at most {size_text(dataset.transfer)} in a call")
    if dataset.compute_time:
        ahead = f", {plural(dataset.prefetch, 'batch')} read ahead" if dataset.prefetch else ""
        ahead = ahead.replace("batchs", "batches")
        lines.append(
            f"{seconds_text(dataset.compute_time)} of compute time for each batch of "
            f"{plural(dataset.batch, 'sample')}{ahead}"
        )
    calls = [plural(getattr(dataset, f"{word}s"), word) for word in ("open", "stat", "seek")]
    calls = [text for text in calls if not text.startswith("0 ")]
    if calls != ["1 open"]:
        lines.append(f"{', '.join(calls)} for each file that a reader reads from")
    return lines


def _reader_words(dataset: Dataset, members: int) -> str:
    readers = dataset.readers_of(members)
    groups = ", other ranks in the next epoch" if readers < members else ""
    how = {
        Split.FILES: "that share out the files",
        Split.SAMPLES: f"that share out the samples, {dataset.batch} at a time",
        Split.NONE: "each reading everything",
    }[dataset.split]
    return f"{plural(readers, 'reader')} {how}{groups}" if readers > 1 else f"1 reader{groups}"


def call_words(content: Content) -> str:
    """The calls other than reads and writes, except those that do not occur."""
    amid_operations = " spread over the operations" if content.reopen else ""
    named = [plural(content.opens, "open") + amid_operations, plural(content.stats, "stat")]
    named.append("a seek before each operation" if content.seeks == "each" else plural(content.seeks, "seek"))
    named.append(plural(content.fsyncs, "fsync"))
    named.append(plural(content.flushes, "flush").replace("flushs", "flushes"))
    named.append(plural(content.maps, "map") + " into memory")
    named.append(plural(content.renames, "rename"))
    amid = ((content.flush, "flush"), (content.sync, "fsync"))
    named += [calls.words(word) for calls, word in amid if calls]
    return ", ".join(text for text in named if not text.startswith("0 "))


def table_words(rows: Rows) -> str:
    """The operations of a dump that a table lists."""
    parts = [
        f"{plural(rows.operations(direction), direction.value)} of {size_text(rows.moved(direction))}"
        for direction in Direction
        if rows.operations(direction)
    ]
    how = "collectively, " if rows.collective else ""
    how += "without waiting, " if rows.nonblocking else ""
    return f"{' and '.join(parts)} in all, {how}each at the place that the operation table says"


def content_words(content: Content, members: int) -> list[str]:
    """Each part of a content on a line of its own."""
    lines = [stream_words(s, members) for s in content.streams] + [arrays_words(a) for a in content.arrays]
    if content.table is not None:
        lines.append(table_words(content.table))
    lines += [buffered_words(s, members) for s in content.buffered]
    if content.passes > 1:
        lines.append(f"all of it {content.passes} times, over the same bytes of the file")
    if content.fit is not None:
        lines.append(fit_words(content.fit))
    if content.mesh is not None:
        lines.append(mesh_words(content.mesh, members))
    if content.dataset is not None:
        lines += dataset_words(content.dataset, members)
    return lines


def most_used(family: Family) -> tuple[Content, int]:
    """The content that most dumps have, and their number."""
    if family.content is not None:
        return family.content, family.schedule.dumps
    use = family.use if family.use is not None else range(len(family.contents))
    index, count = Counter(use).most_common(1)[0]
    return family.contents[index], count


def process_words(groups: Sequence[Processes], ranks: int) -> list[str]:
    """Which ranks live only a part of the run, and when."""
    partly = sum(ranks if group.ranks is None else units.count_ranks(group.ranks) for group in groups)
    lines = [f"{partly} of {plural(ranks, 'rank')} live only a part of the run:"]
    for group in groups[:MOST_GROUPS]:
        until = "on" if group.end is None else f"to {seconds_text(group.end)}"
        lines.append(f"    ranks {units.format_ranks(group.ranks)}: from {seconds_text(group.start)} {until}")
    if len(groups) > MOST_GROUPS:
        lines.append(f"    and {plural(len(groups) - MOST_GROUPS, 'more group')} of ranks")
    return lines
