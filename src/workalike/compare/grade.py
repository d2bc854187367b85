"""The grade of a replica: bytes, and all determined counters, line by line (docs/architecture.md, "Verdict").

*Model against log*: does the workload say what the log says? *Replica against model*: did the engine do it? *Storage*:
do both logs show the same calls where the file system begins? The grade is that of the worst line. Times have no part
in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from workalike.compare.fidelity_schema import (
    AgreementFidelity,
    CoverageFidelity,
    FamilyFidelity,
    GradeReason,
    GradeWord,
    Line,
    LineFidelity,
    LinesFidelity,
    UncoveredShare,
    VerdictFidelity,
)
from workalike.compare.storage import StorageLine
from workalike.compare.weights import ALL_ALIKE, LEAST_WEIGHT, Weights, words_of
from workalike.predict.agreement import DeterminedRow, share
from workalike.predict.prediction import Key
from workalike.text import plural
from workalike.workload.model import LEAST_COVERAGE_PCT

FAITHFUL_BYTES_PCT = 0.1
FAITHFUL_ERROR = 0.05
CLOSE_BYTES_PCT = 5.0
CLOSE_ERROR = 0.15
CLOSE_SHARE = 0.9
MOST_REASONS = 50
"""Reasons that are kept of each line, those with the largest errors."""
NO_COUNTER = "no counter is determined"
GRADES: tuple[GradeWord, ...] = ("exact", "faithful", "close", "different")
"""From the best to the worst."""


def graded(
    families: Sequence[FamilyFidelity],
    model: Sequence[DeterminedRow],
    replica: Sequence[DeterminedRow],
    storage: StorageLine | None = None,
    *,
    left_out: UncoveredShare,
    complete: bool,
    coverage: CoverageFidelity | None = None,
    weights: Weights = ALL_ALIKE,
    has_log: bool = True,
) -> VerdictFidelity:
    """The grade and what speaks against a better one, the largest errors first.

    Args:
        families: with their errors in bytes, per cent.
        model: the workload's plan against the log.
        replica: what was counted against the replica's plan.
        storage: the replica's log against the log; None: not compared.
        left_out: what of the log the workload does not have.
        complete: the run ended, and no call failed.
        coverage: what of the log the workload has; None: all of it.
        weights: of the families.
        has_log: the original is a log; where it is a workload, the model is not judged.
    """
    storage = storage or StorageLine(why="not compared")
    coverage = coverage or CoverageFidelity()
    rows: list[tuple[Line, DeterminedRow]] = [("model", row) for row in model]
    rows += [("replica", row) for row in replica]
    rows += [("storage", row) for row in storage.rows]
    reasons = [_of_bytes(family) for family in families if worst_bytes(family) > 0]
    reasons += [_of_row(line, row) for line, row in rows if row.error > 0]
    reasons += _of_left_out(left_out)
    reasons += _of_coverage(coverage)
    reasons.sort(key=lambda reason: -reason.error_pct)
    lines = LinesFidelity(
        model=_model_line(model, weights, left_out, coverage, has_log),
        replica=_line(replica, weights, families),
        storage=_line(storage.rows, weights, [])
        if storage.judged and storage.rows
        else LineFidelity(why=storage.why or NO_COUNTER),
    )
    lines.storage.library, lines.storage.libraries = storage.library, storage.libraries
    grade: GradeWord = "empty" if not families else "unfinished"
    if families and complete:
        grade = max((line.grade for line in _judged(lines) if line.grade), key=GRADES.index)
    return VerdictFidelity(grade=grade, lines=lines, reasons=_largest(reasons))


def _largest(reasons: Sequence[GradeReason]) -> list[GradeReason]:
    """The first reasons of each line, in their order."""
    kept: Counter[Line] = Counter()
    out = []
    for reason in reasons:
        kept[reason.line] += 1
        if kept[reason.line] <= MOST_REASONS:
            out.append(reason)
    return out


def agreement_of(
    model: Sequence[DeterminedRow], replica: Sequence[DeterminedRow], fitted: Collection[Key] = ()
) -> AgreementFidelity:
    """The share of determined counters within 5 % on either line; `fitted` are the families that counters chose."""
    return AgreementFidelity(
        model=share(model),
        replica=share(replica),
        counters_model=len(model),
        counters_replica=len(replica),
        counters_fitted=sum(any(key in fitted for key in row.group) for row in model),
    )


def worst_bytes(family: FamilyFidelity) -> float:
    """The larger of a family's errors in bytes, per cent: of the total, and of any dump."""
    return max(family.total_bytes_error_pct, family.bytes_error_max_pct)


def _judged(lines: LinesFidelity) -> list[LineFidelity]:
    return [line for line in (lines.model, lines.replica, lines.storage) if line.judged]


def _model_line(
    rows: Sequence[DeterminedRow],
    weights: Weights,
    left_out: UncoveredShare,
    coverage: CoverageFidelity,
    has_log: bool,
) -> LineFidelity:
    if not has_log:
        return LineFidelity(why="the original is a workload, not a log")
    line = _line(rows, weights, [], left_out, coverage)
    return line if rows or line.grade != "exact" else LineFidelity(why=NO_COUNTER)


def _line(
    rows: Sequence[DeterminedRow],
    weights: Weights,
    families: Sequence[FamilyFidelity],
    left_out: UncoveredShare | None = None,
    coverage: CoverageFidelity | None = None,
) -> LineFidelity:
    """The grade of a line: of its rows, of the families' bytes, and of what the workload leaves out."""
    lost = left_out.bytes_pct if left_out is not None else 0.0
    capped = left_out is not None and left_out.unknown_files > 0
    capped |= coverage is not None and coverage.least < LEAST_COVERAGE_PCT
    off = max([lost, *map(worst_bytes, families)])
    heavy = [
        worst_bytes(family) for family in families if weights.by_family.get(family.name, 1.0) >= LEAST_WEIGHT
    ]
    near = max([lost, *heavy]) <= CLOSE_BYTES_PCT and _is_near(rows, weights)
    return LineFidelity(grade=_grade(rows, off, capped=capped, near=near), counters=len(rows), judged=True)


def _grade(rows: Sequence[DeterminedRow], off: float, *, capped: bool, near: bool) -> GradeWord:
    if not capped and off == 0 and all(row.is_equal for row in rows):
        return "exact"
    if not capped and off <= FAITHFUL_BYTES_PCT and all(row.error <= FAITHFUL_ERROR for row in rows):
        return "faithful"
    return "close" if near else "different"


def _is_near(rows: Sequence[DeterminedRow], weights: Weights) -> bool:
    """Whether nine tenths of the weight are within 15 %. A counter has the weight of its family."""
    heavy = [(row, weight) for row in rows if (weight := weights.weight(row.group)) >= LEAST_WEIGHT]
    whole = sum(weight for _, weight in heavy)
    return sum(weight for row, weight in heavy if row.error <= CLOSE_ERROR) >= CLOSE_SHARE * whole - 1e-9


def _of_left_out(left_out: UncoveredShare) -> list[GradeReason]:
    if not left_out.bytes_pct and not left_out.unknown_files:
        return []
    lost = ["bytes"] if left_out.bytes_pct else []
    if left_out.unknown_files:
        lost.append(f"{plural(left_out.unknown_files, 'file')} of unknown size")
    return [_reason("model", "left out", left_out.reason, " and ".join(lost), left_out.bytes_pct)]


def _of_coverage(coverage: CoverageFidelity) -> list[GradeReason]:
    """What the workload has too little of, of calls and of I/O time."""
    parts = (("calls", coverage.calls_pct), ("I/O time", coverage.seconds_pct))
    return [
        _reason("model", "left out", "files in no family", what, 100 - pct)
        for what, pct in parts
        if pct < LEAST_COVERAGE_PCT
    ]


def _reason(line: Line, family: str, module: str, counter: str, error_pct: float) -> GradeReason:
    return GradeReason(
        line=line,
        family=family,
        module=module,
        counter=counter,
        expected=None,
        found=None,
        error_pct=error_pct,
    )


def _of_row(line: Line, row: DeterminedRow) -> GradeReason:
    return GradeReason(
        line=line,
        family=words_of(row.group),
        module=row.module,
        counter=row.counter,
        expected=row.expected,
        found=row.found,
        error_pct=100 * row.error,
    )


def _of_bytes(family: FamilyFidelity) -> GradeReason:
    whole = family.total_bytes_error_pct >= family.bytes_error_max_pct
    return GradeReason(
        line="replica",
        family=family.name,
        module=family.level.value,
        counter="bytes" if whole else "bytes of a dump",
        expected=family.bytes_expected if whole else None,
        found=family.bytes_replica if whole else None,
        error_pct=worst_bytes(family),
    )
