"""The workload in words: sentences on what each family does."""

from __future__ import annotations

import statistics
from itertools import pairwise

from workalike.compare.side import SideDump, SideFamily
from workalike.text import plural, seconds_text, size_text
from workalike.workload import phrases, units
from workalike.workload.model import (
    ArrayAccess,
    Arrays,
    Assumption,
    Content,
    Direction,
    Family,
    Interface,
    Lifetime,
    Reason,
    Role,
    SharingMode,
    Stream,
    Turns,
    Workload,
)

EQUAL = 0.005  # sizes and times within half a per cent count as equal
NOUNS = {
    Role.CHECKPOINT: "checkpoint",
    Role.VISUALIZATION: "visualization state",
    Role.RESTART: "restart",
    Role.INPUT: "input load",
    Role.SCRATCH: "scratch dump",
    Role.OUTPUT: "output dump",
    Role.LOG: "log dump",
    Role.OTHER: "dump",
}
LIBRARIES = {
    Interface.POSIX: "POSIX calls",
    Interface.STDIO: "C streams (STDIO)",
    Interface.MPIIO: "MPI-IO",
    Interface.HDF5: "HDF5",
    Interface.TYPHONIO: "TyphonIO",
    Interface.PNETCDF: "PnetCDF",
    Interface.ADIOS2: "ADIOS2",
}
ASSUMPTIONS = {
    Assumption.PLACEMENT: "the offsets of operations follow from counters, not from a trace",
    Assumption.RANK_SHARES: "how much each rank moved is not in a record reduced over all ranks",
    Assumption.SIZES: "sizes other than the four most frequent follow from the size histogram",
    Assumption.STATES: "the number of states in one long-lived file",
    Assumption.STATE_SIZES: "the bytes of each state",
    Assumption.SCHEDULE: "when dumps happen: evenly spread, or as other files show it",
    Assumption.ROLE: "the purpose of the files",
    Assumption.DATASET_SHAPE: "the shape of datasets",
    Assumption.ORDER: "the order of access streams in a dump",
    Assumption.BATCH: "the number of samples in a batch",
    Assumption.SYNC_PLACE: "when in a dump files are synced",
    Assumption.LATE_RANKS: "which ranks are late at the later dumps: at more of them than a workload can say",
    Assumption.DELETIONS: "when files are deleted: a log has only how often",
    Assumption.HOLES: "whether bytes that are read, but that no dump wrote, are holes or were there before the run",
    Assumption.LIBRARY: "what the library does below its calls, since it was not performed here to see",
    Assumption.DECK: "taken from another workload's input deck",
}
REASONS = {
    Reason.PARTIAL_MODULE: "the instrument ran out of memory and stopped recording new files",
    Reason.UNSUPPORTED_MODULE: "recorded by a module for which there is no backend",
    Reason.MISSING_RANKS: "of ranks that the log lacks, since the job was killed",
    Reason.UNKNOWN_COUNTERS: "of records whose counters are not measured, or impossible",
    Reason.SIEVING: "read or written by the MPI library for data sieving, not asked for by the application",
    Reason.LIBRARY_METADATA: "written by the library to describe its data",
    Reason.FILL_VALUES: "written by the library to fill datasets before the data are written",
    Reason.WHOLE_CHUNKS: "read by the library, which reads whole chunks, and again what its cache could not keep",
    Reason.NOISE: "files that are not the application's data",
    Reason.PROGRAM_START: "files of the loader, the interpreter, the C library and MPI, and standard streams",
    Reason.NEGLIGIBLE: "files whose bytes, calls and time are all small",
    Reason.MMAP: "moved through memory mappings; a log only counts the mappings",
}


def overview(workload: Workload, families: list[SideFamily]) -> str:
    """What the whole run does: its time, ranks and bytes by role, in one sentence."""
    moved = {family.name: sum(d.moved for d in family.dumps) for family in families}
    total = sum(moved.values())
    where = plural(workload.ranks, "rank") + (
        f" on {plural(workload.nodes, 'node')}" if workload.nodes else ""
    )
    subject = (
        f"ran for {seconds_text(workload.runtime)} on {where}" if workload.runtime else f"runs on {where}"
    )
    text = f"The application {subject} and moved {size_text(total)}"
    by_role: dict[Role, int] = {}
    for family in families:
        by_role[family.role] = by_role.get(family.role, 0) + moved[family.name]
    if len(by_role) < 2 or not total:
        return text + "."
    ordered = sorted(by_role.items(), key=lambda item: -item[1])
    return text + ": " + listed([f"{size_text(size)} as {NOUNS[role]}s" for role, size in ordered]) + "."


def listed(parts: list[str]) -> str:
    """`a, b and c`."""
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1] if parts else ""


def family_sentences(family: Family, side: SideFamily, ranks: int) -> list[str]:
    """What one family does: its amount, sharing, content, schedule and duration."""
    return [
        sentence
        for sentence in (
            _amount(side),
            _sharing(family, ranks),
            _content(family, side, ranks),
            _schedule(side.dumps),
            _duration(side.dumps),
        )
        if sentence
    ]


def _amount(side: SideFamily) -> str:
    sizes = [d.moved for d in side.dumps]
    if not sizes:
        return ""
    text = plural(len(sizes), NOUNS[side.role])
    first, last, least, most = sizes[0], sizes[-1], min(sizes), max(sizes)
    if len(sizes) == 1:
        text += f" of {size_text(first)}"
    elif most - least <= EQUAL * most:
        text += f" of {size_text(sizes[0])} each, {size_text(sum(sizes))} in all"
    else:
        grows = sum(b >= a for a, b in pairwise(sizes)) >= 0.8 * (len(sizes) - 1)
        if grows and last > first:
            text += f", growing from {size_text(first)} to {size_text(last)}"
        else:
            text += f" of {size_text(least)} to {size_text(most)}"
        text += f", {size_text(sum(sizes))} in all"
    return text + _directions(side.dumps) + "."


def _directions(dumps: list[SideDump]) -> str:
    written, read = sum(d.bytes_written for d in dumps), sum(d.bytes_read for d in dumps)
    if written and read:
        return f" ({size_text(written)} written, {size_text(read)} read)"
    return " (read)" if read else ""


def _sharing(family: Family, ranks: int) -> str:
    members = family.members(ranks)
    all_ranks = f"all {ranks:,} ranks" if ranks > 1 else "the only rank"
    mode = family.sharing.mode
    dataset = family.all_contents()[0].dataset
    if dataset is not None:
        subject = all_ranks if members == ranks else f"{members:,} of {ranks:,} ranks"
        files = f"{subject} read {plural(dataset.files, 'file')}"
        return f"{files[0].upper()}{files[1:]}, through {LIBRARIES[family.interface]}."
    if mode is SharingMode.PER_RANK:
        subject = "every rank has a file of its own" if ranks > 1 else "the only rank has a file"
    elif mode is SharingMode.GROUPS:
        subject = f"{all_ranks} share {plural(family.sharing.files, 'file')}"
        subject += ", one rank of a file after the other" if family.sharing.turns is Turns.BATON else ""
    elif mode is SharingMode.ROOT:
        rank = family.sharing.ranks[0][0] if family.sharing.ranks else 0
        subject = f"rank {rank} alone has one file" if ranks > 1 else "the only rank has one file"
    elif members < ranks:
        subject = f"{members:,} of {ranks:,} ranks share one file"
    else:
        subject = f"{all_ranks} share one file" if ranks > 1 else "the only rank has one file"
    files = {
        Lifetime.PER_DUMP: ", a new one for every dump" if family.schedule.dumps > 1 else "",
        Lifetime.APPENDED: ", held open and appended to",
        Lifetime.OVERWRITTEN: ", held open and overwritten by every dump",
        Lifetime.REUSED: ", opened anew for every dump",
    }[family.lifetime]
    return f"{subject[0].upper()}{subject[1:]}{files}, through {LIBRARIES[family.interface]}."


def _content(family: Family, side: SideFamily, ranks: int) -> str:
    sizes = [d.moved for d in side.dumps]
    typical = sizes.index(sorted(sizes)[len(sizes) // 2]) if sizes else 0
    content = family.content_of(min(typical, family.schedule.dumps - 1))
    if content.fit is not None:
        return f"A dump is {plural(content.fit.datasets, 'equal dataset')}, sized to give its bytes."
    if content.mesh is not None:
        return f"A dump is a {phrases.mesh_words(content.mesh, family.members(ranks))}."
    if content.dataset is not None:
        return f"An epoch reads {'; '.join(phrases.dataset_words(content.dataset, family.members(ranks)))}."
    if content.arrays:
        return _arrays(content)
    if content.table is not None:
        return f"A dump is {phrases.table_words(content.table)}."
    return _streams(content, family.members(ranks), len(side.dumps))


def _streams(content: Content, members: int, dumps: int) -> str:
    weights = [(_stream_bytes(s, members), s) for s in content.streams]
    weights = [(w, s) for w, s in weights if w]
    if not weights:
        return ""
    weight, stream = max(weights, key=lambda pair: pair[0])
    n = members if stream.ranks is None else units.count_ranks(stream.ranks)
    count = content.passes * stream.repeat * sum(e.total(n) for e in stream.sizes)
    sizes = [e.size for e in stream.sizes if e.total(n)]
    operation = f"{'collective ' if stream.collective else ''}{stream.direction.value}"
    text = f"{plural(count, operation)} of {_spread(sizes)}, {_pattern(stream, n)}"
    share = weight / sum(w for w, _ in weights)
    dump = "A typical dump" if dumps > 1 else "The dump"
    if len(weights) == 1:
        return f"{dump} is {text}."
    weight_text = "nearly all" if share >= 0.995 else f"{100 * share:.0f} %"
    streams = plural(len(weights), "access stream")
    return f"{dump} has {streams}; the heaviest ({weight_text} of the bytes) is {text}."


def _stream_bytes(stream: Stream, members: int) -> int:
    n = members if stream.ranks is None else units.count_ranks(stream.ranks)
    return stream.repeat * sum(e.total(n) * e.size for e in stream.sizes)


def _spread(sizes: list[int]) -> str:
    least, most = size_text(min(sizes)), size_text(max(sizes))
    return least if least == most else f"{least} to {most}"


def _pattern(stream: Stream, ranks: int) -> str:
    word = stream.pattern.value
    if ranks == 1:
        return {
            "contiguous": "one after the other",
            "interleaved": "one after the other",
            "random": "in random order",
            "shuffled": "in random order",
        }.get(word, word)
    return {
        "contiguous": "each rank in a region of its own",
        "interleaved": "interleaved over the ranks",
        "strided": "strided, with holes between them",
        "random": "each rank in random order in a region of its own",
        "shuffled": "in random order over the whole region",
        "same": "all in the same place",
        "replicated": "the same region by every rank",
    }[word]


def _arrays(content: Content) -> str:
    accessed = [
        array for array in content.arrays if array.access
    ]  # the others are of other dumps of the file
    heaviest = max(accessed, key=lambda a: a.datasets * a.element * _product(a.dims))
    dims = " by ".join(f"{d:,}" for d in heaviest.dims)
    access: ArrayAccess = heaviest.access[0]
    slabs = sum(s.count for s in access.slabs)
    text = f"A dump has {plural(sum(a.datasets for a in content.arrays), 'dataset')}"
    text += f" of {dims} elements" if len(content.arrays) == 1 else f", the largest of {dims} elements"
    verb = "written" if access.direction is Direction.WRITE else "read"
    manner = "collectively " if access.collective else ""
    return f"{text}, {verb} {manner}in {plural(slabs, 'hyperslab')}{_chunked(heaviest)}."


def _chunked(arrays: Arrays) -> str:
    return " of a chunked layout" if arrays.chunk else ""


def _product(values: list[int]) -> int:
    out = 1
    for value in values:
        out *= value
    return out


def _schedule(dumps: list[SideDump]) -> str:
    starts = sorted(d.start_s for d in dumps)
    if not starts:
        return ""
    if len(starts) == 1:
        return f"It happens {_at(starts[0])}."
    gaps = [b - a for a, b in pairwise(starts)]
    typical = statistics.median(gaps)
    if max(gaps) == 0:
        return f"They all start {_at(starts[0])}."
    if max(gaps) - min(gaps) <= EQUAL * max(gaps):
        return f"They come every {seconds_text(typical)}, the first {_at(starts[0])}."
    return (
        f"They come between {seconds_text(starts[0])} and {seconds_text(starts[-1])} into the run, "
        f"{seconds_text(min(gaps))} to {seconds_text(max(gaps))} apart, typically {seconds_text(typical)}."
    )


def _at(start: float) -> str:
    return f"{seconds_text(start)} into the run" if start else "at the start of the run"


def _duration(dumps: list[SideDump]) -> str:
    lengths = sorted(d.open_s for d in dumps if d.open_s)
    if not lengths:
        return ""
    least, most = seconds_text(lengths[0]), seconds_text(lengths[-1])
    if least == most:
        what = "it" if len(lengths) == 1 else "each"
        return f"In the original, {what} took {least} from first open to last close."
    return f"In the original, each took {least} to {most} from first open to last close."
