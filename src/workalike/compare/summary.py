"""A replica in a few lines: what was compared, what is right, what was not judged, what no log says, where the report is."""

from __future__ import annotations

from pathlib import Path

from workalike.compare.fidelity_schema import Fidelity
from workalike.compare.grade import worst_bytes
from workalike.compare.verdict import LINES, only_at_storage, scale_words, verdict_of
from workalike.text import percent_text, plural, seconds_text

NO_TRACE = "the order and the times of single calls, since the log has no trace (workalike profile --dxt); "
CONTENT = "what the data held"


def summary_lines(fidelity: Fidelity, report: Path, *, has_trace: bool) -> list[tuple[str, str]]:
    """(label, text) of each line; the first is the verdict."""
    return [
        ("verdict", f"{verdict_of(fidelity).headline}."),
        *(("because", words) for words in [only_at_storage(fidelity)] if words),
        ("compared", _compared(fidelity)),
        ("as expected", _as_expected(fidelity)),
        *(("length", words) for words in _length(fidelity)),
        ("not judged", _not_judged(fidelity)),
        ("not known", CONTENT if has_trace else NO_TRACE + CONTENT),
        ("report", f"{report} (every counter: workalike compare)"),
    ]


def _compared(fidelity: Fidelity) -> str:
    original = "the log" if fidelity.original_is == "log" else "the workload"
    ranks = f"{original} of {plural(fidelity.ranks_original, 'rank')}"
    return f"{ranks} and a run {scale_words(fidelity)}"


def _as_expected(fidelity: Fidelity) -> str:
    """Bytes, and counters on the two lines that are always judged."""
    error = max((worst_bytes(family) for family in fidelity.families), default=0.0)
    size = "all bytes" if error == 0 else f"bytes within {percent_text(error)}"
    agreement = fidelity.agreement
    both = (
        (agreement.model, agreement.counters_model, "of the log"),
        (agreement.replica, agreement.counters_replica, "of the plan"),
    )
    counters = [
        f"{round(share * count):,} of {plural(count, 'counter')} {side}"
        for share, count, side in both
        if share is not None
    ]
    return ", ".join([size, *counters]) + " within 5 %"


def _length(fidelity: Fidelity) -> list[str]:
    """From the first call to the last, so that the end of the run is compared too; none where scales differ."""
    times = fidelity.times
    if times.calls_ratio is None:
        return []
    was, now = seconds_text(times.calls_original_s), seconds_text(times.calls_replica_s)
    return [f"first to last call {was} in the original, {now} in the replica (× {times.calls_ratio:.3g})"]


def _not_judged(fidelity: Fidelity) -> str:
    """The lines of the verdict without a grade, with the reason; what the workload leaves out."""
    lines = ((words, fidelity.verdict.lines.line(name)) for name, words in LINES.items())
    parts = [f"{words.lower()}: {line.why}" for words, line in lines if not line.judged]
    if fidelity.coverage.bytes_pct < 100:
        parts.append(
            f"{percent_text(100 - fidelity.coverage.bytes_pct)} of the log's bytes, which are in no family"
        )
    if fidelity.stamp:
        parts.append(f"times: {fidelity.stamp.text}")
    return "; ".join(parts) or "nothing: every line has a grade"
