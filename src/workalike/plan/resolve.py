"""From a workload to a plan: ranks, scale, clock and backends are decided, and nothing is expanded."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from pydantic import ValidationError

from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan import plan_schema as plan
from workalike.plan import ranks as rank_sets
from workalike.plan.arrays import scale_arrays
from workalike.plan.choices import TRAITS, backend_at
from workalike.plan.contents import (
    bytes_of_datasets,
    empties,
    extent_of,
    length_of,
    moves,
    rows_of_table,
    writes_first,
)
from workalike.plan.datasets import resolve_dataset
from workalike.plan.meshes import resolve_mesh
from workalike.plan.placing import place_after, place_streams
from workalike.plan.processes import scale_processes
from workalike.plan.scale import ScaleBy, fit_bytes, scale_count, scale_pairs
from workalike.plan.skew import skew_at
from workalike.plan.tables import Members, PlanTable, at_bytes, at_ranks
from workalike.plan.timing import timings
from workalike.plan.tunables import hdf5_of, hints_of
from workalike.plan.unwritten import reads_of_nothing, with_data_to_read
from workalike.workload import model as wl
from workalike.workload import units
from workalike.workload.words import HDF5_INTERFACES, STAYS_OPEN


def backend_of(family: wl.Family) -> plan.Backend:
    """The backend of a family: the library that its content is made for, or else the calls of its level."""
    own = TRAITS.get(family.interface.value)
    library = own if own is not None and own["library"] else None
    if library is not None and library["level"] is None:
        return library["name"]  # no calls of a level can stand for it
    if any(c.fit is not None or c.arrays for c in family.all_contents()):
        takes = library is not None and not library["only_meshes"]
        return library["name"] if library is not None and takes else backend_at(wl.Level.H5D)
    if any(c.mesh is not None for c in family.all_contents()) and family.interface in HDF5_INTERFACES:
        return family.interface.value
    return backend_at(family.counted_at)


@dataclass(frozen=True)
class Options:
    """The options that `plan`, `run` and `replicate` share (docs/reference/terms.md#shared-options)."""

    ranks: int | None = None
    scaling: Literal["strong", "weak"] = "strong"
    bytes_scale: Fraction = Fraction(1)
    scale_by: ScaleBy = "count"
    time_scale: float = 0.0
    clock: plan.Clock = "gap"
    backend: plan.Backend | None = None
    seed: int = 1
    gap_fill: plan.GapFill | Literal["auto"] = "auto"
    compressibility: float | None = None


def resolve(workload: wl.Workload, options: Options) -> plan.Plan:
    """The plan of a workload.

    Raises:
        WorkalikeError: NOTHING_TO_REPLICATE if the workload has no family; USAGE for impossible options, or for a scale
            at which numbers exceed 64 bits.
    """
    if not workload.families:
        raise WorkalikeError(
            ErrorKind.NOTHING_TO_REPLICATE,
            "the workload has no file family",
            hint="it describes a run without data I/O",
        )
    ranks = options.ranks or workload.ranks
    if not 1 <= ranks <= wl.MAX_RANKS:
        raise WorkalikeError(ErrorKind.USAGE, f"--ranks must lie between 1 and {wl.MAX_RANKS}")
    if options.bytes_scale <= 0:
        raise WorkalikeError(ErrorKind.USAGE, "--bytes-scale must be above 0")
    factor = options.bytes_scale * (Fraction(ranks, workload.ranks) if options.scaling == "weak" else 1)
    try:
        return _resolved(workload, ranks, factor, options)
    except (ValidationError, OverflowError) as error:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "at this scale, numbers of the plan would exceed its limits",
            place=_place_in(error),
            hint="lower --bytes-scale or --ranks",
        ) from error


def at_time_scale(resolved: plan.Plan, time_scale: float) -> plan.Plan:
    """A copy of a plan with another factor on all waiting."""
    scale = resolved.scale.model_copy(update={"time": time_scale})
    return resolved.model_copy(update={"time_scale": time_scale, "scale": scale})


def first_dumps(resolved: plan.Plan, most: int) -> plan.Plan:
    """A copy of a plan with only the first dumps of each family."""
    dumps = [dump.model_copy() for dump in resolved.dumps if dump.index < most]
    return with_data_to_read(resolved.model_copy(update={"dumps": dumps}))


def _place_in(error: ValidationError | OverflowError) -> str | None:
    """The part of the plan that was too large."""
    if not isinstance(error, ValidationError):
        return None
    first = error.errors(include_url=False, include_input=False)[0]
    return ".".join([error.title, *map(str, first["loc"])])


def _resolved(workload: wl.Workload, ranks: int, factor: Fraction, options: Options) -> plan.Plan:
    resolver = _Resolver(workload, ranks, factor, options)
    for number, family in enumerate(workload.families):
        resolver.add_family(number, family)
    return with_data_to_read(_plan_of(resolver, workload, ranks, factor, options))


def families_that_read_holes(workload: wl.Workload) -> set[int]:
    """The families, by their position, with a dump all of whose reads lie within its file, but not all in data."""
    resolver = _Resolver(workload, workload.ranks, Fraction(1), Options())
    for number, family in enumerate(workload.families):
        resolver.add_family(number, family)
    resolved = _plan_of(resolver, workload, workload.ranks, Fraction(1), Options())
    return {resolved.dumps[position].family for position, hole in reads_of_nothing(resolved) if hole}


def _compressibility(workload: wl.Workload, options: Options) -> float:
    """The user's, else the workload's."""
    return workload.compressibility if options.compressibility is None else options.compressibility


def _gap_fill(workload: wl.Workload, options: Options) -> plan.GapFill:
    """The user's; by default ranks compute for the share of the time that the original did, if that is known."""
    if options.gap_fill != "auto":
        return options.gap_fill
    return "busy" if workload.cpu_share is not None else "sleep"


def _plan_of(
    resolver: _Resolver, workload: wl.Workload, ranks: int, factor: Fraction, options: Options
) -> plan.Plan:
    resolved = plan.Plan(
        ranks=ranks,
        seed=options.seed,
        clock=options.clock,
        time_scale=options.time_scale,
        gap_fill=_gap_fill(workload, options),
        cpu_share=workload.cpu_share if options.gap_fill == "auto" else None,
        compute=_compute(workload.compute),
        processes=scale_processes(workload.processes, workload.ranks, ranks),
        payload=plan.PlanPayload(compressibility=_compressibility(workload, options)),
        scale=plan.PlanScale(
            ranks=ranks / workload.ranks,
            bytes=float(factor),
            time=options.time_scale,
            scaling=options.scaling,
        ),
        families=resolver.families,
        contents=resolver.contents,
        dumps=resolver.dumps_in_order(),
    )
    return resolver.table.finish(resolved)


class _Resolver:
    """Collects a plan's families, its distinct contents and its dumps."""

    def __init__(self, workload: wl.Workload, ranks: int, factor: Fraction, options: Options) -> None:
        self.workload = workload
        self.ranks = ranks
        self.factor = factor
        self.weak = Fraction(ranks, workload.ranks) if options.scaling == "weak" else Fraction(1)
        self.options = options
        self.families: list[plan.PlanFamily] = []
        self.contents: list[plan.PlanContent] = []
        self._content_ids: dict[str, int] = {}
        self._resolved: dict[tuple[int, int, int | None, bool, int, float], tuple[plan.PlanContent, int]] = {}
        self._number = 0  # index of the family that is being added
        self._sharings: list[plan.PlanSharing] = []
        self._factors: list[list[float]] = []
        self._dumps: list[plan.PlanDump] = []
        self.table = PlanTable()
        self._from_rows: dict[tuple[int, int], plan.PlanStream] = {}

    def add_family(self, number: int, family: wl.Family) -> None:
        sharing = self._sharing(family.sharing)
        self._number = number
        self._sharings.append(sharing)
        self._factors.append(family.factors())
        self.families.append(
            plan.PlanFamily(
                id=number,
                role=family.role,
                number=family.number,
                interface=family.interface,
                backend=self.options.backend or backend_of(family),
                level=family.counted_at,
                sharing=sharing,
                # Which bytes of a file that stays open a dump writes follows from the bases of the dumps.
                lifetime=wl.Lifetime.APPENDED if family.lifetime in STAYS_OPEN else family.lifetime,
                keep=family.keep,
                rename=family.rename,
                backup=family.backup or None,
                sparse=family.sparse or None,
                removed=family.removed or None,
                truncate=empties(family, self.options.backend, rank_sets.count(sharing.ranks, self.ranks)),
                reader=family.reader,
                shift=self._shift(family),
                drop_caches=family.drop_caches,
                hints=hints_of(family.tunable),
                hdf5=hdf5_of(family.tunable),
                typhonio=family.tunable.typhonio or wl.TyphonioPattern.FAITHFUL,
                aggregators=family.tunable.aggregators or 0,
                buffer_alignment=family.tunable.buffer_alignment,
                skew=skew_at(family.schedule, self.workload.ranks, self.ranks),
            )
        )
        members = rank_sets.count(sharing.ranks, self.ranks)
        sizes = family.dump_sizes()
        base = held = 0
        for index, timing in enumerate(timings(family.schedule)):
            one_file = family.lifetime is not wl.Lifetime.PER_DUMP
            content, content_id = self._known_content(
                family, index, sizes[index] if sizes else None, members, held if one_file else 0
            )
            self._dumps.append(
                plan.PlanDump(
                    family=number,
                    index=index,
                    file=0 if one_file else index,
                    content=content_id,
                    # The offsets of a table are those in the file.
                    base=base
                    if family.lifetime is wl.Lifetime.APPENDED and not rows_of_table(content)
                    else 0,
                    barrier=family.schedule.barrier,
                    prepare=self._must_exist(family, content, held if one_file else 0),
                    **timing.fields(family, content, members),
                )
            )
            held = max(held, self._span(family, content, wl.Direction.WRITE), bytes_of_datasets(content))
            base = max(base, held) if rows_of_table(content) else base + extent_of(content)

    def dumps_in_order(self) -> list[plan.PlanDump]:
        """The dumps in order of their start."""
        return sorted(self._dumps, key=lambda d: (d.start_s, d.end_s, d.family, d.index))

    def _sharing(self, sharing: wl.Sharing) -> plan.PlanSharing:
        old, new = self.workload.ranks, self.ranks
        ranks = rank_sets.scale_ranges(sharing.ranks, old, new)
        if sharing.mode is wl.SharingMode.ROOT and sharing.ranks:
            ranks = rank_sets.scale_single(sharing.ranks[0][0], old, new)
        files = sharing.files
        if sharing.mode is wl.SharingMode.GROUPS:
            if self.options.scaling == "weak":
                files = max(1, round(files * new / old))
            files = min(files, rank_sets.count(ranks, new))
        return plan.PlanSharing(
            mode=sharing.mode,
            ranks=ranks,
            files=files,
            turns=sharing.turns,
            gather=sharing.gather,
        )

    def _shift(self, family: wl.Family) -> int | None:
        """How far away the neighbour is: fewer members stand for as many as before."""
        if family.shift == 1:
            return None
        old, new = family.members(self.workload.ranks), rank_sets.count(self._sharings[-1].ranks, self.ranks)
        shift = family.shift if family.shift < new else max(1, family.shift * new // old)
        return shift if shift > 1 else None

    def _known_content(
        self, family: wl.Family, index: int, size: int | None, members: int, held: int
    ) -> tuple[plan.PlanContent, int]:
        """A dump's content and its number; equal contents are resolved and stored once.

        `size` is the dump's stated bytes; `held` the bytes that its file has from earlier dumps.
        """
        dump_key = (
            self._number,
            family.content_number(index),
            size,
            _held_open(family, index),
            held,
            self._factors[self._number][index],
        )
        if dump_key not in self._resolved:
            content = self._content(family, index, size, members, held)
            key = json.dumps(content.model_dump(mode="json"), sort_keys=True)
            if key not in self._content_ids:
                self._content_ids[key] = len(self.contents)
                self.contents.append(content)
            self._resolved[dump_key] = (content, self._content_ids[key])
        return self._resolved[dump_key]

    def _content(
        self, family: wl.Family, index: int, size: int | None, members: int, held: int
    ) -> plan.PlanContent:
        original = family.content_of(index)
        old_members = family.members(self.workload.ranks)
        by_rank = Fraction(members, old_members)
        if original.dataset is not None:
            dataset = resolve_dataset(
                original.dataset, old_members, members, self.factor, self.weak, self.options.scale_by
            )
            return plan.PlanContent(opens=0, dataset=dataset)
        content = plan.PlanContent(
            opens=scale_count(original.opens, by_rank)
            or (0 if _held_open(family, index) or original.only_stats else members),
            stats=scale_count(original.stats, by_rank),
            seeks=0 if original.seeks == "each" else scale_count(original.seeks, self.factor),
            fsyncs=scale_count(original.fsyncs, by_rank),
            flushes=scale_count(original.flushes, by_rank),
            seek_each=True if original.seeks == "each" else None,
            sync=_amid(original.sync),
            flush=_amid(original.flush),
        )
        if original.fit is not None:
            content.fit = plan.PlanFit(
                bytes=round((size or 0) * self.factor),
                datasets=original.fit.datasets,
                element=original.fit.element,
                collective=original.fit.collective,
            )
            return content
        if original.mesh is not None:
            grown = Fraction(self._factors[self._number][index]) if size is None else Fraction(1)
            content.mesh = resolve_mesh(original.mesh, old_members, members, size, grown, self.factor)
            return content
        if original.table is not None:
            content.streams = [self._from_table(original.table, family)]
            return content
        grown = _growth_factor(original, size, old_members)
        targets = _stream_bytes(original, size, old_members, self.factor)
        for number in range(original.passes):
            parts = [self._part(moved, number, original.passes) for moved in targets]
            content.streams += self._one_pass(original, parts, family, grown, held)
        content.arrays = [self._arrays(a, family, self.factor * grown) for a in original.arrays]
        return content

    def _from_table(self, wanted: wl.Rows, family: wl.Family) -> plan.PlanStream:
        """The plan's stream of some rows of the workload's operation table."""
        operations = self.workload.operations
        if operations is None or operations.table is None:
            raise WorkalikeError(
                ErrorKind.MISSING,
                "the workload's operation table is not there",
                hint="read the workload from its file, with the table beside it",
            )
        key = (self._number, wanted.first)
        if key in self._from_rows:
            return self._from_rows[key]
        old, new = family.sharing, self._sharings[self._number]
        before = Members.in_job(old.ranks, self.workload.ranks, old.mode, old.files)
        after = Members.in_job(new.ranks, self.ranks, new.mode, new.files)
        rows = operations.table.part(wanted.first, wanted.count)
        rows = at_ranks(rows, before, after, self.options.scaling == "weak")
        rows = at_bytes(rows, self.options.bytes_scale)
        first = bool(len(rows)) and bool(rows.writes[0])
        self._from_rows[key] = plan.PlanStream(
            ranks="all",
            direction=wl.Direction.WRITE if first else wl.Direction.READ,
            pattern="table",
            collective=wanted.collective,
            base=0,
            entries=[(len(rows), 0)],
            rows=self.table.add(rows),
        )
        return self._from_rows[key]

    @staticmethod
    def _part(moved: int, number: int, passes: int) -> int:
        """The bytes of one pass, such that all of them are `moved`."""
        return moved * (number + 1) // passes - moved * number // passes

    def _one_pass(
        self, original: wl.Content, targets: Sequence[int], family: wl.Family, grown: Fraction, held: int
    ) -> list[plan.PlanStream]:
        """The plan's streams of one pass; `targets` are the scaled bytes of each stream."""
        streams: list[plan.PlanStream] = []
        free: list[bool] = []
        for stream, moved in zip(original.streams, targets, strict=True):
            repeated = self._repeated(stream, family, grown, moved)
            streams += repeated
            free += [stream.base is None or k > 0 for k in range(len(repeated))]
        lengths = [length_of(stream, self._share_in_one_file(family, stream)) for stream in streams]
        own_files = family.sharing.mode is wl.SharingMode.PER_RANK
        if self._reads_what_is_there(family, bool(original.arrays)):
            place_streams(streams, lengths, free, held, own_files=own_files)
        else:
            place_after(streams, lengths, free, own_files=own_files)
        return streams

    def _members(self, ranks: wl.RankRanges | None, family: wl.Family) -> plan.Ranges:
        """The plan's ranks of a stream or access, within its family's."""
        old, new = self.workload.ranks, self.ranks
        scaled = self._sharings[self._number].ranks
        return rank_sets.scale_within(ranks, family.sharing.ranks, scaled, old, new)

    def _arrays(self, arrays: wl.Arrays, family: wl.Family, factor: Fraction) -> plan.PlanArrays:
        ranges = [self._members(access.ranks, family) for access in arrays.access]
        counts = [rank_sets.count(r, self.ranks) for r in ranges]
        members = list(zip(ranges, counts, strict=True))
        return scale_arrays(arrays, factor, self.weak, members, self.options.scale_by)

    def _repeated(
        self, stream: wl.Stream, family: wl.Family, grown: Fraction, moved: int
    ) -> list[plan.PlanStream]:
        """The plan's streams for one stream of the workload, one per repetition.

        Scaling by count drops repetitions first. `moved` is the scaled bytes of all repetitions.
        """
        declared = stream.ranks if stream.ranks is not None else family.sharing.ranks
        old = self.workload.ranks if declared is None else units.count_ranks(declared)
        ranges = self._members(stream.ranks, family)
        n = rank_sets.count(ranges, self.ranks)
        pairs = [(e.total(old), e.size) for e in stream.sizes]
        repeats = stream.repeat
        by_bytes = self.factor / self.weak  # with fewer ranks alone, each rank keeps all of its operations
        if self.options.scale_by == "count" and by_bytes < 1:
            repeats = max(1, round(repeats * by_bytes))
        streams = []
        for k in range(repeats):
            part = moved * (k + 1) // repeats - moved * k // repeats
            before = round(Fraction(moved, stream.repeat) / self.factor) if grown != 1 else None
            entries = self._entries(pairs, part, n, before)
            streams.append(
                plan.PlanStream(
                    ranks=ranges,
                    direction=stream.direction,
                    pattern=stream.pattern,
                    collective=stream.collective,
                    base=round((stream.base or 0) * grown * self.factor),
                    entries=entries,
                    mixed=stream.mixed,
                    stride=_stride(stream.stride, pairs, entries),
                    # Scaled sizes may no longer be cut into as many equal pieces.
                    pieces=math.gcd(stream.pieces, *(size for _, size in entries))
                    if stream.pieces > 1
                    else 1,
                )
            )
        return streams

    def _entries(
        self, pairs: list[tuple[int, int]], part: int, ranks: int, grown_to: int | None
    ) -> list[tuple[int, int]]:
        """One repetition's operations, which move exactly `part` bytes.

        Growth, to `grown_to` bytes at the original's scale, changes sizes; scaling changes what `scale_by` names.
        """
        if grown_to is not None:
            pairs = fit_bytes(pairs, part if self.factor == 1 else grown_to or part)
        moved = sum(count * size for count, size in pairs)
        if part == moved and self.factor == 1:
            return pairs
        by_size = self.options.scale_by == "size"
        if moved == 0:
            times = self.weak if by_size else self.factor
            return [(scale_count(count, times), size) for count, size in pairs]
        if by_size and self.weak != 1:  # more ranks do more operations, whatever --bytes-scale lowers
            grown = scale_pairs(pairs, self.weak, ranks, "count")
            bytes_grown = sum(count * size for count, size in grown)
            pairs, moved = (grown, bytes_grown) if bytes_grown else (pairs, moved)
        return scale_pairs(pairs, Fraction(part, moved), ranks, self.options.scale_by)

    def _share_in_one_file(self, family: wl.Family, stream: plan.PlanStream) -> Fraction:
        """The share of a stream's operations that are in one file."""
        n = rank_sets.count(stream.ranks, self.ranks)
        if family.sharing.mode is wl.SharingMode.PER_RANK or stream.pattern is wl.Pattern.REPLICATED:
            return Fraction(1, n)
        if family.sharing.mode is wl.SharingMode.GROUPS:
            return Fraction(1, self._sharings[self._number].files)
        return Fraction(1)

    def _span(self, family: wl.Family, content: plan.PlanContent, direction: wl.Direction) -> int:
        """The end of the bytes of a file that a dump's streams touch (an upper bound)."""
        if (rows := rows_of_table(content)) is not None:
            return self.table.added(rows).end(direction is wl.Direction.WRITE)
        spans = (
            s.base + length_of(s, self._share_in_one_file(family, s))
            for s in content.streams
            if s.direction is direction
        )
        return max(spans, default=0)

    def _reads_what_is_there(self, family: wl.Family, arrays: bool) -> bool:
        """Whether the streams' places show which reads go beyond what the run has written."""
        plain = TRAITS[self.families[-1].backend]["plain_bytes"] and not arrays
        return plain and family.lifetime is not wl.Lifetime.APPENDED

    def _must_exist(self, family: wl.Family, content: plan.PlanContent, held: int) -> bool:
        """Whether a dump reads what no dump has written, so that its file must exist before the run."""
        if (rows := rows_of_table(content)) is not None:
            return self._rows_need_file(rows, held, writes_first=writes_first(content))
        if not moves(content, wl.Direction.READ):
            return False
        if content.dataset is not None:
            return True
        written = self._span(family, content, wl.Direction.WRITE) if writes_first(content) else 0
        if self._reads_what_is_there(family, bool(content.arrays)):
            return self._span(family, content, wl.Direction.READ) > max(held, written)
        return not held and not writes_first(content)

    def _rows_need_file(self, rows: tuple[int, int], held: int, *, writes_first: bool) -> bool:
        """Whether rows read what neither they nor earlier dumps have written before."""
        found = self.table.added(rows)
        written = found.end(write=True) if writes_first else 0
        return found.end(write=False) > max(held, written)


def _compute(compute: wl.Compute | None) -> plan.PlanCompute | None:
    """The application's own work, which no scale changes: it is the same for every rank."""
    return plan.PlanCompute(level=compute.level, units=compute.units) if compute else None


def _stride(stride: int, before: list[tuple[int, int]], after: list[tuple[int, int]]) -> int:
    """The scaled stride: holes shrink with the operations (docs/reference/terms.md#scaling)."""
    if not stride:
        return 0
    old, new = (max(pairs, key=lambda p: p[0] * p[1])[1] for pairs in (before, after))
    return max(round(Fraction(stride * new, old)) if old else stride, *(size for _, size in after))


def _amid(amid: wl.AmidWrites) -> tuple[int, int] | None:
    return (amid.writes, amid.calls) if amid else None


def _held_open(family: wl.Family, index: int) -> bool:
    """Whether a dump finds its file open already, as all but the first dump of a file that stays open do."""
    return family.lifetime in STAYS_OPEN and index > 0


def _growth_factor(content: wl.Content, size: int | None, members: int) -> Fraction:
    moved = sum(content.moved(members, d) for d in wl.Direction)
    return Fraction(size, moved) if size is not None and moved else Fraction(1)


def _stream_bytes(content: wl.Content, size: int | None, members: int, factor: Fraction) -> list[int]:
    """Scaled bytes of each stream with all its repetitions; their sum is exactly round(bytes x factor).

    `size` is the dump's bytes, where the family states them; the streams keep their shares.
    """
    weights = []
    for stream in content.streams:
        n = members if stream.ranks is None else units.count_ranks(stream.ranks)
        weights.append(content.passes * stream.repeat * sum(e.total(n) * e.size for e in stream.sizes))
    total = sum(weights)
    moved = sum(content.moved(members, d) for d in wl.Direction)  # with the arrays
    stated = Fraction(total if size is None or not moved else size * total, 1 if size is None else moved or 1)
    out = []
    done = reached = 0
    for weight in weights:
        # Cumulative rounding gives each stream its share of the target, and an exact sum.
        done += weight
        share = round(stated * factor * done / (total or 1)) - reached
        reached += share
        out.append(share)
    for write, read in _read_back(content.streams):
        # Of an odd number of bytes the read has the smaller half, so that it finds what was written.
        both = out[write] + out[read]
        out[write], out[read] = both - both // 2, both // 2
    return out


def _read_back(streams: Sequence[wl.Stream]) -> list[tuple[int, int]]:
    """Pairs of streams, of which the second reads what the first has written."""
    written: dict[str, int] = {}
    pairs = []
    for i, stream in enumerate(streams):
        key = stream.model_dump_json(exclude={"direction"})
        if stream.direction is wl.Direction.WRITE:
            written[key] = i
        elif key in written:
            pairs.append((written.pop(key), i))
    return pairs
