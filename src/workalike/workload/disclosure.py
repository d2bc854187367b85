"""What a workload file discloses, field by field in words, for a security officer to read and sign.

Every field of a file has a line here, and so has every list. `fixed` fields are the pattern; a tender lets a bidder
change the `tunable` ones (hints, layout, alignment).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workalike.text import plural
from workalike.workload import phrases, units
from workalike.workload.content import CALLS, BufferedStream, entry_texts
from workalike.workload.family import Folders, Rehearsed
from workalike.workload.model import (
    Content,
    Direction,
    Family,
    Processes,
    Schedule,
    Stream,
    Uncovered,
    Window,
    Workload,
)

Marking = Literal["fixed", "tunable"]
FEW = 4  # lists of at most so many values are shown in full


@dataclass(frozen=True)
class Disclosure:
    """One fact that the file discloses.

    Attributes:
        place: place in the file (`families[0].schedule`).
        field: name of the field there.
        value: its value, or the range of its values.
        tells: what a reader learns from it.
        marking: `fixed` or `tunable`.
    """

    place: str
    field: str
    value: str
    tells: str
    marking: Marking = "fixed"

    def text(self) -> str:
        """The disclosure as one line."""
        where = f"{self.place}.{self.field}" if self.place else self.field
        mark = " [tunable]" if self.marking == "tunable" else ""
        return f"{where}{mark}: {self.value} - {self.tells}"

    def as_dict(self) -> dict[str, str]:
        """The disclosure for --json."""
        return {
            "place": self.place,
            "field": self.field,
            "value": self.value,
            "tells": self.tells,
            "marking": self.marking,
        }


def disclose(workload: Workload) -> list[Disclosure]:
    """All that the workload's file discloses, in the order of the file."""
    out = [
        Disclosure("", "privacy", workload.privacy.value, phrases.PRIVACY_WORDS[workload.privacy]),
        Disclosure("", "ranks", f"{workload.ranks}", "how many processes the job had"),
    ]
    if workload.nodes is not None:
        out.append(Disclosure("", "nodes", f"{workload.nodes}", "on how many nodes it ran"))
    if workload.runtime:
        out.append(
            Disclosure("", "runtime", units.format_time(workload.runtime), "how long it ran, but not when")
        )
    if workload.compute is not None:
        value = phrases.compute_words(workload.compute)
        out.append(Disclosure("", "compute", value, "what a replica computes between dumps"))
    if workload.cpu_share is not None:
        tells = "how much of the time its processes computed, or waited for a core"
        out.append(Disclosure("", "cpu_share", f"{workload.cpu_share:g}", tells))
    out += _processes(workload.processes)
    if workload.compressibility:
        value = f"{workload.compressibility:g}"
        out.append(Disclosure("", "compressibility", value, "how far the data of compressed datasets shrink"))
    if workload.operations is not None:
        tells = (
            "rank, direction, offset and length of each operation, in their order: numbers and nothing else"
        )
        out.append(
            Disclosure(
                "", "operations", plural(workload.operations.rows, "row") + " in a file beside it", tells
            )
        )
    for index, family in enumerate(workload.families):
        out += _Family(family, f"families[{index}]", workload.ranks).lines()
    out += [_uncovered(part, i) for i, part in enumerate(workload.uncovered)]
    if workload.coverage is not None:
        shares = (workload.coverage.bytes, workload.coverage.calls, workload.coverage.seconds)
        value = ", ".join(f"{share:.3g} %" for share in shares)
        out.append(Disclosure("", "coverage", value, "the shares of bytes, calls and I/O time that it has"))
    return out


def _uncovered(part: Uncovered, index: int) -> Disclosure:
    value = f"{part.reason.value}, {units.format_size(part.bytes)}, {plural(part.files, 'file')}"
    if part.calls:
        value += f", {plural(part.calls, 'call')}, {units.format_time(part.seconds)}"
    return Disclosure("", f"uncovered[{index}]", value, f"left out: {phrases.REASON_WORDS[part.reason]}")


def _times(values: Sequence[float]) -> str:
    shown = [units.format_time(v) for v in values]
    if len(shown) <= FEW:
        return ", ".join(shown)
    return f"{len(shown)} values from {units.format_time(min(values))} to {units.format_time(max(values))}"


def _listed(value: float | list[float]) -> list[float]:
    return value if isinstance(value, list) else [value]


def _window(place: str, window: Window) -> Iterator[Disclosure]:
    """When in a dump its operations of one direction are."""
    for field, tells in (
        ("first", "when in a dump the first of these operations began"),
        ("last", "when in a dump the last of these operations ended"),
        (
            "busy",
            "how long a rank was in these operations, which with the bytes gives the speed of the storage",
        ),
    ):
        value = getattr(window, field)
        if value is not None and field in window.model_fields_set:
            yield Disclosure(place, field, _times(_listed(value)), tells)
    if window.skew:
        tells = "which ranks begin later than others, and by how much"
        yield Disclosure(place, "skew", _times([late.delay for late in window.skew]), tells)


def _processes(groups: Sequence[Processes]) -> Iterator[Disclosure]:
    if not groups:
        return
    ranks = [units.format_ranks(group.ranks) for group in groups]
    named = ", ".join(ranks) if len(ranks) <= FEW else f"{len(ranks)} groups"
    yield Disclosure("processes", "ranks", named, "which processes began or ended within the run")
    yield Disclosure("processes", "start", _times([group.start for group in groups]), "when they began")
    ends = [group.end for group in groups if group.end is not None]
    if ends:
        yield Disclosure("processes", "end", _times(ends), "when they ended")


def _sizes(values: Sequence[int]) -> str:
    if len(values) <= FEW:
        return ", ".join(units.format_size(v) for v in values)
    return f"{len(values)} values from {units.format_size(min(values))} to {units.format_size(max(values))}"


class _Family:
    """The lines of one family."""

    def __init__(self, family: Family, place: str, ranks: int) -> None:
        self.family = family
        self.place = place
        self.ranks = ranks

    def lines(self) -> Iterator[Disclosure]:
        yield from self._kind()
        yield from self._schedule(self.family.schedule)
        yield from self._bytes()
        for path, content in self._contents():
            yield from self._content(path, content)
        family = self.family
        if family.use is not None:
            yield self._line("use", plural(len(family.use), "value"), "which dumps are alike")
        if family.assumed:
            words = ", ".join(map(str, family.assumed))
            yield self._line("assumed", words, "what was assumed, not measured")
        for name, value in family.tunable.model_dump(mode="json", exclude_none=True).items():
            yield Disclosure(
                f"{self.place}.tunable",
                name,
                f"{value}",
                "a setting, in a workload from a log the original's; it may be changed",
                "tunable",
            )

    def _line(self, field: str, value: str, tells: str) -> Disclosure:
        return Disclosure(self.place, field, value, tells)

    def _kind(self) -> Iterator[Disclosure]:
        family, sharing = self.family, self.family.sharing
        name = phrases.name_of(family)
        yield self._line("role", name, "the purpose of these files, and how many families have it")
        yield self._line("interface", family.interface.value, "the library that the application calls")
        yield self._line("level", family.counted_at.value, "where bytes and operations were counted")
        members = "" if sharing.ranks is None else f", ranks {units.format_ranks(sharing.ranks)[:60]}"
        tells = phrases.sharing_words(sharing, self.ranks)
        yield self._line(
            "sharing", f"{sharing.mode.value}{members}", f"which ranks write into which file: {tells}"
        )
        lifetime = phrases.LIFETIME_WORDS[family.lifetime]
        yield self._line("lifetime", family.lifetime.value, f"whether dumps share a file: {lifetime}")
        for field, tells in (
            ("keep", "how many files are kept"),
            ("rename", "files are written under another name first"),
            ("backup", "the file before is renamed, as a backup"),
            ("reader", "which rank reads a file back"),
            ("shift", "how many places further the rank is whose file is read"),
            ("truncate", "whether each dump empties the file first"),
            ("removed", "whether files are deleted after their last dump"),
            ("sparse", "whether bytes are read that nobody wrote"),
            ("drop_caches", "whether caches are dropped before reading"),
            ("direct", "whether files are opened past the page cache"),
            ("rehearsed", "versions of libraries of the machine that characterized it"),
            ("directory", "a word of its author for where the files lie"),
            ("folders", "how many files lie in a folder, and whether ranks share it"),
        ):
            value = getattr(family, field)
            if field in family.model_fields_set and value != type(family).model_fields[field].default:
                yield self._line(field, _shown(value), tells)

    def _schedule(self, schedule: Schedule) -> Iterator[Disclosure]:
        place = f"{self.place}.schedule"
        many = plural(schedule.dumps, "dump")
        tells_of_field = {
            "start": f"{many}, and when each began, in seconds of the run",
            "first": "when the first dump began, in seconds of the run",
            "every": f"{many}, and the time between them",
            "gaps": f"{many}, and the time between them",
        }
        for field, tells in tells_of_field.items():
            value = getattr(schedule, field)
            if value is not None:
                values = value if isinstance(value, list) else [value]
                yield Disclosure(place, field, _times(values), tells)
        if schedule.count is not None:
            yield Disclosure(place, "count", f"{schedule.count}", "how many dumps there were")
        if any(schedule.lengths()):
            tells = "how long a dump took, which with its bytes gives the speed of the original storage"
            yield Disclosure(place, "duration", _times(schedule.lengths()), tells)
        if any(schedule.compute_times()):
            tells = "how long the ranks computed between the operations of a dump"
            yield Disclosure(place, "compute_time", _times(schedule.compute_times()), tells)
        for direction in Direction:
            window = schedule.window(direction)
            if window is not None:
                yield from _window(f"{place}.{direction.value}s", window)
        if schedule.metadata is not None:
            tells = "how long a rank was in opens, closes and syncs of a dump, which shows the speed of the storage"
            yield Disclosure(place, "metadata", _times(_listed(schedule.metadata)), tells)
        if schedule.barrier:
            yield Disclosure(place, "barrier", "true", "that the ranks wait for each other before a dump")

    def _bytes(self) -> Iterator[Disclosure]:
        family = self.family
        if family.sizes is not None:
            values = family.sizes if isinstance(family.sizes, list) else [family.sizes]
            yield self._line(
                "sizes", _sizes(values), "the bytes of a dump, which show the size of the problem"
            )
        if family.growth is not None:
            low, high = min(family.growth, default=1), max(family.growth, default=1)
            value = f"{plural(len(family.growth), 'factor')} from {low:.6g} to {high:.6g}"
            yield self._line("growth", value, "how the problem grows over the run")
        for direction in Direction:
            moved = sum(phrases.dump_bytes(family, self.ranks, direction))
            if moved:
                word = "written" if direction is Direction.WRITE else "read"
                value = f"{units.format_size(moved)} {word}"
                yield self._line("(all dumps)", value, "follows from the fields above and below")

    def _contents(self) -> Iterator[tuple[str, list[Content]]]:
        """Contents grouped by shape, because a file may have thousands that differ only in numbers."""
        family = self.family
        if family.content is not None:
            yield f"{self.place}.content", [family.content]
            return
        groups: dict[tuple[Any, ...], list[tuple[int, Content]]] = {}
        for index, content in enumerate(family.contents):
            groups.setdefault(_shape(content), []).append((index, content))
        for group in groups.values():
            numbers = units.format_ranks(units.ranges_of([index for index, _ in group]))
            yield f"{self.place}.contents[{numbers}]", [content for _, content in group]

    def _content(self, place: str, contents: list[Content]) -> Iterator[Disclosure]:
        first = contents[0]
        for field in CALLS:
            found = [getattr(content, field) for content in contents]
            counts = [count for count in found if count != "each"]
            if len(counts) < len(found):
                yield Disclosure(
                    place, field, "each", f"that each operation has its own call among the {field}"
                )
            if any(counts):
                value = phrases.spread(counts, lambda n: f"{n:.0f}")
                yield Disclosure(place, field, value, f"how many {field} a dump has")
        if any(content.reopen for content in contents):
            yield Disclosure(
                place, "reopen", "true", "that files are opened again and again amid the operations"
            )
        for field, call in (("flush", "flush"), ("sync", "fsync")):
            amid = dict.fromkeys(
                getattr(content, field).text() for content in contents if getattr(content, field)
            )
            if amid:
                tells = f"after how many writes there is {'an' if call == 'fsync' else 'a'} {call}"
                yield Disclosure(place, field, ", ".join(list(amid)[:FEW]), tells)
        if any(content.passes > 1 for content in contents):
            value = phrases.spread([content.passes for content in contents], lambda n: f"{n:.0f}")
            yield Disclosure(place, "passes", value, "how often a dump goes through its part of a file")
        for i in range(len(first.streams)):
            streams = [content.streams[i] for content in contents]
            yield from self._stream(f"{place}.streams[{i}]", streams)
        for i in range(len(first.buffered)):
            yield from self._buffered(f"{place}.buffered[{i}]", [content.buffered[i] for content in contents])
        if first.table is not None:
            many = f" (the first of {len(contents)})" if len(contents) > 1 else ""
            value = plural(first.table.count, "row") + many
            yield Disclosure(
                place, "table", value, "the operations of a dump: " + phrases.table_words(first.table)
            )
        for i, arrays in enumerate(first.arrays):
            tells = "number and extents of the datasets, from which the mesh may follow: "
            dims = " x ".join(map(str, arrays.dims))
            many = f" (the first of {len(contents)} alike)" if len(contents) > 1 else ""
            yield Disclosure(
                f"{place}.arrays[{i}]", "dims", dims + many, tells + phrases.arrays_words(arrays)
            )
        if first.fit is not None:
            tells = "how many variables a dump has: " + phrases.fit_words(first.fit)
            yield Disclosure(place, "fit", plural(first.fit.datasets, "dataset"), tells)
        if first.mesh is not None:
            tells = "what kind of mesh the application has, and how many variables on it: "
            words = phrases.mesh_words(first.mesh, self.family.members(self.ranks))
            yield Disclosure(place, "mesh", first.mesh.type.value, tells + words)
        if first.dataset is not None:
            tells = "how many files and samples the application reads, their size, their order and who reads them: "
            words = "; ".join(phrases.dataset_words(first.dataset, self.family.members(self.ranks)))
            yield Disclosure(place, "dataset", plural(first.dataset.files, "file"), tells + words)

    def _buffered(self, place: str, streams: list[BufferedStream]) -> Iterator[Disclosure]:
        yield from self._stream(place, list(streams))
        how = "fopen" if streams[0].by_name else "fdopen"
        yield Disclosure(place, "by_name", how, "that operations go through a stream of the C library")
        for field in ("seeks", "flushes"):
            counts = [getattr(stream, field) for stream in streams]
            if any(counts):
                value = phrases.spread(counts, lambda n: f"{n:.0f}")
                yield Disclosure(place, field, value, f"how many {field} the stream has")

    def _stream(self, place: str, streams: list[Stream]) -> Iterator[Disclosure]:
        first = streams[0]
        entries = [entry for stream in streams for entry in stream.sizes]
        counts = sorted({entry.count for entry in entries})
        numbers = f"{len(entries)} entries: " if len(entries) > FEW else ""
        shown = (
            ", ".join(entry_texts(entries))
            if not numbers
            else f"counts {counts[0]} to {counts[-1]}, sizes {_sizes([entry.size for entry in entries])}"
        )
        tells = f"the number of operations of each size: {phrases.stream_words(first, self.family.members(self.ranks))}"
        yield Disclosure(place, "sizes", numbers + shown, tells)
        if first.ranks is not None:
            value = units.format_ranks(first.ranks)
            yield Disclosure(
                place, "ranks", value[:80] + ("…" if len(value) > 80 else ""), "which ranks do it"
            )
        if first.base is not None or first.stride:
            value = f"base {units.format_size(first.base or 0)}, stride {units.format_size(first.stride)}"
            yield Disclosure(place, "base, stride", value, "their places in the file")
        if first.mixed or first.pieces > 1:
            value = f"mixed {str(first.mixed).lower()}, pieces {first.pieces}"
            yield Disclosure(
                place, "mixed, pieces", value, "how the operations alternate, and how they are cut"
            )


def _shape(content: Content) -> tuple[Any, ...]:
    """What contents that are disclosed together have in common."""
    streams = tuple(
        (s.direction, s.pattern, s.collective, s.nonblocking, str(s.ranks)) for s in content.all_streams
    )
    arrays = tuple(
        (len(a.dims), len(a.access), a.extendible, a.unlimited, a.fill_values) for a in content.arrays
    )
    buffered = tuple(s.by_name for s in content.buffered)
    kinds = (content.fit, content.mesh, content.table, content.dataset)
    return (streams, buffered, arrays, *(kind is not None for kind in kinds))


def _shown(value: object) -> str:
    """The value of a family's field in words."""
    if isinstance(value, Rehearsed):
        return phrases.libraries_words(value)
    return phrases.folders_words(value) if isinstance(value, Folders) else f"{value}"
