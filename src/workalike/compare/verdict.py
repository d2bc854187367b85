"""The verdict on a replica, in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass

from workalike.compare.fidelity_schema import CounterFidelity, FamilyFidelity, Fidelity
from workalike.text import factor_text, percent_text, plural, within_text

FAITHFUL_BYTES_PCT, FAITHFUL_OPERATIONS_PCT, FAITHFUL_DISTANCE = 0.1, 1.0, 0.02
CLOSE_BYTES_PCT, CLOSE_OPERATIONS_PCT, CLOSE_DISTANCE = 5.0, 10.0, 0.15
OPERATIONS = ("READS", "WRITES")


@dataclass(frozen=True)
class Verdict:
    """A verdict. `grade` is one of exact, faithful, close, apart, unfinished, empty."""

    grade: str
    headline: str
    sentence: str


def verdict_of(fidelity: Fidelity) -> Verdict:
    """The verdict, by the worst family's bytes, the operation counts and the distance of operation sizes."""
    if not fidelity.families:
        return Verdict(
            "empty", "Nothing to replicate", "The original moved no data that a replica could repeat."
        )
    worst = max(fidelity.families, key=lambda f: (worst_bytes(f), f.bytes_original))
    error, distance = worst_bytes(worst), largest_distance(fidelity)
    operations = max((row.error_pct or 0.0 for row in operation_rows(fidelity)), default=None)
    parts = [_bytes_sentence(fidelity, worst, error), _operations_sentence(operations, distance)]
    sentence = " ".join(part for part in parts if part)
    if not fidelity.complete:
        return Verdict("unfinished", "Unfinished run", "The run ended early or had errors. " + sentence)
    exact = all(not row.error_pct for row in fidelity.counters if row.at_level)
    if exact and error == 0 and not distance:
        return Verdict("exact", "An exact replica", sentence)
    off = (error, operations or 0.0, distance or 0.0)
    if _within(off, (FAITHFUL_BYTES_PCT, FAITHFUL_OPERATIONS_PCT, FAITHFUL_DISTANCE)):
        return Verdict("faithful", "A faithful replica", sentence)
    if _within(off, (CLOSE_BYTES_PCT, CLOSE_OPERATIONS_PCT, CLOSE_DISTANCE)):
        return Verdict("close", "A close replica", sentence)
    return Verdict("apart", "The replica differs", sentence)


def _within(off: tuple[float, ...], limits: tuple[float, ...]) -> bool:
    return all(value <= limit for value, limit in zip(off, limits, strict=True))


def operation_rows(fidelity: Fidelity) -> list[CounterFidelity]:
    """The comparable counts of all reads and of all writes at the families' level."""
    return [
        row
        for row in fidelity.counters
        if row.at_level and row.comparable and is_operation_count(row.counter)
    ]


def is_operation_count(counter: str) -> bool:
    """Whether the counter is READS, WRITES, or the sum of all kinds of one of them."""
    return counter in OPERATIONS or ("+" in counter and counter.endswith(OPERATIONS))


def worst_bytes(family: FamilyFidelity) -> float:
    """A family's largest error in bytes, in per cent: of the total or of any dump."""
    return max(family.total_bytes_error_pct, family.bytes_error_max_pct)


def largest_distance(fidelity: Fidelity) -> float | None:
    """The larger of the two histogram distances; None where there is no histogram."""
    distances = (fidelity.size_histogram_distance.read, fidelity.size_histogram_distance.write)
    return max((d for d in distances if d is not None), default=None)


def scale_words(fidelity: Fidelity) -> str:
    """`at full scale`, or `with` the factors that are not 1."""
    scale = fidelity.scale
    parts = []
    if scale.ranks != 1:
        parts.append(f"{fidelity.ranks_replica:,} instead of {plural(fidelity.ranks_original, 'rank')}")
    if scale.bytes != 1:
        share = factor_text(scale.bytes)
        parts.append(f"{share} of the bytes" if scale.bytes < 1 else f"{share} the bytes")
    return "with " + " and ".join(parts) if parts else "at full scale"


def full_scale_words(fidelity: Fidelity) -> str:
    """How far the count at full scale is from the log, in one line."""
    worst = max((f.bytes_error_max_pct for f in fidelity.families), default=0.0)
    distance = largest_distance(fidelity) or 0.0
    return f"bytes of a dump at most {worst:.3g} % off, size histograms {distance:.3g} apart (0..1)"


def _bytes_sentence(fidelity: Fidelity, worst: FamilyFidelity, error: float) -> str:
    dumps = sum(f.dumps_original for f in fidelity.families)
    if error == 0:
        subject = "the dump has" if dumps == 1 else f"all {dumps:,} dumps have"
        return f"Run {scale_words(fidelity)}, {subject} exactly the bytes expected."
    if error <= CLOSE_BYTES_PCT:
        return f"Run {scale_words(fidelity)}, bytes are within {within_text(error)} of what is expected."
    return f"Run {scale_words(fidelity)}, bytes are off by up to {percent_text(error)} ({worst.name})."


def _operations_sentence(operations: float | None, distance: float | None) -> str:
    """How operations agree in number and size; "" where neither is known."""
    if operations is None and distance is None:
        return ""
    if not operations and not distance:
        return (
            "Operations agree in number and size." if distance is not None else "Operations agree in number."
        )
    parts = []
    if operations is not None:
        word = "within" if operations <= CLOSE_OPERATIONS_PCT else "off by up to"
        counts = f"{word} {within_text(operations)} in number" if operations else "equal in number"
        parts.append(f"operations are {counts}")
    if distance is not None:
        sizes = (
            f"their sizes {distance:.2g} apart (0 is equal, 1 is all different)"
            if distance
            else "equal in size"
        )
        parts.append(sizes if operations is not None else f"operations: {sizes}")
    text = " and ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def worst_counters(fidelity: Fidelity, count: int) -> list[CounterFidelity]:
    """The counters with the largest errors, those at the families' level first."""
    off = [row for row in fidelity.counters if row.error_pct]
    return sorted(off, key=lambda r: (not r.at_level, -(r.error_pct or 0)))[:count]
