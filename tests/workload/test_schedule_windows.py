"""Windows of reads and writes in a schedule: what is refused, how they are rounded and shown."""

from __future__ import annotations

import pytest

from workalike.errors import WorkalikeError
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Schedule, Window
from workalike.workload.privacy import disclosing_less
from workalike.workload.summary import summarize
from workalike.workload.words import Privacy
from workalike.workload.workload_file import parse_workload, workload_text

JOB = """\
workalike: 2
ranks: 2

families:
- role: output
  number: 1
  interface: posix
  level: posix
  sharing: shared
  lifetime: per-dump
  schedule: {fields}
  content: {{streams: [{{direction: write, sizes: [4 x 1 MiB]}}]}}
"""


def job(fields: str) -> str:
    return JOB.format(fields=f"{{start: [2, 12], {fields}}}")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("writes: {busy: 1 s}", "need `duration`"),
        ("duration: 5 s, writes: {first: 3 s, last: 2 s}", "`writes` end before they begin"),
        ("duration: 5 s, reads: {first: 3 s, last: [4 s, 2 s]}", "`reads` end before they begin"),
        (
            "duration: 5 s, writes: {first: [1 s, 2 s, 3 s]}",
            "`writes` has 3 values of `first` for 2 dumps",
        ),
        ("duration: 5 s, reads: {busy: [1 s]}", "`reads` has 1 values of `busy` for 2 dumps"),
        ("duration: 5 s, metadata: [1 s]", "1 times of metadata for 2 dumps"),
        ("duration: 5 s, writes: {middle: 1 s}", "there is no such field"),
        ("duration: 5 s, writes: {skew: [{ranks: 1, delay: 1 s, dump: 2}]}", "not one of 2"),
        ("duration: 5 s, reads: {skew: [{ranks: 1, delay: 1 s, dump: -1}]}", "greater than or equal to 0"),
    ],
)
def test_refused(fields: str, message: str) -> None:
    with pytest.raises(WorkalikeError, match=message) as caught:
        parse_workload(job(fields))
    assert "schedule" in caught.value.one_line()


def test_a_rank_is_late_once_in_a_dump() -> None:
    """In every dump and in one is not twice."""
    fields = (
        "duration: 5 s, writes: {{skew: [{{ranks: 1, delay: 1 s}}, {{ranks: 1, delay: 2 s, dump: {}}}{}]}}"
    )
    assert parse_workload(job(fields.format(1, "")))
    with pytest.raises(WorkalikeError, match="names rank 1, which another of them names"):
        parse_workload(job(fields.format(1, ", {ranks: 0-1, delay: 3 s, dump: 1}")))


def test_ranks_that_are_late_in_one_dump_are_shown_and_planned() -> None:
    skew = "[{ranks: 0-1, delay: 1 s}, {ranks: 1, delay: 2 s, dump: 1}, {ranks: 0, delay: 0 s, dump: 1}]"
    workload = parse_workload(job(f"duration: 5 s, writes: {{skew: {skew}}}"))
    found = "\n".join(summarize(workload))
    assert "2 ranks begin later in every dump, by at most 1 s" in found
    assert "2 ranks begin later in dump 1, by at most 2 s" in found
    skews = resolve(workload, Options()).families[0].skew
    assert skews is not None and skews.writes is not None
    assert [(late.ranks, late.delay_s, late.dump) for late in skews.writes] == [
        ([(0, 1, 1)], 1.0, None),
        ([(1, 1, 1)], 2.0, 1),
        ([(0, 0, 1)], 0.0, 1),
    ]
    assert parse_workload(workload_text(workload)) == workload


def test_the_text_has_one_line() -> None:
    text = job("duration: 5 s, writes: {first: [1.5, 2.5], busy: 20 ms}, metadata: 1 ms")
    shown = workload_text(parse_workload(text))
    assert (
        "  schedule: {start: [2, 12], duration: 5 s, writes: {first: [1.5, 2.5], busy: 0.02 s}, metadata: 0.001 s}\n"
        in shown
    )
    assert parse_workload(shown) == parse_workload(text)


def test_rounding() -> None:
    text = job(
        "duration: 5.55 s, writes: {first: 1.26 s, last: [1.29 s, 5.44 s], busy: 24.6 ms}, metadata: 1.21 ms"
    )
    (family,) = disclosing_less(parse_workload(text), Privacy.ROUNDED).families
    assert family.schedule.writes == Window(first=1.3, last=[1.3, 5.4], busy=0.025)
    assert family.schedule.metadata == 0.0012


def test_of_dumps() -> None:
    lengths = [5.0, 4.0]
    assert Window().of_dumps(lengths) == [(0, 5, 5), (0, 4, 4)]
    assert Window(first=1, last=[2, 9], busy=3).of_dumps(lengths) == [(1, 2, 1), (1, 4, 3)]
    assert Window(first=[0, 6], busy=[1, 2]).of_dumps(lengths) == [(0, 5, 1), (4, 4, 0)]


def test_lengths_and_ends() -> None:
    schedule = Schedule(start=[1, 2], duration=[3, 4])
    assert (schedule.lengths(), schedule.ends()) == ([3, 4], [4, 6])
    assert Schedule(start=[1, 2], duration=3).lengths() == [3, 3]


def test_in_words() -> None:
    text = "\n".join(
        summarize(parse_workload(job("duration: 5 s, writes: {first: [1, 2], last: 4 s, busy: 20 ms}")))
    )
    assert "writes begin 1 s to 2 s and end 4 s after its start; 20 ms inside calls" in text
