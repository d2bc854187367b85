"""What of two logs could not be compared, and what differs without being a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workalike.compare.logs.counters import ENVIRONMENT, FILE, FOLLOWS
from workalike.compare.logs.ranges import Environment
from workalike.compare.logs.schema import Part
from workalike.compare.logs.sentences import before_text, changes_text, counter_text, now_text
from workalike.compare.logs.side import LogSide
from workalike.compare.logs.traces import TRACES
from workalike.text import plural

MOST_WARNINGS = 20
MOST_NAMED = 3
_WAYS = {
    "folder": (
        "has another folder, and is paired by its name",
        "have other folders, and are paired by their names",
    ),
    "pattern": (
        "has other numbers in its name, and is paired by the rest",
        "have other numbers in their names, and are paired by the rest",
    ),
    "random": (
        "has another random part in its name, and is paired by the rest",
        "have other random parts in their names, and are paired by the rest",
    ),
    "use": (
        "is paired by what was done with it, since names do not agree",
        "are paired by what was done with them, in the order of their opens, since names do not agree",
    ),
}
"""How files were paired other than by equal names, of one file and of several."""


def notes_of(
    sides: Sequence[LogSide], environment: Sequence[Environment], ways: Mapping[str, int], start: Part
) -> list[str]:
    """Sentences without a full stop."""
    return [
        *_instruments(sides),
        *_programs(sides),
        *_pairing(ways),
        *_unmeasured(sides),
        *_environment(environment),
        *_file_systems(sides),
        *_traces(sides),
        *_program_start(start),
        *_modules(sides),
        *_warnings(sides),
    ]


def _instruments(sides: Sequence[LogSide]) -> Iterator[str]:
    if len({side.instrument for side in sides}) > 1:
        yield (
            "the logs are of different instruments (workalike's capture and Darshan): STATS is not compared, since they "
            "do not see the same calls; other counters may differ as docs/capture.md says"
        )
    elif len({side.version for side in sides}) > 1:
        yield f"the logs are of different versions: {', '.join(sorted({side.version or '?' for side in sides}))}"


def _programs(sides: Sequence[LogSide]) -> Iterator[str]:
    programs = dict.fromkeys(side.program or "an unknown program" for side in sides)
    if len(programs) > 1:
        yield f"the logs are of different programs: {', '.join(list(programs)[:MOST_NAMED])}"


def _pairing(ways: Mapping[str, int]) -> Iterator[str]:
    for way, (single, several) in _WAYS.items():
        count = ways.get(way, 0)
        if count:
            yield f"{plural(count, 'file')} {single if count == 1 else several}"


def _unmeasured(sides: Sequence[LogSide]) -> Iterator[str]:
    """Counters that one side does not measure at all, by module."""
    for module in dict.fromkeys(name for side in sides for name in side.modules if name != FILE):
        present = [side.modules[module] for side in sides if module in side.modules]
        if len(present) < len(sides):
            continue
        missing = [
            {
                name
                for name, known in zip(values.names, values.measured_at_all.tolist(), strict=True)
                if not known
            }
            for values in present
        ]
        never = set[str].intersection(*missing[:-1])  # in no run of the baseline
        names = sorted((never | missing[-1]) - (never & missing[-1]))
        if names:
            yield f"not measured in all logs, so not compared: {module} {', '.join(names)}"


def _environment(environment: Sequence[Environment]) -> Iterator[str]:
    for found in environment:
        before, now = (", ".join(f"{value:,}" for value in values) for values in (found.before, found.now))
        follows = [name for name, needed in FOLLOWS.items() if needed == found.counter]
        more = f"; {', '.join(follows)} is not compared there" if follows else ""
        yield (
            f"environment: {found.module} {found.counter} ({ENVIRONMENT[found.counter]}) differs for "
            f"{plural(found.files, 'file')}: {before} and {now}{more}"
        )


def _file_systems(sides: Sequence[LogSide]) -> Iterator[str]:
    every = [side.file_systems for side in sides if side.file_systems]
    kinds = sorted(frozenset[str]().union(*every) - every[0].intersection(*every)) if every else []
    if kinds:
        yield f"environment: not in all logs are file systems of type {', '.join(kinds)}"


def _traces(sides: Sequence[LogSide]) -> Iterator[str]:
    """Modules whose records are not compared."""
    names = set()
    for side in sides:
        for module in TRACES:
            if module in side.modules and any(module not in other.modules for other in sides):
                names.add(module)
    for module in sorted(names):
        yield f"not in all logs, so not compared: traces ({module})"
    if any(module in side.modules for side in sides for module in TRACES) and not names:
        yield "of traces (DXT), the numbers of operations and their bytes are compared, not single operations"
    skipped = sorted(  # warnings name the unreadable ones
        {name for side in sides for name in {*side.facts.skipped_modules} - {*side.facts.unreadable_modules}}
    )
    if skipped:
        yield f"not read, so not compared: {', '.join(skipped)}"


def _program_start(start: Part) -> Iterator[str]:
    """What a program's start does otherwise; nothing where it is compared with the rest."""
    if start.word == "equal":
        return
    if start.word == "alike":
        yield f"program start: {start.unequal:,} of {plural(start.counters, 'counter')} differ by less than 5 %"
        return
    named = []
    for change in start.changes[:MOST_NAMED]:
        numbers = f" {before_text(change)} -> {now_text(change)}" if change.kind == "counter" else ""
        named.append(f"{change.file}: {counter_text(change)}{numbers}")
    yield (
        f"program start (libraries, system files, standard streams), no part of the verdict: {changes_text(start)} "
        f"({'; '.join(named)})"
    )


def _modules(sides: Sequence[LogSide]) -> Iterator[str]:
    for module in sorted({name for side in sides for name in side.facts.partial_modules}):
        yield f"module {module} is partial: it lost records, so its counters are lower bounds"


def _warnings(sides: Sequence[LogSide]) -> Iterator[str]:
    lines = list(dict.fromkeys(f"{side.title}: {line}" for side in sides for line in side.warnings))
    yield from lines[:MOST_WARNINGS]
    if len(lines) > MOST_WARNINGS:
        yield f"and {plural(len(lines) - MOST_WARNINGS, 'more warning')} about the logs"
