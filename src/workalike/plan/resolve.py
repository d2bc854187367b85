"""From a workload to a plan: ranks, scale, clock and backends are decided, and nothing is expanded."""

from __future__ import annotations

from collections.abc import Hashable

from pydantic import ValidationError

from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan import plan_schema as plan
from workalike.plan.arrays import scale_arrays
from workalike.plan.contents import (
    bytes_of_datasets,
    extent_of,
    length_of,
    moves,
    rows_of_table,
    writes_first,
)
from workalike.plan.datasets import resolve_dataset
from workalike.plan.dump_scale import DumpScale, FamilyScale, Scale
from workalike.plan.families import resolve_family
from workalike.plan.meshes import resolve_mesh
from workalike.plan.options import Options as Options
from workalike.plan.processes import scale_processes
from workalike.plan.scale import scale_count
from workalike.plan.streams import resolve_streams, with_buffered
from workalike.plan.tables import PlanTable, at_scale
from workalike.plan.timing import timings
from workalike.plan.unwritten import reads_of_nothing, with_data_to_read
from workalike.workload import model as wl
from workalike.workload.table_reference import TableReference


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
    try:
        return with_data_to_read(_resolved(workload, Scale(workload.ranks, ranks, options)))
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


def families_that_read_holes(workload: wl.Workload) -> set[int]:
    """The families, by their position, with a dump all of whose reads lie within its file, but not all in data."""
    resolved = _resolved(workload, Scale(workload.ranks, workload.ranks, Options()))
    return {resolved.dumps[position].family for position, hole in reads_of_nothing(resolved) if hole}


def _resolved(workload: wl.Workload, scale: Scale) -> plan.Plan:
    """The plan, before it is known which dumps read what no dump has written."""
    options = scale.options
    resolver = _Resolver(workload.operations)
    for number, family in enumerate(workload.families):
        resolver.add_family(FamilyScale(scale.old_ranks, scale.ranks, options, number, family))
    resolved = plan.Plan(
        ranks=scale.ranks,
        seed=options.seed,
        clock=options.clock,
        time_scale=options.time_scale,
        gap_fill=_gap_fill(workload, options),
        cpu_share=workload.cpu_share if options.gap_fill == "auto" else None,
        compute=_compute(workload.compute),
        processes=scale_processes(workload.processes, scale.old_ranks, scale.ranks),
        payload=plan.PlanPayload(compressibility=_compressibility(workload, options)),
        scale=plan.PlanScale(
            ranks=scale.ranks / scale.old_ranks,
            bytes=float(scale.factor),
            time=options.time_scale,
            scaling=options.scaling,
        ),
        families=resolver.families,
        contents=resolver.contents,
        dumps=resolver.dumps_in_order(),
    )
    return resolver.table.finish(resolved)


def _compressibility(workload: wl.Workload, options: Options) -> float:
    """The user's, else the workload's."""
    return workload.compressibility if options.compressibility is None else options.compressibility


def _gap_fill(workload: wl.Workload, options: Options) -> plan.GapFill:
    """The user's; by default ranks compute for the share of the time that the original did, if that is known."""
    if options.gap_fill != "auto":
        return options.gap_fill
    return "busy" if workload.cpu_share is not None else "sleep"


def _compute(compute: wl.Compute | None) -> plan.PlanCompute | None:
    """The application's own work, which no scale changes: it is the same for every rank."""
    return plan.PlanCompute(level=compute.level, units=compute.units) if compute else None


class _Resolver:
    """Collects a plan's families, its distinct contents and its dumps."""

    def __init__(self, operations: TableReference | None) -> None:
        self.families: list[plan.PlanFamily] = []
        self.contents: list[plan.PlanContent] = []
        self.table = PlanTable()
        self._operations = operations
        self._dumps: list[plan.PlanDump] = []
        self._numbers: dict[str, int] = {}  # of contents, by their text
        self._known: dict[Hashable, int] = {}  # numbers of contents, by the keys of dumps
        self._from_rows: dict[tuple[int, int, bool], plan.PlanStream] = {}
        """By family, first row, and whether the calls are posted."""

    def add_family(self, scale: FamilyScale) -> None:
        """Add a family and its dumps."""
        family = scale.family
        one_file = family.lifetime is not wl.Lifetime.PER_DUMP
        self.families.append(resolve_family(scale))
        base = held = 0
        for index, timing in enumerate(timings(family.schedule)):
            dump = DumpScale(scale, index, held if one_file else 0)
            number = self._content_number(dump)
            content = self.contents[number]
            has_rows = rows_of_table(content) is not None  # whose offsets are those in the file
            self._dumps.append(
                plan.PlanDump(
                    family=scale.number,
                    index=index,
                    file=0 if one_file else index,
                    content=number,
                    base=base if family.lifetime is wl.Lifetime.APPENDED and not has_rows else 0,
                    barrier=family.schedule.barrier,
                    prepare=self._must_exist(content, dump),
                    **timing.fields(content, scale),
                )
            )
            held = max(held, self._span(content, wl.Direction.WRITE, scale), bytes_of_datasets(content))
            base = max(base, held) if has_rows else base + extent_of(content)

    def dumps_in_order(self) -> list[plan.PlanDump]:
        """The dumps in order of their start."""
        return sorted(self._dumps, key=lambda d: (d.start_s, d.end_s, d.family, d.index))

    def _content_number(self, dump: DumpScale) -> int:
        """The number of a dump's content; equal contents are resolved and stored once."""
        key = dump.key
        if key not in self._known:
            content = self._content(dump)
            number = self._numbers.setdefault(content.model_dump_json(), len(self.contents))
            if number == len(self.contents):
                self.contents.append(content)
            self._known[key] = number
        return self._known[key]

    def _content(self, dump: DumpScale) -> plan.PlanContent:
        """The plan's content of a dump."""
        original = dump.content
        if original.dataset is not None:
            return plan.PlanContent(opens=0, dataset=resolve_dataset(original.dataset, dump.scale))
        content = _calls(dump)
        if original.fit is not None:
            content.fit = _fit(original.fit, dump)
        elif original.mesh is not None:
            content.mesh = resolve_mesh(original.mesh, dump)
        elif original.table is not None:
            content.streams = [self._stream_of_rows(original.table, dump.scale)]
        else:
            content.streams = resolve_streams(original, dump)
            content.arrays = [scale_arrays(arrays, dump) for arrays in original.arrays]
        content.streams = with_buffered(content.streams, original, dump)
        return content

    def _stream_of_rows(self, wanted: wl.Rows, scale: FamilyScale) -> plan.PlanStream:
        """The plan's stream of some rows of the workload's operation table.

        Raises:
            WorkalikeError: MISSING if the workload was read without its table; USAGE as `at_scale`.
        """
        if self._operations is None or self._operations.table is None:
            raise WorkalikeError(
                ErrorKind.MISSING,
                "the workload's operation table is not there",
                hint="read the workload from its file, with the table beside it",
            )
        key = (scale.number, wanted.first, wanted.nonblocking)
        if key not in self._from_rows:
            rows = at_scale(self._operations.table.part(wanted.first, wanted.count), scale)
            first_writes = bool(len(rows)) and bool(rows.writes[0])
            self._from_rows[key] = plan.PlanStream(
                ranks="all",
                direction=wl.Direction.WRITE if first_writes else wl.Direction.READ,
                pattern="table",
                collective=wanted.collective,
                nonblocking=wanted.nonblocking or None,
                base=0,
                entries=[(len(rows), 0)],
                rows=self.table.add(rows),
            )
        return self._from_rows[key]

    def _span(self, content: plan.PlanContent, direction: wl.Direction, scale: FamilyScale) -> int:
        """The end of the bytes of a file that a dump's streams touch (an upper bound)."""
        if (rows := rows_of_table(content)) is not None:
            return self.table.added(rows).end(direction is wl.Direction.WRITE)
        spans = (
            stream.base + length_of(stream, scale.share_in_one_file(stream))
            for stream in content.streams
            if stream.direction is direction
        )
        return max(spans, default=0)

    def _must_exist(self, content: plan.PlanContent, dump: DumpScale) -> bool:
        """Whether a dump reads what no dump has written, so that its file must exist before the run."""
        if rows_of_table(content) is None:
            if not moves(content, wl.Direction.READ):
                return False
            if content.dataset is not None:
                return True
            if not dump.scale.places_are_known(bool(content.arrays)):
                return not dump.held and not writes_first(content)
        written = self._span(content, wl.Direction.WRITE, dump.scale) if writes_first(content) else 0
        return self._span(content, wl.Direction.READ, dump.scale) > max(dump.held, written)


def _calls(dump: DumpScale) -> plan.PlanContent:
    """A content that has the calls of a dump which move no bytes, and nothing else yet."""
    original, scale = dump.content, dump.scale
    opens = 0 if dump.held_open or original.only_stats else scale.members
    return plan.PlanContent(
        opens=scale_count(original.opens, scale.by_members) or opens,
        stats=scale_count(original.stats, scale.by_members),
        seeks=0 if original.seeks == "each" else scale_count(original.seeks, scale.factor),
        fsyncs=scale_count(original.fsyncs, scale.by_members),
        flushes=scale_count(original.flushes, scale.by_members),
        maps=scale_count(original.maps, scale.by_members) or None,
        renames=scale_count(original.renames, scale.by_files) or None,
        reopen=original.reopen or None,
        seek_each=True if original.seeks == "each" else None,
        sync=_amid(original.sync),
        flush=_amid(original.flush),
    )


def _amid(amid: wl.AmidWrites) -> tuple[int, int] | None:
    return (amid.writes, amid.calls) if amid else None


def _fit(fit: wl.Fit, dump: DumpScale) -> plan.PlanFit:
    """The datasets that have the dump's stated bytes, scaled."""
    return plan.PlanFit(
        bytes=round((dump.size or 0) * dump.scale.factor),
        datasets=fit.datasets,
        element=fit.element,
        collective=fit.collective,
    )
