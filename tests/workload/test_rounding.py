"""`--round N`: every size and time has N digits, the pattern is untouched, the workload stays valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from known_logs import JOBS, by_rules, characterized_or_skip, job_name
from workload_strategies import workloads

from workalike.errors import ErrorKind, WorkalikeError
from workalike.workload import phrases
from workalike.workload.model import Direction, Workload
from workalike.workload.rounding import round_size, round_time, round_workload
from workalike.workload.workload_file import parse_workload, workload_text

SOME = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@given(st.integers(0, 2**60), st.integers(1, 6))
def test_a_size_has_that_many_digits(size: int, digits: int) -> None:
    rounded = round_size(size, digits)
    assert abs(rounded - size) <= 0.5 * 10 ** (1 - digits) * size
    assert round_size(rounded, digits) == rounded
    assert rounded == size or len(str(rounded).rstrip("0")) <= digits


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=9), st.integers(1, 6))
def test_times_keep_their_order(times: list[float], digits: int) -> None:
    rounded = [round_time(t, digits) for t in sorted(times)]
    assert rounded == sorted(rounded)


@pytest.mark.parametrize(
    ("size", "digits", "rounded"),
    [
        (64119, 2, 64000),
        (64119, 3, 64100),
        (134217728, 3, 134217728),  # 128 MiB: a binary unit says it in three digits
        (134217728, 2, 130000000),
        (98765, 1, 100000),
        (7, 1, 7),
        (2**50 - 1, 3, 1120 * 10**12),  # 1,130 x 10^12 would be more than an operation may move
    ],
)
def test_examples(size: int, digits: int, rounded: int) -> None:
    assert round_size(size, digits) == rounded


@SOME
@given(workloads(), st.integers(1, 5))
def test_it_stays_valid_and_is_rounded_once(workload: Workload, digits: int) -> None:
    rounded = round_workload(workload, digits)
    assert parse_workload(workload_text(rounded)) == rounded
    assert round_workload(rounded, digits) == rounded


@SOME
@given(workloads(), st.integers(2, 5))
def test_the_pattern_is_untouched(workload: Workload, digits: int) -> None:
    rounded = round_workload(workload, digits)
    assert (rounded.ranks, rounded.nodes) == (workload.ranks, workload.nodes)
    for family, other in zip(workload.families, rounded.families, strict=True):
        assert (family.role, family.number, family.sharing, family.lifetime) == (
            other.role,
            other.number,
            other.sharing,
            other.lifetime,
        )
        assert family.schedule.dumps == other.schedule.dumps
        assert family.tunable == other.tunable
        for a, b in zip(family.all_contents(), other.all_contents(), strict=True):
            assert _operations(a) == _operations(b)
            assert (a.opens, a.stats, a.seeks, a.fsyncs, a.flushes) == (
                b.opens,
                b.stats,
                b.seeks,
                b.fsyncs,
                b.flushes,
            )


def _operations(content: object) -> list[int]:
    return [sum(e.count for e in s.sizes) for s in content.streams]  # type: ignore[attr-defined]


@pytest.mark.parametrize("logs", JOBS[::4], ids=job_name)
def test_real_ones(logs: tuple[Path, ...]) -> None:
    workload = by_rules(characterized_or_skip(logs)).workload
    rounded = round_workload(workload, 3)
    for family, other in zip(workload.families, rounded.families, strict=True):
        for direction in Direction:
            moved = sum(phrases.dump_bytes(family, workload.ranks, direction))
            assert sum(phrases.dump_bytes(other, workload.ranks, direction)) == pytest.approx(moved, rel=0.02)
    for number in re.findall(r"(?<![\w.])([0-9]+(?:\.[0-9]+)?) (?:k?B|MB|GB|s)\b", workload_text(rounded)):
        assert len(number.replace(".", "").strip("0")) <= 3 or float(number) < 1000, number


@pytest.mark.parametrize("digits", [0, -1])
def test_no_digit_is_refused(digits: int) -> None:
    with pytest.raises(WorkalikeError) as caught:
        round_workload(Workload(ranks=1, families=[]), digits)
    assert caught.value.kind is ErrorKind.USAGE


@pytest.mark.parametrize("digits", range(1, 18))
def test_the_largest_workloads_can_be_rounded(digits: int) -> None:
    text = """\
workalike: 2
ranks: 1
families:
- role: checkpoint
  interface: posix
  schedule: {count: 1}
  content: {streams: [{direction: write, sizes: [3 x 1125899906842623 B], base: 1125899906842623 B}]}
"""
    rounded = round_workload(parse_workload(text), digits)
    assert parse_workload(workload_text(rounded)) == rounded


def test_what_rounding_makes_too_large_is_an_error_in_one_line() -> None:
    text = """\
workalike: 2
ranks: 1
families:
- role: checkpoint
  interface: posix
  schedule: {count: 1}
  content: {streams: [{direction: write, sizes: [1048575 x 1099500000000 B]}]}
"""
    with pytest.raises(WorkalikeError, match="more digits") as caught:
        round_workload(parse_workload(text), 2)
    assert caught.value.kind is ErrorKind.USAGE
    assert caught.value.one_line().isprintable()
