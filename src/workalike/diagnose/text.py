"""A diagnosis as text that fits a terminal."""

from __future__ import annotations

import textwrap

from workalike.diagnose.finding import (
    Consistency,
    Diagnosis,
    FamilyOut,
    Finding,
    History,
    Severity,
    SlowestCallOut,
    Standing,
    Tried,
)
from workalike.diagnose.numbers import numbers_text, terms_text
from workalike.diagnose.rule import Answer
from workalike.text import (
    count_text,
    day_text,
    interval_text,
    is_telling,
    percent_text,
    plural,
    rate_text,
    seconds_text,
    size_text,
)

MOST_NOTES = 8
MOST_CONFLICTS = 3


def diagnosis_text(found: Diagnosis, width: int = 80) -> str:
    """The findings, what the log does not show, and what was odd in the log."""
    width = max(40, min(width, 110))
    lines = [
        f"{plural(found.ranks, 'rank')}, {seconds_text(found.run_time_s)}; "
        f"{percent_text(100 * found.io_share)} of the ranks' time in I/O calls",
    ]
    if found.slowest_call is not None:
        lines += _wrapped("", [slowest_line(found.slowest_call)], width)
    lines += _wrapped("warning: ", found.warnings, width)
    weighty = [f for f in found.findings if f.severity is not Severity.NOTE or f.rule == "partial-log"]
    notes = [f for f in found.findings if f not in weighty]
    if found.history:
        first, *rest = history_lines(found.history)
        lines += ["", *_wrapped("History: ", [first], width), *_wrapped("  ", rest, width)]
    if found.consistency:
        lines += ["", *_consistency(found.consistency, width)]
    for finding in weighty:
        lines += ["", *_finding(finding, found.tried, found.families, width)]
    if not any(f.severity is not Severity.NOTE for f in found.findings):
        lines += ["", "No finding explains 1 % of the job's time or more."]
    shown = {rule for finding in weighty for rule in (finding.rule, *finding.also)}
    others = [f"{trial.rule}: {tried_line(trial)}" for trial in found.tried if trial.rule not in shown]
    if others:
        lines += ["", "Tried", *_wrapped("  ", others, width)]
    if notes:
        lines += ["", "Notes"]
        for note in notes[:MOST_NOTES]:
            word = "" if note.answer is Answer.PROBLEM else f"{note.answer.value}: "
            lines += _wrapped("  ", [f"{note.rule}: {word}{note.summary}"], width)
        if len(notes) > MOST_NOTES:
            lines.append(f"  and {len(notes) - MOST_NOTES} more (--json)")
    if found.cannot_tell:
        reasons: dict[str, list[str]] = {}
        for unknown in found.cannot_tell:
            reasons.setdefault(unknown.reason, []).append(unknown.rule)
        lines += ["", "Cannot tell"]
        for reason, rules in reasons.items():
            lines += _wrapped("  ", [f"{reason}: {', '.join(rules)}"], width)
    named = [f"{family.label}: {family_text(family)}" for family in found.families if family.pattern]
    if named:
        lines += ["", "Families", *_wrapped("  ", named, width)]
    return "\n".join(lines) + "\n"


def slowest_line(call: SlowestCallOut) -> str:
    """How long the slowest call took, and what it moved."""
    return (
        f"slowest call: {call.call} of {size_text(call.bytes)} in {seconds_text(call.seconds)} "
        f"({percent_text(100 * call.share)} of the run)"
    )


def family_text(family: FamilyOut) -> str:
    """How many files a family has, and their names' pattern where names are shown."""
    files = plural(family.files, "file")
    return f"{files}, {_safe(family.pattern)}" if family.pattern else files


def tried_line(trial: Tried) -> str:
    """What a change gained, or why it was not measured."""
    if not trial.change:
        return f"not tried: {trial.reason}"
    return f"{trial.change} ({trial.says}): {_gain(trial)}"


def _gain(trial: Tried) -> str:
    if trial.ratio is None or trial.low is None or trial.high is None or trial.saved_s is None:
        return f"not measured: {trial.reason}"
    verdict = {True: "pays", False: "does not pay, it costs time", None: "no difference found"}[trial.pays]
    amount = f"{seconds_text(abs(trial.saved_s))} {'less' if trial.saved_s >= 0 else 'more'} than {seconds_text(trial.io_time_s)}"
    scale = f"{plural(trial.ranks or 0, 'rank')}, {percent_text(100 * (trial.bytes_scale or 0))} of the bytes"
    runs = f"with {scale}, {plural(trial.blocks, 'pair')} of runs"
    if not is_telling(trial.low, trial.high):
        how_much = interval_text(trial.low, trial.high)
        return f"{how_much}, {runs}" if trial.pays is None else f"{verdict}: I/O time x {how_much}, {runs}"
    return f"{verdict}: I/O time x {trial.ratio:.3g} ({trial.low:.3g} to {trial.high:.3g}, 95 %), {amount}, {runs}"


def history_lines(found: History) -> list[str]:
    """How this run compares with earlier ones, and what changed."""
    if not found.runs:
        others = f"{plural(found.program_runs, 'earlier run')} of the program with as many ranks"
        first = f"none of {others} did the same I/O" if found.program_runs else others
    else:
        days = [day_text(found.moments[place].start) for place in (0, -2)]
        when = days[0] if days[0] == days[1] else f"{days[0]} to {days[1]}"
        first = f"{plural(found.runs, 'earlier run')} of this workload ({when})"
    damaged = f", {plural(found.damaged, 'log')} could not be read" if found.damaged else ""
    lines = [f"{first}; {plural(found.logs, 'log')} looked through{damaged}"]
    if found.of_logs > 1:
        lines.append(f"compared is the one of the job's {found.of_logs:,} logs that spent most time in I/O")
    shown = [standing for standing in found.standings if standing.always or standing.changed]
    lines += [
        standing_line(standing) for standing in sorted(shown, key=lambda standing: not standing.changed)
    ]
    if found.runs and not found.enough:
        lines.append("too few earlier runs to tell whether something changed")
    return lines + found.changes


def standing_line(standing: Standing) -> str:
    """A quantity of this run beside the earlier ones; usual is what 90 % of them had."""
    value, low, high = (_quantity(v, standing.unit) for v in (standing.value, standing.low, standing.high))
    places = {0.0: "below all", 100.0: "above all"}
    place = places.get(standing.percentile, f"above {percent_text(standing.percentile)}")
    usual = low if low == high else f"{low} to {high}"
    return f"{'CHANGED ' if standing.changed else ''}{standing.name}: {value}, usually {usual} ({place})"


def _quantity(value: float, unit: str) -> str:
    known = {"B": size_text, "B/s": rate_text, "s": seconds_text}
    return known[unit](value) if unit in known else count_text(value)


def consistency_lines(found: Consistency) -> list[str]:
    """What the job needs of a file system, and where."""
    unseen = [f"not certain: {gap}" for gap in found.gaps]
    if not found.pairs and unseen:
        return ["In what was recorded, no two ranks touch the same bytes, one of them writing", *unseen]
    if not found.pairs:
        return ["No two ranks touch the same bytes, one of them writing: any consistency model will do"]
    pairs = plural(found.pairs, "pair")
    may = "may be" if found.gaps else "are"
    if found.weakest == "session":
        all_four = "correct under all four models, session included"
        recorded = " that were recorded" if unseen else ""
        lines = [f"{pairs} of conflicting accesses{recorded}: {all_four}"]
    elif found.weakest:
        broken = [f"{name} ({count:,})" for name, count in found.broken.items() if count]
        lines = [
            f"{pairs} of conflicting accesses: correct under {found.weakest} consistency, not under {', '.join(broken)}"
        ]
    else:
        lines = [
            f"{found.broken['POSIX']:,} of {pairs} of conflicting accesses {may} a race: no model orders them"
        ]
    for example in found.examples[:MOST_CONFLICTS]:
        under = ", ".join(example.ordered_under) or "none"
        lines.append(
            f"{example.family}: bytes {example.offset:,} to {example.end - 1:,}, ranks {example.ranks[0]} and {example.ranks[1]}, "
            f"{example.kind}; ordered under: {under}"
        )
    return lines + unseen


def _consistency(found: Consistency, width: int) -> list[str]:
    first, *rest = consistency_lines(found)
    return _wrapped("Consistency: ", [first], width) + _wrapped("  ", rest, width)


def _finding(finding: Finding, tried: list[Tried], families: list[FamilyOut], width: int) -> list[str]:
    word = finding.severity.value
    if finding.answer is not Answer.PROBLEM:
        word += f", {finding.answer.value}"
    lines = _wrapped("", [f"{word}  {finding.rule}: {finding.title}"], width)
    lines += _wrapped("  ", [finding.summary], width)
    if finding.families:
        sizes = {family.label: family.files for family in families}
        shown = [f"{label} ({plural(sizes.get(label, 0), 'file')})" for label in finding.families[:5]]
        more = f" and {len(finding.families) - 5} more" if len(finding.families) > 5 else ""
        lines += _wrapped("  files: ", [", ".join(shown) + more], width)
    cost = finding.cost
    if cost.rank_seconds or cost.slowest_rank_s:
        lines += _wrapped(
            "  cost: ",
            [
                f"{seconds_text(cost.rank_seconds)} of rank time ({percent_text(100 * cost.share)}), "
                f"{seconds_text(cost.slowest_rank_s)} on the slowest rank "
                f"({percent_text(100 * cost.slowest_rank_share)} of the run)"
            ],
            width,
        )
        lines += _wrapped("  formula: ", [f"{cost.formula}: {terms_text(cost.terms)}"], width)
    evidence = numbers_text(finding.evidence, without=cost.terms)
    sure = finding.sure.value
    lines += _wrapped(f"  evidence ({sure}): ", [evidence], width) if evidence else [f"  sure: {sure}"]
    of_finding = [trial for trial in tried if trial.rule in (finding.rule, *finding.also)]
    lines += _wrapped("  measured: ", [tried_line(trial) for trial in of_finding], width)
    if finding.gain_at_most_s:
        lines += _wrapped("  gain: ", [f"at most {seconds_text(finding.gain_at_most_s)} of the run"], width)
    if finding.also:
        lines += _wrapped("  also seen: ", [", ".join(finding.also)], width)
    if finding.partial:
        lines += _wrapped("  partial: ", [f"{', '.join(finding.partial)} lost records: a lower bound"], width)
    lines += _wrapped("  assumes: ", [finding.assumes] if finding.assumes else [], width)
    lines += _wrapped("  change: ", [finding.advice] if finding.advice else [], width)
    lines += _code(finding.snippet, width)
    others = " and ".join(name.capitalize() for name in finding.other_snippets)
    return lines + _wrapped(
        "  ", [f"in {others}: workalike diagnose --explain {finding.rule}"] if others else [], width
    )


def _code(snippet: str, width: int) -> list[str]:
    """The lines of a snippet, after a bar; long ones are broken."""
    out: list[str] = []
    for line in snippet.splitlines():
        out += textwrap.wrap(line, width, initial_indent="    | ", subsequent_indent="    |     ") or [
            "    |"
        ]
    return out


def _wrapped(lead: str, texts: list[str], width: int) -> list[str]:
    out: list[str] = []
    for text in texts:
        hang = " " * min(len(lead), 4)
        out += textwrap.wrap(
            _safe(text), width, initial_indent=lead, subsequent_indent=hang or "  ", break_on_hyphens=False
        )
    return out


def _safe(text: str | None) -> str:
    """Printable text: names of a log may hold control characters."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text or "")
