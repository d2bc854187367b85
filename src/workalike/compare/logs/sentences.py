"""The comparison in words: the headline, and what stands in a row."""

from __future__ import annotations

from workalike.compare.logs.schema import Change, LogComparison, Part
from workalike.text import count_text, percent_text, plural


def headline_of(found: LogComparison) -> str:
    """One sentence: the word, and what it stands on."""
    part = found.compared
    if part.word == "changed":
        return f"Changed: {changes_text(part)}."
    counters = f"{plural(part.counters, 'counter')} of {plural(part.files, 'file')}"
    if len(found.baseline) > 1:
        runs = plural(len(found.baseline), "run")
        if part.word == "equal":
            return f"Within the baseline: all {counters} lie in the range of {runs}."
        return (
            f"Within the baseline: {part.unequal:,} of {counters} lie outside the range of {runs}, "
            f"by at most {percent_text(part.largest_pct)} ({_largest_text(part)})."
        )
    if part.word == "equal":
        return f"Equal: all {counters}."
    return (
        f"Alike: {part.unequal:,} of {counters} differ, by at most {percent_text(part.largest_pct)} "
        f"({_largest_text(part)})."
    )


def changes_text(part: Part) -> str:
    """`3 of 1,234 counters; 1 file more`."""
    texts = []
    if part.changed:
        texts.append(f"{part.changed:,} of {plural(part.counters, 'counter')}")
    if part.files_more:
        texts.append(f"{plural(part.files_more, 'file')} more")
    if part.files_less:
        texts.append(f"{plural(part.files_less, 'file')} less")
    return "; ".join(texts)


def shortfall_of(found: LogComparison, wanted: str) -> str | None:
    """Why a log falls short of `same` or `alike`, in one sentence; None where it does not."""
    allowed = {"same": ("equal",), "alike": ("equal", "alike")}[wanted]
    if found.word in allowed:
        return None
    return f"required {wanted}: {found.headline[:1].lower()}{found.headline[1:].rstrip('.')}"


def _largest_text(part: Part) -> str:
    first = max(part.within, key=lambda change: change.off_pct, default=None)
    return counter_text(first) if first else ""


def counter_text(change: Change) -> str:
    """What differs: `POSIX WRITES`, `POSIX ACCESS 4,096`, `file more`."""
    if change.kind in ("file more", "file less"):
        return change.kind
    if change.kind == "job":
        return change.counter
    value = ""
    if change.value:
        dimensions = [number for number in change.value[1:] if number]
        value = f" {change.value[0]:,}" + (f" ({', '.join(map(str, dimensions))})" if dimensions else "")
    return f"{change.module} {change.counter}{value}"


def before_text(change: Change) -> str:
    """The value of the baseline, or its range."""
    if change.kind == "file more":
        return "-"
    if change.before == change.before_most:
        return count_text(change.before)
    return f"{count_text(change.before)} to {count_text(change.before_most)}"


def now_text(change: Change) -> str:
    """The value of the new log."""
    return "-" if change.kind == "file less" else count_text(change.now)


def rest_text(part: Part, shown: int) -> str:
    """What is not listed after the first changes, with the counters that changed most often; empty where all are."""
    hidden = part.listed - shown
    if hidden <= 0:
        return ""
    most = [f"{total.module} {total.counter} ({total.changed:,})" for total in part.by_counter[:5]]
    often = f"; most often: {', '.join(most)}" if most else ""
    return f"and {hidden:,} more{often}"
