"""`--privacy LEVEL`: sizes and times say less, the pattern is untouched, the workload stays valid."""

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
from workalike.workload.model import Direction, Privacy, Workload
from workalike.workload.privacy import Digits, Powers, disclosing_less
from workalike.workload.workload_file import parse_workload, workload_text

LEVELS = st.sampled_from([Privacy.ROUNDED, Privacy.SUMMARY])
SOME = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@given(st.integers(0, 2**60), st.integers(1, 6))
def test_a_size_has_that_many_digits(size: int, digits: int) -> None:
    grain = Digits(digits)
    rounded = grain.size(size)
    assert abs(rounded - size) <= 0.5 * 10 ** (1 - digits) * size
    assert grain.size(rounded) == rounded and grain.more(size) >= size
    assert rounded == size or len(str(rounded).rstrip("0")) <= digits


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=9), st.integers(1, 6))
def test_times_keep_their_order(times: list[float], digits: int) -> None:
    rounded = [Digits(digits).time(t) for t in sorted(times)]
    assert rounded == sorted(rounded)


@given(st.integers(3, 2**60))
def test_a_size_is_a_power_of_two(size: int) -> None:
    rounded, more = Powers().size(size), Powers().more(size)
    assert rounded.bit_count() == more.bit_count() == 1
    assert 2 * abs(rounded - size) <= size and size <= more < 2 * size
    assert Powers().size(rounded) == rounded


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
    assert Digits(digits).size(size) == rounded


@SOME
@given(workloads(), LEVELS)
def test_it_stays_valid_and_is_rounded_once(workload: Workload, privacy: Privacy) -> None:
    rounded = disclosing_less(workload, privacy)
    assert parse_workload(workload_text(rounded)) == rounded
    assert disclosing_less(rounded, privacy) == rounded


@SOME
@given(workloads(), LEVELS)
def test_the_pattern_is_untouched(workload: Workload, privacy: Privacy) -> None:
    rounded = disclosing_less(workload, privacy)
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
    rounded = disclosing_less(workload, Privacy.ROUNDED)
    for family, other in zip(workload.families, rounded.families, strict=True):
        for direction in Direction:
            moved = sum(phrases.dump_bytes(family, workload.ranks, direction))
            assert sum(phrases.dump_bytes(other, workload.ranks, direction)) == pytest.approx(moved, rel=0.06)
    for number in re.findall(r"(?<![\w.])([0-9]+(?:\.[0-9]+)?) (?:k?B|MB|GB|s)\b", workload_text(rounded)):
        assert len(number.replace(".", "").strip("0")) <= 2 or float(number) < 100, number


@pytest.mark.parametrize("privacy", [Privacy.ROUNDED, Privacy.SUMMARY])
def test_the_largest_workloads_can_be_rounded(privacy: Privacy) -> None:
    text = """\
workalike: 2
ranks: 1
families:
- role: checkpoint
  interface: posix
  schedule: {count: 1}
  content: {streams: [{direction: write, sizes: [3 x 1125899906842623 B], base: 1125899906842623 B}]}
"""
    rounded = disclosing_less(parse_workload(text), privacy)
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
    with pytest.raises(WorkalikeError, match="--privacy rounded") as caught:
        disclosing_less(parse_workload(text), Privacy.ROUNDED)
    assert caught.value.kind is ErrorKind.USAGE
    assert caught.value.one_line().isprintable()
