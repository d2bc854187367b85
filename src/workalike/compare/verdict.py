"""The verdict on a replica, in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass

from workalike.compare.fidelity_schema import (
    AgreementFidelity,
    CounterFidelity,
    FamilyFidelity,
    Fidelity,
    GradeReason,
    GradeWord,
    Library,
    Line,
)
from workalike.compare.grade import CLOSE_BYTES_PCT, GRADES, worst_bytes
from workalike.compare.weights import BETWEEN_FAMILIES
from workalike.facts.records import MODULE_OF_LEVEL
from workalike.text import count_text, factor_text, percent_text, plural, within_text
from workalike.workload.words import Level

CLOSE_OPERATIONS_PCT = 10.0
WITHIN_PCT = 5.0
FEW_COUNTERS = 8
"""A line that rests on fewer counters is said to have too few."""
MOST_LEVELS = 3
LIBRARY_WORDS: dict[Library, str] = {
    "same": ", under the same library",
    "another": ", under another library",
    "unknown": ", under a library that the log does not name",
}
OPERATIONS = ("READS", "WRITES")
STORAGE_LEVELS = (Level.POSIX, Level.STDIO)


HEADLINES: dict[GradeWord, str] = {
    "exact": "An exact replica",
    "faithful": "A faithful replica",
    "close": "A close replica",
    "different": "The replica differs",
    "unfinished": "Unfinished run",
    "empty": "Nothing to replicate",
}
CHECKED: dict[GradeWord, str] = {
    "exact": "Plan check: exact",
    "faithful": "Plan check: faithful",
    "close": "Plan check: close",
    "different": "Plan check: the plan differs",
}
"""Headlines of a null run: nothing was performed, so there is no replica."""


@dataclass(frozen=True)
class Verdict:
    """A grade in words."""

    grade: GradeWord
    headline: str
    sentence: str


def verdict_of(fidelity: Fidelity) -> Verdict:
    """The verdict in words; the grade is the fidelity's own."""
    grade = fidelity.verdict.grade
    if grade == "empty":
        return Verdict(grade, HEADLINES[grade], "The original moved no data that a replica could repeat.")
    headline = CHECKED.get(grade, HEADLINES[grade]) if fidelity.basis == "plan" else HEADLINES[grade]
    if grade in CHECKED and fidelity.basis != "plan":
        headline += unjudged_words(fidelity)
    worst = max(fidelity.families, key=lambda f: (worst_bytes(f), f.bytes_original))
    distance = largest_distance(fidelity)
    operations = max((row.error_pct or 0.0 for row in operation_rows(fidelity)), default=None)
    parts = [
        _bytes_sentence(fidelity, worst, worst_bytes(worst)),
        _operations_sentence(operations, distance),
        agreement_sentence(fidelity.agreement),
        storage_sentence(fidelity) or only_at_storage(fidelity),
    ]
    sentence = " ".join(part for part in parts if part)
    if grade == "unfinished":
        sentence = "The run ended early or had errors. " + sentence
    return Verdict(grade, headline, sentence)


def agreement_sentence(agreement: AgreementFidelity) -> str:
    """What the two lines of the verdict say, in one sentence."""
    lines = (
        (agreement.model, agreement.counters_model, "of the log agree with the workload"),
        (agreement.replica, agreement.counters_replica, "of the plan agree with the replica"),
    )
    parts = [
        f"{round(value * count):,} of {plural(count, 'determined counter')} {what}"
        for value, count, what in lines
        if value is not None
    ]
    if not parts:
        return ""
    fitted = (
        f" {agreement.counters_fitted:,} of the log's counters chose the workload."
        if agreement.counters_fitted
        else ""
    )
    return f"{', '.join(parts)} (within 5 %).{fitted}"


LINES: dict[Line, str] = {
    "model": "Model against log",
    "replica": "replica against model",
    "storage": "storage",
}


def lines_words(fidelity: Fidelity) -> list[str]:
    """Each line of the verdict with its grade and the number of counters that it rests on, or why it was not judged."""
    out = []
    for name, words in LINES.items():
        line = fidelity.verdict.lines.line(name)
        if not line.judged or line.grade is None:
            out.append(f"{words}: not judged ({line.why})")
            continue
        few = ", too few to tell" if line.counters < FEW_COUNTERS else ""
        out.append(f"{words}: {line.grade} ({plural(line.counters, 'counter')}{few})")
    return out


def coverage_words(fidelity: Fidelity) -> str:
    """What of the application the workload has."""
    coverage = fidelity.coverage
    return (
        f"Covered: {percent_text(coverage.bytes_pct)} of the bytes, {percent_text(coverage.calls_pct)} of the "
        f"calls, {percent_text(coverage.seconds_pct)} of the I/O time."
    )


def unjudged_words(fidelity: Fidelity) -> str:
    """What a grade never stands without where storage was not judged; empty where it was."""
    storage = fidelity.verdict.lines.storage
    if storage.judged:
        return ""
    levels = list(dict.fromkeys(MODULE_OF_LEVEL[family.level] for family in fidelity.families))
    return f" at {' and '.join(levels[:MOST_LEVELS])}; storage not judged ({storage.why})"


def storage_sentence(fidelity: Fidelity) -> str:
    """The operations that are furthest off at storage; empty where none is, or where it was not judged."""
    storage = fidelity.verdict.lines.storage
    if not storage.judged:
        return ""
    rows = [
        r for r in fidelity.verdict.reasons if r.line == "storage" and r.counter in OPERATIONS and r.expected
    ]
    worst = max(rows, key=lambda r: r.error_pct, default=None)
    if worst is None or worst.expected is None or worst.found is None or worst.error_pct <= WITHIN_PCT:
        return ""
    factor = f"{worst.found / worst.expected:.3g}"
    under = LIBRARY_WORDS[storage.library] if storage.library is not None else ""
    if storage.libraries:
        under += (
            f" ({'; '.join(f'{replica} instead of {original}' for original, replica in storage.libraries)})"
        )
    return f"At storage there are {factor} × the {worst.counter.lower()} of {worst.family}{under}."


def only_at_storage(fidelity: Fidelity) -> str:
    """The counter that lowers a grade which storage alone decides, in one sentence; empty where another line does."""
    lines = fidelity.verdict.lines
    if not lines.storage.judged or fidelity.verdict.grade not in ("close", "different"):
        return ""
    others = [line.grade for line in (lines.model, lines.replica) if line.judged and line.grade is not None]
    if any(GRADES.index(grade) >= GRADES.index(fidelity.verdict.grade) for grade in others):
        return ""
    worst = next(
        (r for r in fidelity.verdict.reasons if r.line == "storage" and r.expected is not None), None
    )
    if worst is None:
        return ""
    return (
        f"The grade is that of storage{_below_words(fidelity, worst)}: {worst.module} {worst.counter} of {worst.family} is "
        f"{count_text(worst.expected)} in the log and {count_text(worst.found)} in the replica's log."
    )


def _below_words(fidelity: Fidelity, reason: GradeReason) -> str:
    """The levels below which the calls of a reason are; empty where its families call storage themselves."""
    named = reason.family.split(BETWEEN_FAMILIES)
    families = [family for family in fidelity.families if family.name in named] or fidelity.families
    levels = dict.fromkeys(
        MODULE_OF_LEVEL[family.level] for family in families if family.level not in STORAGE_LEVELS
    )
    return f", below {' and '.join(list(levels)[:MOST_LEVELS])}" if levels else ""


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
