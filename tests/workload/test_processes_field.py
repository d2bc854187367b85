"""The processes of a job in a workload file: which ranks live only a part of the run."""

from __future__ import annotations

import pytest

from workalike.errors import ErrorKind, WorkalikeError
from workalike.workload.disclosure import disclose
from workalike.workload.model import Processes
from workalike.workload.privacy import disclosing_less
from workalike.workload.summary import summarize
from workalike.workload.what_if import changed, parse_what_if
from workalike.workload.words import Privacy
from workalike.workload.workload_file import parse_workload, workload_text

HEAD = "workalike: 2\nranks: 8\nruntime: 100 s\n"
FAMILY = """families:
- role: checkpoint
  interface: posix
  schedule: {count: 4, first: 10 s, every: 20 s}
  content: {streams: [{direction: write, sizes: [1/rank x 1 MiB]}]}
"""
LIVES = """processes:
- {ranks: 1-3, start: 12.345 s, end: 60 s}
- {ranks: 5, end: 33.3 s}
- {ranks: 6-7, start: 20 s}
"""


def test_it_is_read_and_written() -> None:
    workload = parse_workload(HEAD + LIVES + FAMILY)
    assert workload.processes == [
        Processes(ranks=[(1, 3, 1)], start=12.345, end=60.0),
        Processes(ranks=[(5, 5, 1)], end=33.3),
        Processes(ranks=[(6, 7, 1)], start=20.0),
    ]
    assert LIVES in workload_text(workload)
    assert parse_workload(workload_text(workload)) == workload
    assert "processes" not in workload_text(parse_workload(HEAD + FAMILY))


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ("{ranks: 1, start: 5 s, end: 4 s}", "end before they begin"),
        ("{ranks: 1, start: -5 s}", "start"),
        ("{ranks: 1, end: 101 s}", "later than the run"),
        ("{ranks: 1, start: 1e12}", "between 0 and 1000000000"),
        ("{ranks: 8}", "names? rank 8"),
        ("{ranks: 1-3}, {ranks: 3}", "name each rank once"),
        ("{ranks: all}, {ranks: 3}", "name each rank once"),
        ("{start: .nan}", "start"),
        ("{ranks: 1, name: x}", "no such field"),
        ("7", "must have fields"),
    ],
)
def test_impossible_lives_are_refused(groups: str, reason: str) -> None:
    with pytest.raises(WorkalikeError, match=reason) as refused:
        parse_workload(f"{HEAD}processes: [{groups}]\n{FAMILY}")
    assert refused.value.kind is ErrorKind.BAD_WORKLOAD
    assert "\n" not in str(refused.value)


def test_a_run_of_unknown_length_has_lives() -> None:
    text = HEAD.replace("runtime: 100 s\n", "") + LIVES + FAMILY
    assert len(parse_workload(text).processes) == 3


def test_rounding_keeps_their_order() -> None:
    rounded = disclosing_less(parse_workload(HEAD + LIVES + FAMILY), Privacy.ROUNDED)
    assert [(group.start, group.end) for group in rounded.processes] == [(12, 60), (0, 33), (20, None)]


def test_later_dumps_let_processes_live_longer() -> None:
    workload = changed(
        parse_workload(HEAD + LIVES + FAMILY), parse_what_if(["checkpoint.every=30s", "checkpoint.count=4"])
    )
    assert workload.runtime == pytest.approx(130.0)
    assert [group.end for group in workload.processes] == [pytest.approx(90.0), pytest.approx(63.3), None]


def test_it_is_told() -> None:
    workload = parse_workload(HEAD + LIVES + FAMILY)
    lines = summarize(workload)
    assert "6 of 8 ranks live only a part of the run:" in lines
    assert any(
        "ranks 1-3: from 12.3 s to 1 min" in line or "ranks 1-3: from 12.3 s to 60" in line for line in lines
    )
    found = {d.field: d.value for d in disclose(workload) if d.place == "processes"}
    assert found == {"ranks": "1-3, 5, 6-7", "start": "12.345 s, 0 s, 20 s", "end": "60 s, 33.3 s"}
