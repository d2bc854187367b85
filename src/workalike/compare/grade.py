"""The grade of a replica: bytes, and all determined counters over two lines (docs/architecture.md, "Verdict").

*Model against log*: does the workload say what the log says? *Replica against model*: did the engine do it? Times have no
part in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from workalike.compare.fidelity_schema import (
    AgreementFidelity,
    FamilyFidelity,
    GradeReason,
    GradeWord,
    Line,
    UncoveredShare,
    VerdictFidelity,
)
from workalike.predict.agreement import DeterminedRow, share
from workalike.text import plural

FAITHFUL_BYTES_PCT = 0.1
FAITHFUL_ERROR = 0.05
CLOSE_BYTES_PCT = 5.0
CLOSE_ERROR = 0.15
CLOSE_SHARE = 0.9
MOST_REASONS = 50


def graded(
    families: Sequence[FamilyFidelity],
    model: Sequence[DeterminedRow],
    replica: Sequence[DeterminedRow],
    *,
    left_out: UncoveredShare,
    complete: bool,
) -> VerdictFidelity:
    """The grade and what speaks against a better one, the largest errors first.

    Args:
        families: with their errors in bytes, per cent.
        model: the workload's plan against the log.
        replica: what was counted against the replica's plan.
        left_out: what of the log the workload does not have.
        complete: the run ended, and no call failed.
    """
    rows: list[tuple[Line, DeterminedRow]] = [("model", row) for row in model]
    rows += [("replica", row) for row in replica]
    reasons = [_of_bytes(family) for family in families if worst_bytes(family) > 0]
    reasons += [_of_row(line, row) for line, row in rows if row.error > 0]
    reasons += _of_left_out(left_out)
    reasons.sort(key=lambda reason: -reason.error_pct)
    grade = _grade(families, [row for _, row in rows], left_out, complete=complete)
    return VerdictFidelity(grade=grade, reasons=reasons[:MOST_REASONS])


def agreement_of(model: Sequence[DeterminedRow], replica: Sequence[DeterminedRow]) -> AgreementFidelity:
    """The share of determined counters within 5 % on either line."""
    return AgreementFidelity(
        model=share(model), replica=share(replica), counters_model=len(model), counters_replica=len(replica)
    )


def worst_bytes(family: FamilyFidelity) -> float:
    """The larger of a family's errors in bytes, per cent: of the total, and of any dump."""
    return max(family.total_bytes_error_pct, family.bytes_error_max_pct)


def _grade(
    families: Sequence[FamilyFidelity],
    rows: Sequence[DeterminedRow],
    left_out: UncoveredShare,
    *,
    complete: bool,
) -> GradeWord:
    """`unfinished` and `empty` are states: nothing is graded."""
    if not families:
        return "empty"
    if not complete:
        return "unfinished"
    off = max(left_out.bytes_pct, *map(worst_bytes, families))
    is_known = not left_out.unknown_files
    errors = [row.error for row in rows]
    if is_known and off == 0 and not any(errors):
        return "exact"
    if is_known and off <= FAITHFUL_BYTES_PCT and all(error <= FAITHFUL_ERROR for error in errors):
        return "faithful"
    near = sum(error <= CLOSE_ERROR for error in errors)
    if off <= CLOSE_BYTES_PCT and near >= CLOSE_SHARE * len(errors):
        return "close"
    return "different"


def _of_left_out(left_out: UncoveredShare) -> list[GradeReason]:
    if not left_out.bytes_pct and not left_out.unknown_files:
        return []
    lost = ["bytes"] if left_out.bytes_pct else []
    if left_out.unknown_files:
        lost.append(f"{plural(left_out.unknown_files, 'file')} of unknown size")
    return [
        GradeReason(
            line="model",
            family="left out",
            module=left_out.reason,
            counter=" and ".join(lost),
            expected=None,
            found=None,
            error_pct=left_out.bytes_pct,
        )
    ]


def _of_row(line: Line, row: DeterminedRow) -> GradeReason:
    return GradeReason(
        line=line,
        family=" + ".join(f"{role.value} {number}" for role, number in row.group),
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
