"""The comparison of an original (log or workload) with a replica (record or log), which gives a `Fidelity`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from workalike.characterize.result import Characterization
from workalike.compare.causes import causes_of
from workalike.compare.counters import counter_rows, histogram_distance
from workalike.compare.fidelity_schema import (
    CounterFidelity,
    CoverageFidelity,
    FamilyFidelity,
    Fidelity,
    HistogramDistance,
    LevelFidelity,
    ScaleFidelity,
    SetAsideFidelity,
    UncoveredPart,
    UncoveredShare,
    read_fidelity,
    write_fidelity,
)
from workalike.compare.grade import agreement_of, graded
from workalike.compare.lines import model_against_log, replica_against_model
from workalike.compare.pairing import Factors, Pair, Pairing, dump_error_pct, error_pct, pair_up, rounding
from workalike.compare.storage import storage_line
from workalike.compare.times import family_times, times_of
from workalike.compare.weights import weights_of
from workalike.facts.noise import REASONS
from workalike.facts.records import MODULE_OF_LEVEL
from workalike.plan.core import core_plan, counts_of
from workalike.plan.plan_schema import Plan
from workalike.predict.agreement import DeterminedRow
from workalike.predict.prediction import MOST_CALLS, has_more_calls
from workalike.record.run_record import Record
from workalike.workload.model import Coverage, Direction, Reason, Workload
from workalike.workload.words import LOST

__all__ = [
    "CounterFidelity",
    "FamilyFidelity",
    "Fidelity",
    "compare",
    "fidelity_of",
    "read_fidelity",
    "write_fidelity",
]

MAX_FAMILIES_WITH_COUNTERS = 200


def compare(
    original: Characterization | Workload,
    replica: Record | Characterization,
    *,
    plan: Plan | None = None,
    witness: Characterization | None = None,
) -> Fidelity:
    """Compare a replica with its original.

    Args:
        original: the characterized log, or a workload where there is no log.
        replica: the engine's record, or the log of the replica's run.
        plan: the replica's plan; without it the rules of `--scale-by count` are assumed.
        witness: a log of the same run, where the replica is a record; bytes and counters are then the log's.
    """
    return fidelity_of(pair_up(original, replica, plan=plan, witness=witness))


def fidelity_of(pairing: Pairing) -> Fidelity:
    """The fidelity of a pairing."""
    factors = pairing.factors
    ranks = (pairing.original.ranks, pairing.replica.ranks)
    families = [_family(pair, factors, ranks) for pair in pairing.pairs]
    heavy = sorted(range(len(families)), key=lambda i: -families[i].bytes_original)
    for i in heavy[:MAX_FAMILIES_WITH_COUNTERS]:
        families[i].counters = counter_rows([pairing.pairs[i]], pairing)
    record = pairing.record
    model, replica = model_against_log(pairing), replica_against_model(pairing)
    weights = weights_of(pairing)
    storage = storage_line(pairing, weights, model, replica)
    times = times_of(pairing, families)
    complete = record is None or not (record.incomplete or record.errors)
    left_out = uncovered(pairing)
    coverage = _coverage(pairing.workload.coverage)
    return Fidelity(
        families=families,
        counters=counter_rows(pairing.pairs, pairing),
        size_histogram_distance=HistogramDistance(
            read=histogram_distance(pairing.pairs, Direction.READ),
            write=histogram_distance(pairing.pairs, Direction.WRITE),
        ),
        scale=ScaleFidelity(ranks=factors.ranks, bytes=factors.bytes, time=factors.time),
        uncovered=left_out,
        basis=pairing.replica.basis,
        ranks_original=pairing.original.ranks,
        ranks_replica=pairing.replica.ranks,
        original_is="workload" if pairing.log is None else "log",
        coverage=coverage,
        set_aside=set_aside_in(pairing),
        verdict=graded(
            families,
            model,
            replica,
            storage,
            left_out=left_out,
            complete=complete,
            coverage=coverage,
            weights=weights,
            has_log=pairing.log is not None,
        ),
        agreement=agreement_of(model, replica, pairing.fitted),
        times=times,
        causes=causes_of(pairing, families, times),
        complete=complete,
        stamp=record.stamp if record else None,
        notes=[*storage.notes, *_notes(pairing, record), *_unpredicted(pairing, [*model, *replica])],
    )


def _coverage(coverage: Coverage | None) -> CoverageFidelity:
    if coverage is None:
        return CoverageFidelity()
    return CoverageFidelity(bytes_pct=coverage.bytes, calls_pct=coverage.calls, seconds_pct=coverage.seconds)


def _unpredicted(pairing: Pairing, rows: Sequence[DeterminedRow]) -> list[str]:
    """Which families of a very large plan are not judged by places and order, and what share of the calls is."""
    if not pairing.pairs or not has_more_calls(core_plan(pairing.plan), MOST_CALLS):
        return []
    judged = {key for row in rows for key in row.group}
    left = [family for family in pairing.plan.families if (family.role, family.number) not in judged]
    if not left:
        return []
    names = ", ".join(f"{family.role.value} {family.number}" for family in left[:5])
    names += f" and {len(left) - 5} more" if len(left) > 5 else ""
    share = 1 - _share_of_calls(pairing.plan, [family.id for family in left])
    return [
        f"places and order are judged for {100 * share:.0f} % of the calls: the others have more than {MOST_CALLS:,} "
        f"that follow no rule ({names})"
    ]


def _share_of_calls(plan: Plan, families: list[int]) -> float:
    """The share of a plan's calls that families make."""
    counts = counts_of(core_plan(plan))
    calls = np.sum(
        [column for name, column in counts.items() if name.startswith("calls_")], axis=0, dtype=float
    )
    of_families = np.isin([dump.family for dump in plan.dumps], families)
    return float(calls[of_families].sum() / max(1.0, calls.sum()))


def _notes(pairing: Pairing, record: Record | None) -> list[str]:
    notes = []
    if pairing.presumed:
        notes.append("no plan given: operations are scaled by the rules of --scale-by count")
    for module in sorted(pairing.original.partial):
        if any(module == pair.original.module for pair in pairing.pairs):
            notes.append(f"module {module} of the original is partial: files that it lost cannot be compared")
    for pair in [pair for pair in pairing.pairs if pair.as_one][:20]:
        notes.append(
            f"{pair.original.name}: the replica's log does not distinguish dumps of one file, which are compared as a whole"
        )
    for family in pairing.extra[:20]:
        notes.append(f"the replica has {family.name}, which the original does not have")
    for word, side in (("original", pairing.original), ("replica", pairing.replica)):
        notes += [f"times of the {word}: {doubt}" for doubt in side.doubts]
    if record is not None and record.incomplete:
        notes.append("the run did not end: missing dumps count as an error of 100 %")
    for error in (record.errors if record else [])[:20]:
        notes.append(f"rank {error.rank}: {error.operation} failed: {error.reason}")
    return notes


def _family(pair: Pair, factors: Factors, ranks: tuple[int, int]) -> FamilyFidelity:
    original, replica = pair.original, pair.replica
    errors = []
    directions = [d for d in Direction if any(dump.bytes_of(d) for dump in original.dumps)] or list(Direction)
    for dump, copy in pair.dumps():
        errors.append(dump_error_pct(dump, copy, factors.bytes, directions))
    moved = sum(d.moved for d in original.dumps)
    scaled = moved * factors.bytes
    replicated = sum(dump.bytes_of(d) for dump in replica.dumps for d in directions)
    return FamilyFidelity(
        role=original.role,
        name=original.name,
        level=original.level,
        dumps_original=len(original.dumps),
        dumps_replica=len(replica.dumps),
        bytes_original=moved,
        bytes_expected=round(scaled),
        bytes_replica=replicated,
        bytes_error_mean_pct=sum(errors) / len(errors) if errors else 0.0,
        bytes_error_max_pct=max(errors, default=0.0),
        total_bytes_error_pct=error_pct(scaled, replicated, rounding([pair], factors.bytes)),
        **family_times(pair, factors, ranks),
        size_histogram_distance=HistogramDistance(
            read=histogram_distance([pair], Direction.READ), write=histogram_distance([pair], Direction.WRITE)
        ),
        levels=_levels(pair, factors.bytes),
    )


def _levels(pair: Pair, factor: float) -> list[LevelFidelity]:
    out = []
    for level, module in MODULE_OF_LEVEL.items():
        original, replica = pair.original.modules.get(module), pair.replica.modules.get(module)
        if original is None or replica is None:
            continue
        before = original.get("BYTES_READ", 0) + original.get("BYTES_WRITTEN", 0)
        after = replica.get("BYTES_READ", 0) + replica.get("BYTES_WRITTEN", 0)
        if before or after:
            out.append(
                LevelFidelity(
                    level=level,
                    bytes_original=before,
                    bytes_expected=round(before * factor),
                    bytes_replica=after,
                    error_pct=error_pct(before * factor, after),
                    at_level=level is pair.original.level,
                )
            )
    return out


def set_aside_in(pairing: Pairing) -> list[SetAsideFidelity]:
    """What of the log was set aside, by rule."""
    if pairing.log is None:
        return []
    return [
        SetAsideFidelity(rule=rule.value, files=files, **asdict(amounts))
        for rule, files, amounts in pairing.log.noise
    ]


def uncovered(pairing: Pairing) -> UncoveredShare:
    """The bytes of the log that the workload leaves out. Noise and libraries' traffic are listed but not counted."""
    if pairing.log is not None and pairing.log.losses:
        parts = [(loss.reason, loss.bytes, loss.files) for loss in pairing.log.losses]
        parts += [(REASONS[aside.rule], aside.amounts.bytes, aside.files) for aside in pairing.log.noise]
    else:
        parts = [(u.reason, u.bytes, u.files) for u in pairing.workload.uncovered]
    summed: dict[Reason, list[int]] = {}
    for reason, size, files in parts:
        entry = summed.setdefault(reason, [0, 0])
        entry[0], entry[1] = entry[0] + size, entry[1] + files
    lost = sum(size for reason, (size, _) in summed.items() if reason in LOST)
    covered = sum(d.moved for f in pairing.original.families.values() for d in f.dumps)
    reasons = [reason.value for reason in summed if reason in LOST]
    return UncoveredShare(
        bytes_pct=100.0 * lost / (lost + covered) if lost else 0.0,
        reason=", ".join(reasons) or "none",
        unknown_files=sum(max(1, files) for reason, size, files in parts if reason in LOST and not size),
        parts=[
            UncoveredPart(reason=r.value, bytes=size, files=files, counted=r in LOST)
            for r, (size, files) in summed.items()
        ],
    )
