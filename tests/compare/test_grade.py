"""Planted errors: a workload that is wrong in one way is never called faithful, and the counter that shows it is named."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from compare_builders import original, record, record_dump

from workalike.compare.fidelity import compare
from workalike.compare.fidelity_schema import CoverageFidelity, FamilyFidelity, UncoveredShare
from workalike.compare.grade import agreement_of, graded
from workalike.compare.storage import StorageLine
from workalike.plan.resolve import Options, resolve
from workalike.predict.agreement import DeterminedRow, rows_of
from workalike.predict.prediction import predicted
from workalike.workload.model import Role, Workload

RANKS = 8
KEY = (Role.SCRATCH, 1)
TRUE: dict[str, Any] = {
    "role": "scratch", "interface": "posix", "sharing": "shared", "lifetime": "reused",
    "schedule": {"count": 3, "first": "1 s", "every": "1 s"},
    "content": {
        "fsyncs": 8,
        "seeks": 16,
        "passes": 2,
        "streams": [
            {"direction": "write", "sizes": ["64 x 60000 B", "16 x 1000 B"], "pattern": "interleaved"},
            {"direction": "read", "sizes": ["64 x 60000 B"], "pattern": "interleaved"},
        ],
    },
}  # fmt: skip


def changed(path: str, value: object) -> dict[str, Any]:
    """The true family with one value changed; `path` like `content.streams.0.pattern`."""
    family = copy.deepcopy(TRUE)
    *places, last = path.split(".")
    at: Any = family
    for place in places:
        at = at[int(place)] if place.isdigit() else at[place]
    at[last] = value
    return family


PLANTED = {
    "offset": (changed("content.streams.0.base", "1 MiB"), {"MAX_BYTE_WRITTEN"}),
    "pass more": (changed("content.passes", 3), {"WRITES", "READS", "BYTES_WRITTEN", "RW_SWITCHES"}),
    "passes laid end to end": (
        {**TRUE, "content": {**TRUE["content"], "passes": 1, "streams": [s | {"repeat": 2} for s in TRUE["content"]["streams"]]}},
        {"MAX_BYTE_WRITTEN", "MAX_BYTE_READ", "RW_SWITCHES"},
    ),
    "contiguous": (changed("content.streams.0.pattern", "contiguous"), {"CONSEC_WRITES"}),
    "random": (changed("content.streams.1.pattern", "random"), {"SEQ_READS"}),
    "every rank reads all": (changed("content.streams.1.pattern", "replicated"), {"CONSEC_READS"}),
    "one rank writes": (changed("content.streams.0.ranks", 0), {"CONSEC_WRITES"}),
    "a file per rank": (changed("sharing", "per-rank"), {"MAX_BYTE_WRITTEN"}),
    "appended": (changed("lifetime", "appended"), {"OPENS", "MAX_BYTE_WRITTEN"}),
    "no sync": (changed("content.fsyncs", 0), {"FSYNCS"}),
    "mapped": (changed("content.maps", 5), {"MMAPS"}),
    "no seeks": (changed("content.seeks", 0), {"SEEKS"}),
    "other sizes": (changed("content.streams.0.sizes", ["128 x 30000 B", "16 x 1000 B"]), {"WRITES"}),
    "unaligned": (changed("content.streams.0.base", "1 B"), set()),
    "a dump less": (changed("schedule.count", 2), {"WRITES", "OPENS"}),
}  # fmt: skip


NOTHING = UncoveredShare(bytes_pct=0.0, reason="none")


def counted(family: dict[str, Any]) -> Any:
    document = {"workalike": 2, "ranks": RANKS, "families": [family]}
    plan = resolve(Workload.model_validate(document), Options())
    return predicted(plan, [4096])[KEY]["POSIX"]


def no_bytes_off() -> list[FamilyFidelity]:
    """Families whose bytes are exact: the counters alone decide."""
    return compare(original(dumps=1), record(record_dump(0))).families


def rows_against_truth(family: dict[str, Any]) -> list[DeterminedRow]:
    return list(rows_of((KEY,), "POSIX", counted(TRUE), counted(family)))


@pytest.mark.parametrize("name", PLANTED)
def test_planted_errors_are_found(name: str) -> None:
    wrong, shown_by = PLANTED[name]
    rows = rows_against_truth(wrong)
    off = {row.counter for row in rows if not row.agrees}
    assert shown_by <= off
    assert off
    verdict = graded(no_bytes_off(), rows, [], left_out=NOTHING, complete=True)
    assert verdict.grade in ("close", "different")
    assert off <= {reason.counter for reason in verdict.reasons}


def test_the_truth_is_exact() -> None:
    rows = rows_against_truth(TRUE)
    verdict = graded(no_bytes_off(), rows, rows, left_out=NOTHING, complete=True)
    assert (verdict.grade, verdict.reasons) == ("exact", [])
    agreement = agreement_of(rows, rows)
    assert (agreement.model, agreement.replica, agreement.counters_model) == (1.0, 1.0, len(rows))


def row(expected: int, found: int) -> DeterminedRow:
    return DeterminedRow((KEY,), "POSIX", "SEEKS", expected, found)


@pytest.mark.parametrize(
    ("rows", "grade"),
    [
        ([(100, 100)], "exact"),
        ([(100, 105)], "faithful"),
        ([(1000, 1051)], "close"),
        ([(100, 115)], "close"),
        ([(100, 116)], "different"),
        ([(100, 116)] + 9 * [(1, 1)], "close"),  # nine in ten are near
        ([(100, 116)] + 8 * [(1, 1)], "different"),
        ([(0, 1)], "different"),  # nothing was expected
    ],
)
def test_limits_of_the_grades(rows: list[tuple[int, int]], grade: str) -> None:
    for line in (0, 1):
        both = [[], [row(*pair) for pair in rows]]
        verdict = graded(no_bytes_off(), both[line], both[1 - line], left_out=NOTHING, complete=True)
        assert verdict.grade == grade


def test_states_are_no_grades() -> None:
    assert graded([], [], [], left_out=NOTHING, complete=True).grade == "empty"
    assert graded(no_bytes_off(), [row(1, 1)], [], left_out=NOTHING, complete=False).grade == "unfinished"


@pytest.mark.parametrize(
    ("share", "unknown", "grade"),
    [
        (0, 0, "exact"),
        (0.05, 0, "faithful"),
        (3, 0, "close"),
        (40, 0, "different"),
        (0, 7, "close"),
        (40, 7, "different"),
    ],
)
def test_what_is_left_out_speaks_against_a_grade(share: float, unknown: int, grade: str) -> None:
    rows = rows_against_truth(TRUE)
    left_out = UncoveredShare(bytes_pct=share, reason="partial-module", unknown_files=unknown)
    verdict = graded(no_bytes_off(), rows, rows, left_out=left_out, complete=True)
    assert verdict.grade == grade
    assert bool(verdict.reasons) == bool(share or unknown)


def test_a_line_without_a_counter_is_not_judged() -> None:
    nothing = graded(no_bytes_off(), [], [], StorageLine(judged=True), left_out=NOTHING, complete=True)
    assert [line.judged for line in (nothing.lines.model, nothing.lines.replica, nothing.lines.storage)] == [
        False, True, False,
    ]  # fmt: skip
    left_out = UncoveredShare(bytes_pct=0.0, reason="mmap", unknown_files=1)
    assert graded(no_bytes_off(), [], [], left_out=left_out, complete=True).grade == "close"


@pytest.mark.parametrize(
    ("share", "grade"), [(100.0, "exact"), (95.0, "exact"), (94.9, "close"), (10.0, "close")]
)
@pytest.mark.parametrize("share_of", ["calls_pct", "seconds_pct"])
def test_little_coverage_caps_the_grade(share_of: str, share: float, grade: str) -> None:
    rows = rows_against_truth(TRUE)
    coverage = CoverageFidelity(**{share_of: share})
    verdict = graded(no_bytes_off(), rows, rows, left_out=NOTHING, complete=True, coverage=coverage)
    assert verdict.grade == grade
