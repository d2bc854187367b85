"""Scaling: total bytes = original x F x (N/N0 if weak, else 1); what happens to counts, ranks and files."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plan_sums import bytes_of, dump_bytes
from work_done import lines_run
from workload_strategies import workloads

from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan import ranks as rank_sets
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.plan.scale import fit_bytes, scale_pairs, split_even
from workalike.workload import units
from workalike.workload.model import Direction, Lifetime, SharingMode, Workload
from workalike.workload.workload_file import parse_workload

MOST_LINES_OF_A_SET = 1000  # that run; rank by rank, there were more than 100,000
SOME = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
factors = st.sampled_from(
    [Fraction(1, 100), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(5, 2), Fraction(7)]
)
options = st.builds(
    Options,
    ranks=st.none() | st.integers(1, 100),
    scaling=st.sampled_from(["strong", "weak"]),
    bytes_scale=factors,
    scale_by=st.sampled_from(["count", "size"]),
)
pairs = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 2**30)), min_size=1, max_size=5)


def factor_of(workload: Workload, asked: Options) -> Fraction:
    ranks = asked.ranks or workload.ranks
    return asked.bytes_scale * (Fraction(ranks, workload.ranks) if asked.scaling == "weak" else 1)


def moved(plan: Plan, family: int) -> list[int]:
    both = (dump_bytes(plan, family, direction) for direction in Direction)
    return [a + b for a, b in zip(*both, strict=True)]


@SOME
@given(workloads(kinds=("streams", "fit")), options)
def test_bytes_of_a_dump_are_exact(workload: Workload, asked: Options) -> None:
    full = resolve(workload, Options())
    plan = resolve(workload, asked)
    factor = factor_of(workload, asked)
    for family in range(len(workload.families)):
        for full_bytes, bytes_moved in zip(moved(full, family), moved(plan, family), strict=True):
            assert bytes_moved == round(full_bytes * factor)


@SOME
@given(workloads(kinds=("streams", "fit")))
def test_the_original_scale_is_the_workload(workload: Workload) -> None:
    plan = resolve(workload, Options())
    for number, family in enumerate(workload.families):
        members = family.members(workload.ranks)
        stated = family.dump_sizes()
        for i, planned in enumerate(moved(plan, number)):
            own = sum(family.content_of(i).moved(members, d) for d in Direction)
            assert planned == (own if stated is None else stated[i])


@given(pairs, factors, st.integers(1, 2000))
def test_by_count_sizes_stay(pairs: list[tuple[int, int]], factor: Fraction, ranks: int) -> None:
    """If each rank keeps two operations of each size, all sizes stay, except that of one operation for exact bytes."""
    pairs = [(count, size) for count, size in pairs if count * factor >= 2 * ranks and size]
    scaled = scale_pairs(pairs, factor, ranks, "count")
    known = {size for _, size in pairs}
    assert sum(count for count, size in scaled if size not in known) <= 1
    operations = sum(count for count, _ in scaled)
    assert abs(operations - sum(count for count, _ in pairs) * factor) <= _slack(pairs)


def _slack(pairs: list[tuple[int, int]]) -> float:
    """Rounding changes a count by half an operation, which the largest pair compensates in its own size."""
    if not pairs:
        return 0.0
    largest = max(pairs, key=lambda pair: pair[0] * pair[1])[1]
    return len(pairs) + sum(size for _, size in pairs) / largest


def test_a_header_does_not_change_the_sizes_of_the_data() -> None:
    scaled = scale_pairs([(1, 96), (3072, 55296)], Fraction(1, 4), 64, "count")
    assert scaled == [(1, 96), (767, 55296), (1, 55296 - 72)]


def test_one_operation_per_rank_is_left() -> None:
    scaled = scale_pairs([(3072, 55296)], Fraction(1, 100), 64, "count")
    assert sum(count for count, _ in scaled) == 64
    assert sum(count * size for count, size in scaled) == round(Fraction(3072 * 55296, 100))


@SOME
@given(workloads(kinds=("streams",)), factors)
def test_by_size_counts_stay(workload: Workload, factor: Fraction) -> None:
    full = resolve(workload, Options())
    plan = resolve(workload, Options(bytes_scale=factor, scale_by="size"))
    for original, scaled in zip(full.dumps, plan.dumps, strict=True):
        a, b = full.contents[original.content], plan.contents[scaled.content]
        for s, t in zip(a.streams, b.streams, strict=True):
            count = sum(n for n, size in s.entries if size)
            assert sum(n for n, _ in t.entries) >= count
            assert sum(n for n, _ in t.entries) <= sum(n for n, _ in s.entries)


@SOME
@given(workloads(), options)
def test_opens_and_syncs_follow_the_members(workload: Workload, asked: Options) -> None:
    plan = resolve(workload, asked)
    for dump in plan.dumps:
        family, planned = workload.families[dump.family], plan.contents[dump.content]
        old = family.members(workload.ranks)
        new = rank_sets.count(plan.families[dump.family].sharing.ranks, plan.ranks)
        content = family.content_of(dump.index)
        for name in ("stats", "fsyncs", "flushes", "maps"):
            was, now = getattr(content, name), getattr(planned, name) or 0
            assert now == (max(1, round(was * Fraction(new, old))) if was else 0)
        wanted = max(1, round(content.opens * Fraction(new, old))) if content.opens else new
        if not content.opens and family.lifetime in (Lifetime.APPENDED, Lifetime.OVERWRITTEN) and dump.index:
            wanted = 0  # the first dump opened the file
        assert planned.opens == wanted


@SOME
@given(workloads(), options)
def test_ranks_and_files(workload: Workload, asked: Options) -> None:
    plan = resolve(workload, asked)
    ranks = asked.ranks or workload.ranks
    assert plan.ranks == ranks
    for family, planned in zip(workload.families, plan.families, strict=True):
        members = rank_sets.count(planned.sharing.ranks, ranks)
        share = family.members(workload.ranks) * ranks / workload.ranks
        if family.sharing.mode is SharingMode.ROOT:
            assert members == 1
        else:
            assert members == max(1, min(ranks, round(share)))
        if family.sharing.mode is SharingMode.GROUPS:
            wanted = family.sharing.files
            if asked.scaling == "weak":
                wanted = max(1, round(wanted * ranks / workload.ranks))
            assert planned.sharing.files == min(wanted, members)


@SOME
@given(workloads(), options)
def test_streams_stay_inside_their_family(workload: Workload, asked: Options) -> None:
    plan = resolve(workload, asked)
    everyone = [(0, plan.ranks - 1, 1)]
    for dump in plan.dumps:
        ranks = plan.families[dump.family].sharing.ranks
        whole = everyone if ranks == "all" else list(ranks)
        content = plan.contents[dump.content]
        named = [s.ranks for s in content.streams]
        named += [a.ranks for arrays in content.arrays for a in arrays.access]
        for part in named:
            assert units.is_subset(everyone if part == "all" else list(part), everyone)
            if part != "all":
                assert units.is_subset(list(part), whole)
            else:
                assert ranks == "all"


@SOME
@given(workloads(), options)
def test_a_plan_survives_its_file(workload: Workload, asked: Options) -> None:
    plan = resolve(workload, asked)
    assert Plan.model_validate_json(plan.model_dump_json(exclude_none=True)) == plan


@SOME
@given(workloads(kinds=("streams",)), options)
def test_streams_follow_each_other(workload: Workload, asked: Options) -> None:
    """Streams without a base do not overwrite each other in a shared file; a stride leaves room for its blocks."""
    plan = resolve(workload, asked)
    for content in plan.contents:
        for stream in content.streams:
            assert stream.base >= 0
            if stream.stride:
                assert stream.stride >= max((size for _, size in stream.entries), default=0)


@given(pairs, factors, st.integers(1, 2000), st.sampled_from(["count", "size"]))
def test_pairs_move_exactly_their_bytes(
    pairs: list[tuple[int, int]], factor: Fraction, ranks: int, by: str
) -> None:
    total = sum(count * size for count, size in pairs)
    scaled = scale_pairs(pairs, factor, ranks, by)  # type: ignore[arg-type]
    assert sum(count * size for count, size in scaled) == round(total * factor)
    assert all(count >= 0 and size >= 0 for count, size in scaled)


@given(pairs, st.integers(1, 2**50))
def test_fitting_keeps_operations_and_hits_the_target(pairs: list[tuple[int, int]], target: int) -> None:
    fitted = fit_bytes(pairs, target)
    if any(count and size for count, size in pairs):
        assert sum(count * size for count, size in fitted) == target
    assert sum(count for count, _ in fitted) == sum(count for count, _ in pairs)


@given(st.integers(0, 2**60), st.integers(1, 10**6))
def test_even_parts(total: int, count: int) -> None:
    parts = split_even(total, count)
    assert sum(n * size for n, size in parts) == total
    assert sum(n for n, _ in parts) == count
    sizes = [size for _, size in parts]
    assert max(sizes) - min(sizes) <= 1


@given(st.sets(st.integers(0, 511), min_size=1), st.integers(1, 2048))
def test_a_subset_keeps_its_share(members: set[int], new: int) -> None:
    ranges = units.ranges_of(sorted(members))
    scaled = rank_sets.scale_ranges(ranges, 512, new)
    assert scaled != "all"
    assert units.count_ranks(list(scaled)) == min(new, max(1, round(len(members) * new / 512)))
    assert units.is_subset(list(scaled), [(0, new - 1, 1)])


def spread_by_rank(members: list[int], old: int, new: int, wanted: int) -> list[int]:
    """A reference for `scale_ranges`, rank by rank."""
    wanted = min(new, max(1, wanted))
    step = members[-1] - members[-2] if len(members) > 1 else 1
    after = [*members[1:], min(old, members[-1] + step)]
    chosen = set()
    for i in range(wanted):
        at, between = divmod(i * len(members), wanted)
        place = members[at] * wanted + between * (after[at] - members[at])
        chosen.add(min(new - 1, place * new // (old * wanted)))
    chosen |= set([rank for rank in range(new) if rank not in chosen][: wanted - len(chosen)])
    return sorted(chosen)


def greedy(ranks: list[int]) -> list[tuple[int, int, int]]:
    """A reference for `units.ranges_of`."""
    out = []
    i = 0
    while i < len(ranks):
        j = i + 1
        while j + 1 < len(ranks) and ranks[j + 1] - ranks[j] == ranks[i + 1] - ranks[i]:
            j += 1
        j = min(j, len(ranks) - 1)
        step = ranks[j] - ranks[j - 1] if j > i else 1
        if j - i < 2 and step != 1:
            j, step = i, 1
        out.append((ranks[i], ranks[j], step))
        i = j + 1
    return out


RANGES = st.tuples(st.integers(0, 300), st.integers(1, 300), st.integers(1, 9)).map(
    lambda r: [*range(r[0], min(600, r[0] + r[1] * r[2]), r[2])]
)
MEMBERS = st.one_of(RANGES, st.sets(st.integers(0, 599), min_size=1).map(sorted))


@settings(max_examples=500)
@given(MEMBERS, st.integers(1, 2000))
def test_sets_are_spread_as_rank_by_rank(members: list[int], new: int) -> None:
    chosen = spread_by_rank(members, 600, new, round(len(members) * new / 600))
    ranges = units.ranges_of(members)
    assert ranges == greedy(members) == units.ranges_of_array(np.array(members))
    assert rank_sets.scale_ranges(ranges, 600, new) == (list(ranges) if new == 600 else greedy(chosen))


@settings(max_examples=500)
@given(MEMBERS, st.data(), st.integers(1, 2000))
def test_sets_within_a_set_are_spread_as_rank_by_rank(
    whole: list[int], data: st.DataObject, new: int
) -> None:
    a, b = sorted(data.draw(st.lists(st.integers(0, len(whole) - 1), min_size=2, max_size=2)))
    part = whole[a : b + 1 : data.draw(st.integers(1, 3))]
    before, inner = units.ranges_of(whole), units.ranges_of(part)
    scaled = rank_sets.scale_ranges(before, 600, new)
    found = rank_sets.scale_within(inner, before, scaled, 600, new)
    if inner == before or new == 600:
        assert found == (scaled if inner == before else inner)
        return
    after = [rank for first, last, step in scaled for rank in range(int(first), int(last) + 1, int(step))]
    wanted = 1 if len(part) == 1 else round(len(part) * len(after) / len(whole))
    places = [whole.index(rank) for rank in part]
    assert found == greedy([after[i] for i in spread_by_rank(places, len(whole), len(after), wanted)])


@pytest.mark.parametrize("ranks", [1000, 999_999])
@pytest.mark.parametrize("step", [1, 3])
def test_many_sets_of_a_million_ranks(ranks: int, step: int) -> None:
    """No set is made rank by rank; only a few are checked so, and others compared with these."""
    sets = [(i, i + 3 * 166_666, step) for i in range(300 if step == 1 else 30)]
    found, lines = lines_run(
        lambda: [rank_sets.scale_within([part], None, "all", 10**6, ranks) for part in sets]
    )
    assert lines < MOST_LINES_OF_A_SET * len(sets)
    members = [*range(7, 7 + 3 * 166_666 + 1, step)]
    wanted = round(len(members) * ranks / 10**6)
    assert found[7] == greedy(spread_by_rank(members, 10**6, ranks, wanted))


@pytest.mark.parametrize(
    ("ranges", "new", "scaled"),
    [
        ([(0, 55, 1)], 1024, [(0, 111, 1)]),
        ([(0, 504, 8)], 1024, [(0, 1016, 8)]),
        ([(0, 504, 8)], 64, [(0, 56, 8)]),
        ([(256, 511, 1)], 4, [(2, 3, 1)]),
        ([(3, 3, 1)], 4, [(0, 0, 1)]),
    ],
)
def test_a_subset_stays_spread(
    ranges: list[tuple[int, int, int]], new: int, scaled: list[tuple[int, int, int]]
) -> None:
    assert rank_sets.scale_ranges(ranges, 512, new) == scaled


STRIDED = """\
workalike: 2
ranks: 2
families:
- role: scratch
  interface: posix
  sharing: per-rank
  schedule: {start: [0 s]}
  content:
    streams: [{direction: write, sizes: [8/rank x 1 MiB], pattern: strided, stride: 3 MiB}]
"""


def test_strides_are_kept_in_blocks() -> None:
    workload = parse_workload(STRIDED)
    fewer = resolve(workload, Options(bytes_scale=Fraction(1, 4))).contents[0].streams[0]
    assert (fewer.entries, fewer.stride) == ([(4, 2**20)], 3 * 2**20)
    smaller = resolve(workload, Options(bytes_scale=Fraction(1, 4), scale_by="size")).contents[0].streams[0]
    assert (smaller.entries, smaller.stride) == ([(16, 2**18)], 3 * 2**18)


GROWING = """\
workalike: 2
ranks: 8
families:
- role: checkpoint
  interface: hdf5
  schedule: {count: 4, every: 10 s}
  sizes: 1000000007 B
  growth: [1.25, 1.1, 0.9]
  content: {fit: {datasets: 3}}
"""


def test_growth_is_a_double_applied_to_the_base() -> None:
    base = 1_000_000_007
    plan = resolve(parse_workload(GROWING), Options())
    wanted = [base, round(base * 1.25), round(base * (1.25 * 1.1)), round(base * (1.25 * 1.1 * 0.9))]
    assert moved(plan, 0) == wanted
    half = resolve(parse_workload(GROWING), Options(bytes_scale=Fraction(1, 2)))
    assert moved(half, 0) == [round(Fraction(size, 2)) for size in wanted]


@pytest.mark.parametrize(
    ("bad", "word"), [(Options(ranks=2**30), "--ranks"), (Options(bytes_scale=Fraction(0)), "--bytes-scale")]
)
def test_impossible_options(bad: Options, word: str) -> None:
    with pytest.raises(WorkalikeError) as caught:
        resolve(parse_workload(GROWING), bad)
    assert caught.value.kind is ErrorKind.USAGE and word in caught.value.message


def test_nothing_to_replicate() -> None:
    with pytest.raises(WorkalikeError) as caught:
        resolve(Workload(ranks=1, families=[]), Options())
    assert caught.value.kind is ErrorKind.NOTHING_TO_REPLICATE


ARRAYS = """\
workalike: 2
ranks: 4
families:
- role: visualization
  interface: hdf5
  level: h5d
  schedule: {start: [0 s]}
  content:
    arrays:
    - datasets: 3
      dims: [128, 128, 48]
      chunk: [64, 64, 48]
      access:
      - direction: write
        slabs:
        - {count: 24, shape: [9, 9, 9]}
        - {count: 33, shape: [120, 11, 30]}
        - {count: 12, shape: [30, 2, 16], stride: [2, 1, 3]}
"""


@pytest.mark.parametrize(
    "factor", [Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(3)]
)
@pytest.mark.parametrize("by", ["count", "size"])
def test_datasets_shrink_and_grow_with_their_bytes(factor: Fraction, by: str) -> None:
    workload = parse_workload(ARRAYS)
    full = resolve(workload, Options()).contents[0]
    scaled = resolve(workload, Options(bytes_scale=factor, scale_by=by)).contents[0]  # type: ignore[arg-type]
    want = bytes_of(full, Direction.WRITE) * factor
    assert bytes_of(scaled, Direction.WRITE) == pytest.approx(float(want), rel=0.05)
    arrays = scaled.arrays[0]
    elements = math.prod(full.arrays[0].dims) * factor
    assert math.prod(arrays.dims) >= min(elements, 1)
    assert arrays.chunk is not None and all(c <= d for c, d in zip(arrays.chunk, arrays.dims, strict=True))
    assert sum(count for count, _, _ in arrays.access[0].entries) >= 3 * 4  # kinds of slab, ranks
    for _, shape, stride in arrays.access[0].entries:
        for n, s, d in zip(shape, stride, arrays.dims, strict=True):
            assert (n - 1) * s + 1 <= d


@SOME
@given(workloads(kinds=("arrays",)), options)
def test_any_dataset_stays_valid(workload: Workload, asked: Options) -> None:
    for content in resolve(workload, asked).contents:
        for arrays in content.arrays:
            assert arrays.chunk is None or all(c <= d for c, d in zip(arrays.chunk, arrays.dims, strict=True))
            for access in arrays.access:
                for count, shape, stride in access.entries:
                    assert count >= 1 and all(n >= 1 for n in shape)
                    assert all(
                        (n - 1) * s + 1 <= d for n, s, d in zip(shape, stride, arrays.dims, strict=True)
                    )


TOO_LARGE = """\
workalike: 2
ranks: 4
families:
- role: checkpoint
  interface: hdf5
  schedule: {count: 1}
  content: {fit: {datasets: 2}}
  sizes: 1 PiB
"""


def test_a_scale_beyond_64_bits_is_an_error_in_one_line() -> None:
    with pytest.raises(WorkalikeError, match="--bytes-scale") as caught:
        resolve(parse_workload(TOO_LARGE), Options(bytes_scale=Fraction(10**6)))
    assert caught.value.kind is ErrorKind.USAGE
    assert "bytes" in (caught.value.place or "")


@pytest.mark.parametrize("first", [0, 2])
def test_a_dataset_grows_where_it_is_extended(first: int) -> None:
    """Dumps of other sizes have other rows: the extents of the file are those of the first dump."""
    shape = [4, 10]
    shape.insert(first, 1)
    slab = [1 if d == 4 else d for d in shape]
    text = f"""\
workalike: 2
ranks: 4
families:
- role: visualization
  interface: hdf5
  level: h5d
  lifetime: appended
  schedule: {{start: [0 s, 1 s, 2 s]}}
  sizes: [320 B, 640 B, 1280 B]
  content:
    arrays:
    - dims: {shape}
      chunk: {shape}
      extendible: true
      unlimited: {first}
      access: [{{direction: write, slabs: [{{count: 4, shape: {slab}}}]}}]
"""
    plan = resolve(parse_workload(text), Options())
    dims = [plan.contents[dump.content].arrays[0].dims for dump in plan.dumps]
    assert [extents.pop(first) for extents in dims] == [1, 2, 4]
    assert dims == [[4, 10]] * 3
