"""Random jobs of which every operation is known: nothing is lost, for any module, sharing and number of dumps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plan_totals import totals_of
from simulated_job import (
    BINS,
    READ,
    WRITE,
    Op,
    TrueFile,
    add_file,
    bin_of,
    builder_of,
    counters_of,
    log_of,
)

from workalike import _core
from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.core import core_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Direction, Level, Pattern, Reason, SharingMode, Workload

# Sizes on both sides of bin edges, round and odd ones.
SIZES = st.sampled_from(
    [1, 7, 100, 101, 1000, 1024, 1025, 4096, 10240, 65536, 102400, 102401, 2**20, 2**20 + 1, 3 * 2**20, 2**23]
) | st.integers(1, 2**24)
SHARINGS = ("shared", "per-rank", "groups", "subset", "root")
MODULES = ("POSIX", "STDIO", "MPI-IO")

relaxed = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@dataclass
class TrueFamily:
    sharing: str
    module: str
    dumps: list[list[TrueFile]]

    @property
    def letter(self) -> str:
        return self.files[0].name[5]

    @property
    def files(self) -> list[TrueFile]:
        return [file for dump in self.dumps for file in dump]


@dataclass
class TrueJob:
    nprocs: int
    families: list[TrueFamily]
    reduce: bool
    trace: bool


def rank_sets(sharing: str, nprocs: int) -> list[list[int]]:
    """The ranks of each file of a dump."""
    everyone = list(range(nprocs))
    if sharing == "shared":
        return [everyone]
    if sharing == "per-rank":
        return [[r] for r in everyone]
    if sharing == "groups":
        return [everyone[: (nprocs + 1) // 2], everyone[(nprocs + 1) // 2 :]] if nprocs > 2 else [everyone]
    return [everyone[1:] or [0]] if sharing == "subset" else [[nprocs - 1]]


@st.composite
def true_jobs(draw: st.DrawFn) -> TrueJob:
    nprocs = draw(st.integers(1, 6))
    families = []
    for number in range(draw(st.integers(1, 3))):
        sharing = draw(st.sampled_from(SHARINGS))
        module = draw(st.sampled_from(MODULES))
        families.append(TrueFamily(sharing, module, draw(dumps_of(number, sharing, module, nprocs))))
    return TrueJob(nprocs, families, draw(st.booleans()), draw(st.booleans()))


@st.composite
def dumps_of(draw: st.DrawFn, number: int, sharing: str, module: str, nprocs: int) -> list[list[TrueFile]]:
    letter = "abc"[number]
    directions = draw(st.sampled_from([[WRITE], [READ], [WRITE, READ]]))
    collective = module == "MPI-IO" and sharing != "per-rank" and draw(st.booleans())
    dumps = []
    for dump in range(draw(st.integers(1, 4))):
        start = 5.0 + 20.0 * dump + number
        calls = draw(st.lists(st.tuples(st.sampled_from(directions), SIZES), min_size=1, max_size=6))
        files = []
        for file, ranks in enumerate(rank_sets(sharing, nprocs)):
            suffix = f".{file}" if sharing in ("per-rank", "groups") else ""
            ops = {
                rank: ops_of(calls, place, len(ranks), start, collective and len(ranks) > 1)
                for place, rank in enumerate(ranks)
            }
            files.append(TrueFile(f"/run/{letter}_{dump}{suffix}", module, ops, start - 0.5, start + 3))
        dumps.append(files)
    return dumps


def ops_of(
    calls: list[tuple[Direction, int]], place: int, ranks: int, start: float, collective: bool
) -> list[Op]:
    """The operations of a rank where every rank makes every call, in rank order within the file."""
    out = []
    at = 0
    for k, (direction, size) in enumerate(calls):
        begin = start + 2 * k / len(calls)
        out.append(Op(direction, at + place * size, size, begin, begin + 1 / len(calls), collective))
        at += ranks * size
    return out


def characterized(job: TrueJob, **options: object) -> Characterization:
    builder = builder_of(job.nprocs)
    for family in job.families:
        for file in family.files:
            add_file(builder, file, reduce=job.reduce, trace=job.trace)
    return characterize([log_of(builder)], CharacterizeOptions(include_program_start=True, **options))  # type: ignore[arg-type]


def letters(found: Characterization) -> dict[str, list[int]]:
    """For each true family, the indices of the families that have its files."""
    out: dict[str, list[int]] = {}
    for place, family in enumerate(found.families):
        for file in family.files():
            out.setdefault(file.name[5], []).append(place)
    return {letter: sorted(set(places)) for letter, places in out.items()}


@relaxed
@given(true_jobs())
def test_bytes_operations_and_histogram_are_conserved(job: TrueJob) -> None:
    found = characterized(job)
    totals = totals_of(resolve(found.workload, Options()))
    keys = [(f.family.role, f.family.number) for f in found.families]
    for family in job.families:
        planned = [totals[keys[place]] for place in letters(found)[family.letter]]
        for direction in Direction:
            assert sum(t[direction].bytes for t in planned) == sum(f.bytes(direction) for f in family.files)
            assert sum(t[direction].operations for t in planned) == sum(
                f.operations(direction) for f in family.files
            )
            if family.module != "STDIO":
                bins = [sum(t[direction].bins[i] for t in planned) for i in range(10)]
                true = [sum(f.histogram(direction)[i] for f in family.files) for i in range(10)]
                assert sum(abs(a - b) for a, b in zip(bins, true, strict=True)) <= 0.02 * 2 * max(
                    1, sum(true)
                )


@relaxed
@given(true_jobs())
def test_each_family_is_found_with_its_sharing_and_dumps(job: TrueJob) -> None:
    found = characterized(job)
    for family in job.families:
        places = letters(found)[family.letter]
        if any(
            {d for f in dump for d in Direction if f.bytes(d)} != directions_of(family)
            for dump in family.dumps
        ):
            continue  # dumps of different directions are different families
        assert len(places) == 1
        match = found.families[places[0]]
        assert {file.name for file in match.files()} == {file.name for file in family.files}
        read_apart = len(family.dumps) == 1 and len(match.dumps) == 2
        assert len(match.dumps) == len(family.dumps) or read_apart
        assert match.family.sharing.mode in modes_of(family, job)


def directions_of(family: TrueFamily) -> set[Direction]:
    return {d for f in family.files for d in Direction if f.bytes(d)}


def modes_of(family: TrueFamily, job: TrueJob) -> set[SharingMode]:
    if job.nprocs == 1:
        return {SharingMode.SHARED}
    groups = SharingMode.GROUPS if job.nprocs > 2 else SharingMode.SHARED
    subset = SharingMode.SUBSET if job.nprocs > 2 else SharingMode.ROOT
    return {
        "shared": {SharingMode.SHARED},
        "per-rank": {SharingMode.PER_RANK},
        "groups": {groups},
        "subset": {subset},
        "root": {SharingMode.ROOT},
    }[family.sharing]


@relaxed
@given(true_jobs())
def test_schedule_is_that_of_the_job(job: TrueJob) -> None:
    found = characterized(job)
    for family in found.families:
        opened = {f.name: (f.opened, f.closed) for true in job.families for f in true.files}
        names = [[f.name for f in dump.files] for dump in family.dumps]
        if len({id(f) for dump in family.dumps for f in dump.files}) < sum(map(len, names)):
            continue  # one file that is written and then read
        for start, end, dump_names in zip(
            family.family.schedule.starts(), family.family.schedule.ends(), names, strict=True
        ):
            assert start == pytest.approx(min(opened[name][0] for name in dump_names), abs=1e-5)
            assert end == pytest.approx(max(opened[name][1] for name in dump_names), abs=1e-5)


@relaxed
@given(true_jobs())
def test_workload_survives_its_text(job: TrueJob) -> None:
    workload = characterized(job).workload
    assert Workload.model_validate(workload.model_dump(mode="json")) == workload


@relaxed
@given(true_jobs(), st.integers(2, 5))
def test_states_keep_the_bytes(job: TrueJob, states: int) -> None:
    """`--states N` cuts every single written file into N states, and loses nothing."""
    found = characterized(job, states=states)
    totals = totals_of(resolve(found.workload, Options()))
    for direction in Direction:
        true = sum(f.bytes(direction) for family in job.families for f in family.files)
        assert sum(t[direction].bytes for t in totals.values()) == true


@relaxed
@given(true_jobs())
def test_the_trace_gives_the_bytes_of_each_rank(job: TrueJob) -> None:
    """With a complete trace the bytes of each rank are exact, though the record is reduced.

    Ranks that interleave in nearly equal parts are an exception: the order in the file is kept and parts are dealt.
    """
    job.trace = True
    job.families = [f for f in job.families if f.module != "STDIO"] or job.families
    found = characterized(job)
    plan = resolve(found.workload, Options())
    for family in job.families:
        if family.module == "STDIO" or family.sharing == "groups":
            continue
        true: dict[int, int] = {}
        for file in family.files:
            for rank, ops in file.ops.items():
                true[rank] = true.get(rank, 0) + sum(op.size for op in ops)
        planned: dict[int, float] = {}
        for place in letters(found)[family.letter]:
            add_rank_bytes(plan, place, planned)
        dealt = Pattern.INTERLEAVED in patterns_of(found, letters(found)[family.letter])
        assert sum(planned.values()) == sum(true.values())
        assert {r: b for r, b in planned.items() if b} == pytest.approx(
            {r: b for r, b in true.items() if b}, abs=1, rel=THRESHOLDS.ranks_even - 1 if dealt else 0
        )


def patterns_of(found: Characterization, places: Iterable[int]) -> set[Pattern]:
    contents = [c for place in places for c in found.families[place].family.all_contents()]
    return {stream.pattern for content in contents for stream in content.streams}


def add_rank_bytes(plan: Plan, place: int, out: dict[int, float]) -> None:
    """Add the bytes of each rank by the rule of plans: a stream's operations are dealt in turn, per file in PER_RANK.

    The rows of an operation table are those that the core makes of it.
    """
    sharing = plan.families[place].sharing
    for position, dump in enumerate(plan.dumps):
        if dump.family != place:
            continue
        if any(stream.pattern == "table" for stream in plan.contents[dump.content].streams):
            add_table_bytes(plan, position, out)
            continue
        for stream in plan.contents[dump.content].streams:
            ranges = [(0, plan.ranks - 1, 1)] if stream.ranks == "all" else stream.ranks
            ranks = [r for a, b, step in ranges for r in range(a, b + 1, step)]
            turn = 0
            for count, size in stream.entries:
                turn = 0 if sharing.mode is SharingMode.PER_RANK else turn
                for _ in range(count):
                    out[ranks[turn % len(ranks)]] = out.get(ranks[turn % len(ranks)], 0) + size
                    turn += 1


def add_table_bytes(plan: Plan, position: int, out: dict[int, float]) -> None:
    core = core_plan(plan)
    for rank in range(plan.ranks):
        columns = core.operations(rank=rank, most=10**6)
        moves = (columns["dump"] == position) & np.isin(
            columns["kind"], [_core.kinds.index(kind) for kind in ("read", "write")]
        )
        out[rank] = out.get(rank, 0) + int(columns["length"][moves].sum())


# Libraries above MPI-IO

SHAPES = st.tuples(st.integers(1, 16), st.integers(1, 32), st.integers(1, 64))


@relaxed
@given(
    st.integers(1, 6),
    st.lists(st.lists(SHAPES, min_size=1, max_size=9), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from(list(Direction)),
)
def test_datasets_are_conserved(
    nprocs: int, datasets: list[list[tuple[int, int, int]]], reduce: bool, direction: Direction
) -> None:
    """Every rank moves hyperslabs of the given shapes in each dataset of 16 x 32 x 64 doubles."""
    name = "/run/a_0.h5"
    builder = builder_of(nprocs).h5f(name, OPENS=nprocs)
    total = operations = 0
    for number, shapes in enumerate(datasets):
        sizes = [8 * x * y * z for x, y, z in shapes]
        ranks = [-1] if reduce or nprocs == 1 else range(nprocs)
        each = nprocs if reduce or nprocs == 1 else 1
        for rank in ranks:
            builder.h5d(f"{name}:/d{number}", rank, file=name, **slab_counters(shapes, each, direction))
        total += nprocs * sum(sizes)
        operations += nprocs * len(sizes)
    found = characterize([log_of(builder)], CharacterizeOptions(include_program_start=True))
    (totals,) = totals_of(resolve(found.workload, Options())).values()
    assert totals[direction].bytes == pytest.approx(total, rel=0.001)
    # Shapes other than the four common ones are unknown: a few operations of a dataset may differ.
    assert totals[direction].operations == pytest.approx(
        operations, abs=6 * len(datasets) + 0.25 * operations
    )
    if all(len(set(shapes)) <= 4 for shapes in datasets):
        assert totals[direction].operations == operations
        assert totals[direction].bytes == total


def slab_counters(shapes: list[tuple[int, int, int]], times: int, direction: Direction) -> dict[str, float]:
    kind, moved = ("READ", "BYTES_READ") if direction is READ else ("WRITE", "BYTES_WRITTEN")
    out: dict[str, float] = {
        f"{kind}S": times * len(shapes),
        moved: times * sum(8 * x * y * z for x, y, z in shapes),
        "DATASPACE_NDIMS": 3,
        "DATASPACE_NPOINTS": 16 * 32 * 64,
        "DATATYPE_SIZE": 8,
    }
    for x, y, z in shapes:
        name = f"SIZE_{kind}_AGG_{BINS[bin_of(8 * x * y * z)]}"
        out[name] = out.get(name, 0) + times
    for k, (shape, count) in enumerate(Counter(shapes).most_common(4), 1):
        out |= {f"ACCESS{k}_ACCESS": 8 * shape[0] * shape[1] * shape[2], f"ACCESS{k}_COUNT": count * times}
        for i, extent in enumerate(shape):
            out |= {f"ACCESS{k}_LENGTH_D{5 - i}": extent, f"ACCESS{k}_STRIDE_D{5 - i}": 1}
    return out


@relaxed
@given(st.integers(2, 6), st.lists(SIZES, min_size=1, max_size=6), st.booleans(), st.booleans())
def test_collective_buffering_is_at_the_level_above(
    nprocs: int, sizes: list[int], pnetcdf: bool, holes: bool
) -> None:
    """Collective writes of all ranks, performed by rank 0 in 4 MiB pieces, with reads before where there are holes."""
    name = "/run/a_0"
    total = nprocs * sum(sizes)
    ops = {r: [Op(WRITE, 0, size, collective=True) for size in sizes] for r in range(nprocs)}
    builder = builder_of(nprocs)
    above = TrueFile(name, "MPI-IO", ops, extra={"VIEWS": nprocs})
    add_file(builder, above)
    if pnetcdf:
        counters = counters_of(TrueFile(name, "POSIX", {}), ops[0])
        wanted = {k: v * nprocs for k, v in counters.items() if k == "BYTES_WRITTEN"}
        bins = {
            k.replace("WRITE_", "WRITE_AGG_"): v * nprocs
            for k, v in counters.items()
            if k.startswith("SIZE_")
        }
        builder.pnetcdf_file(name, OPENS=nprocs)
        builder.pnetcdf_var(f"{name}:v", file=name, COLL_WRITES=nprocs * len(sizes), **wanted, **bins)
    written = total * 3 if holes else total
    pieces = [4 * 2**20] * (written // (4 * 2**20)) + [written % (4 * 2**20)]
    below = [Op(d, 0, size) for size in pieces for d in ([READ, WRITE] if holes else [WRITE])]
    add_file(builder, TrueFile(name, "POSIX", {0: below}))
    found = characterize([log_of(builder)], CharacterizeOptions(include_program_start=True))
    (family,) = found.families
    assert family.family.level is (Level.PNETCDF if pnetcdf else Level.MPIIO)
    assert family.family.tunable.cb_nodes == (1 if nprocs > 1 else None)
    (totals,) = totals_of(resolve(found.workload, Options())).values()
    assert (totals[WRITE].bytes, totals[WRITE].operations) == (total, nprocs * len(sizes))
    assert (totals[READ].bytes, totals[READ].operations) == (0, 0)
    sieving = sum(loss.bytes for loss in found.losses if loss.reason is Reason.SIEVING)
    assert sieving == (2 * total + written if holes else 0)
