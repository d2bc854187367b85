"""How each counter changes when a replica is scaled: one table, from which docs/scaling-laws.md is made.

F is the factor of the bytes (`--bytes-scale`, times N/N0 under weak scaling), N/N0 the factor of the ranks. The
original's counter under its law is what a perfect replica counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from workalike.darshan import layouts
from workalike.facts.counters import SUMS


class Law(Enum):
    """The laws, each with its word in tables, formula and meaning."""

    BYTES = ("bytes", "original x F", "all bytes scale by F, whatever the number of ranks")
    OPERATIONS = (
        "operations",
        "original x (operations of the plan / operations of the workload)",
        "F first lowers the number of operations of a rank and dump, down to one, then their sizes "
        "(`--scale-by size`: the reverse); the plan has the ratio of each family. At full scale it is 1",
    )
    SIZES = (
        "sizes",
        "plan + (original - workload) x (operations of the plan / operations of the workload)",
        "an operation stays in its size bin while sizes are kept, and moves to another when they are lowered; "
        "what the original has beyond the workload scales with the operations. At full scale: the original",
    )
    OPENS = (
        "opens",
        "original x (plan / workload)",
        "each rank opens, stats, maps and syncs: the counts scale by N/N0 of the family's ranks, those of syncs amid "
        "writes with the operations; "
        "collective opens are rounded up; OPENS are those without FILENOS, DUPS and FDOPENS",
    )
    SEEKS = ("seeks", "original x (plan / workload)", "seeks accompany operations: they scale by F")
    EXTENT = (
        "extent",
        "(original + 1) x F / (files of a dump in the plan / in the workload) - 1",
        "the largest offset follows from the bytes of one file; exact for dense files",
    )
    FOLLOWING = (
        "following",
        "expected operations - others",
        "a rank's first access of a file is not consecutive (these scale by N/N0), and the first of a file "
        "is not sequential (these scale with the files); the others scale as operations do",
    )
    NONE = ("-", "not comparable", "")

    @property
    def word(self) -> str:
        return self.value[0]

    @property
    def formula(self) -> str:
        return self.value[1]

    @property
    def meaning(self) -> str:
        return self.value[2]


@dataclass(frozen=True)
class Rule:
    """A counter's law, or the reason why it has none."""

    law: Law
    why: str = ""


_TIME = "a time: it depends on the machine"
_PLACE = "which rank was fast or slow depends on the machine"
_TABLE = "a row in a table of the four most frequent values: rows change places; sizes are compared by the histogram"
_CONSTANT = "a property of the file system or of the instrument"
_BUFFER = "depends on where the program's buffers lie in memory"
_ORDER = "follows no power of the scale; the verdict compares it with the plan's prediction"
_CALL = "the variant of the call is not part of a workload"
_SHAPE = "describes a dataset and is not an amount"
_RENAMED = "a workload has it for a family all of whose files are renamed (`rename`, `backup`); the verdict counts renames"
_LIBRARY = "the library decides when it does this"

_EXACT: dict[str, Rule] = {
    "BYTES_READ": Rule(Law.BYTES),
    "BYTES_WRITTEN": Rule(Law.BYTES),
    "READS": Rule(Law.OPERATIONS),
    "WRITES": Rule(Law.OPERATIONS),
    "OPENS": Rule(Law.OPENS),
    "STATS": Rule(Law.OPENS),
    "MMAPS": Rule(Law.OPENS),
    "FSYNCS": Rule(Law.OPENS),
    "SYNCS": Rule(Law.OPENS),
    "FLUSHES": Rule(Law.OPENS),
    "INDEP_OPENS": Rule(Law.OPENS),
    "COLL_OPENS": Rule(Law.OPENS),
    "SEEKS": Rule(Law.SEEKS),
    "MAX_BYTE_READ": Rule(Law.EXTENT),
    "MAX_BYTE_WRITTEN": Rule(Law.EXTENT),
    "SEQ_READS": Rule(Law.FOLLOWING),
    "SEQ_WRITES": Rule(Law.FOLLOWING),
    "CONSEC_READS": Rule(Law.FOLLOWING),
    "CONSEC_WRITES": Rule(Law.FOLLOWING),
    "MODE": Rule(Law.NONE, "the permission bits are not replicated"),
    "RW_SWITCHES": Rule(Law.NONE, _ORDER),
    "FILENOS": Rule(Law.NONE, _CALL),
    "DUPS": Rule(Law.NONE, _CALL),
    "FDOPENS": Rule(Law.NONE, _CALL),
    "FDSYNCS": Rule(Law.NONE, "replicated as FSYNCS"),
    "RENAME_SOURCES": Rule(Law.NONE, _RENAMED),
    "RENAME_TARGETS": Rule(Law.NONE, _RENAMED),
    "RENAMED_FROM": Rule(Law.NONE, "an id"),
    "MEM_NOT_ALIGNED": Rule(Law.NONE, _BUFFER),
    "MEM_ALIGNMENT": Rule(Law.NONE, _CONSTANT),
    "FILE_NOT_ALIGNED": Rule(Law.NONE, "counted against the file system's alignment"),
    "FILE_ALIGNMENT": Rule(Law.NONE, _CONSTANT),
    "HINTS": Rule(Law.NONE, "hints are tunable"),
    "VIEWS": Rule(Law.NONE, "a log does not have the views"),
    "USE_MPIIO": Rule(Law.NONE, "a flag"),
    "USE_MPIIO_COLLECTIVE": Rule(Law.NONE, "a flag"),
    "USE_DEPRECATED": Rule(Law.NONE, "a flag"),
    "CREATES": Rule(Law.NONE, _LIBRARY),
    "REDEFS": Rule(Law.NONE, _LIBRARY),
    "INDEP_WAITS": Rule(Law.NONE, _LIBRARY),
    "COLL_WAITS": Rule(Law.NONE, _LIBRARY),
    "WAIT_FAILURES": Rule(Law.NONE, _LIBRARY),
}
_BY_START: tuple[tuple[str, Rule], ...] = (
    ("F_", Rule(Law.NONE, _TIME)),
    ("FASTEST_", Rule(Law.NONE, _PLACE)),
    ("SLOWEST_", Rule(Law.NONE, _PLACE)),
    ("MAX_READ_TIME", Rule(Law.NONE, _TIME)),
    ("MAX_WRITE_TIME", Rule(Law.NONE, _TIME)),
    ("STRIDE", Rule(Law.NONE, _TABLE)),
    ("ACCESS", Rule(Law.NONE, _TABLE)),
    ("SIZE_", Rule(Law.SIZES)),
    ("INDEP_", Rule(Law.OPERATIONS)),
    ("COLL_", Rule(Law.OPERATIONS)),
    ("SPLIT_", Rule(Law.NONE, "replicated as INDEP or COLL; the sum of all kinds is compared")),
    ("NB_", Rule(Law.NONE, "the sum of all kinds is compared")),
    ("REGULAR_", Rule(Law.NONE, _CALL)),
    ("IRREGULAR_", Rule(Law.NONE, _CALL)),
    ("POINT_", Rule(Law.NONE, _CALL)),
    ("PUT_", Rule(Law.NONE, _CALL)),
    ("GET_", Rule(Law.NONE, _CALL)),
    ("IPUT_", Rule(Law.NONE, _CALL)),
    ("IGET_", Rule(Law.NONE, _CALL)),
    ("BPUT_", Rule(Law.NONE, _CALL)),
    ("DATASPACE_", Rule(Law.NONE, _SHAPE)),
    ("DATATYPE_", Rule(Law.NONE, _SHAPE)),
    ("CHUNK_", Rule(Law.NONE, _SHAPE)),
    ("NDIMS", Rule(Law.NONE, _SHAPE)),
    ("NPOINTS", Rule(Law.NONE, _SHAPE)),
    ("IS_RECORD_VAR", Rule(Law.NONE, _SHAPE)),
)
_SPECIAL: dict[tuple[str, str], Rule] = {
    ("H5D", "OPENS"): Rule(Law.NONE, "counts datasets, which F does not change"),
    ("PNETCDF_VAR", "OPENS"): Rule(Law.NONE, "counts variables, which F does not change"),
    ("PNETCDF_FILE", "SYNCS"): Rule(Law.NONE, _LIBRARY),
    ("MPI-IO", "INDEP_OPENS"): Rule(Law.NONE, "the sum of both kinds of open is compared"),
    ("MPI-IO", "COLL_OPENS"): Rule(Law.NONE, "the sum of both kinds of open is compared"),
}


@dataclass(frozen=True)
class Difference:
    """A counter that two instruments count differently, and why."""

    module: str
    counter: str
    between: frozenset[str]
    why: str


INSTRUMENTS: tuple[Difference, ...] = (
    Difference(
        "POSIX",
        "STATS",
        frozenset({"darshan", "engine"}),
        "Darshan does not see stat with glibc 2.33 or later; the engine counts its own",
    ),
    Difference(
        "POSIX",
        "STATS",
        frozenset({"darshan", "workalike"}),
        "Darshan does not see stat with glibc 2.33 or later; `workalike profile` does",
    ),
    Difference(
        "POSIX",
        "STATS",
        frozenset({"darshan"}),
        "Darshan counts stat or not, depending on the glibc of the machine",
    ),
)
"""Known differences between instruments. `lib_ver` of a log says which one wrote it; a record is the engine's count."""


def rule_of(module: str, counter: str) -> Rule:
    """The law of one counter of a Darshan module, or of a sum of counters, written A+B.

    Raises:
        KeyError: for a counter that the table does not have.
    """
    if "+" in counter:
        first = next(n for n, parts in SUMS[module].items() if "+".join(parts) == counter)
        return _EXACT[first]
    if (module, counter) in _SPECIAL:
        return _SPECIAL[(module, counter)]
    if counter in _EXACT:
        return _EXACT[counter]
    for start, rule in _BY_START:
        if counter.startswith(start):
            return rule
    raise KeyError(f"{module} {counter} has no law")


def instrument_difference(module: str, counter: str, original: str, replica: str) -> str:
    """Why two instruments' counts differ in meaning; "" if they do not."""
    pair = frozenset({original, replica})
    for difference in INSTRUMENTS:
        if (difference.module, difference.counter) == (module, counter) and difference.between == pair:
            return difference.why
    return ""


def all_counters() -> list[tuple[str, str]]:
    """(module, counter) of every counter that the table has a law for."""
    out = []
    for module, layout in layouts.FIXED.items():
        names = [*layout.current.counters, *("+".join(parts) for parts in SUMS.get(module, {}).values())]
        out += [(module, name) for name in (*names, *layout.current.fcounters)]
    return out


def _short(counter: str) -> str:
    """One name for all counters that differ only in a bin, a table row or a dimension."""
    for start, name in (
        ("SIZE_READ_AGG", "SIZE_READ_AGG_*"),
        ("SIZE_WRITE_AGG", "SIZE_WRITE_AGG_*"),
        ("SIZE_READ", "SIZE_READ_*"),
        ("SIZE_WRITE", "SIZE_WRITE_*"),
        ("ACCESS", "ACCESS*"),
        ("STRIDE", "STRIDE*"),
        ("CHUNK_SIZE", "CHUNK_SIZE_*"),
        ("F_", "F_*"),
        ("FASTEST_", "FASTEST_*"),
        ("SLOWEST_", "SLOWEST_*"),
    ):
        if counter.startswith(start):
            return name
    return counter


def laws_markdown() -> str:
    """The text of docs/scaling-laws.md."""
    lines = [
        "# Scaling laws",
        "",
        "When a replica runs at another scale than its original, its counters must change. This page says",
        "how: an original's counter under its law is what a perfect replica counts, and `workalike compare`",
        "reports the error against that. F is the factor of the bytes (`--bytes-scale`, times N/N0 under",
        "`--scaling weak`), N/N0 that of the ranks. This page is generated from `workalike.compare.laws`; a test",
        "keeps the two equal.",
        "",
        "## Laws",
        "",
        "| law | expected | meaning |",
        "|---|---|---|",
    ]
    lines += [f"| {law.word} | {law.formula} | {law.meaning} |" for law in Law if law is not Law.NONE]
    lines += ["", "## Counters", ""]
    for module in layouts.FIXED:
        lines += [f"### {module}", "", "| counter | law | why not comparable |", "|---|---|---|"]
        rows: dict[tuple[str, str, str], None] = {}
        for name_of, counter in all_counters():
            if name_of == module:
                rule = rule_of(module, counter)
                rows[(_short(counter).replace("+", " + "), rule.law.word, rule.why)] = None
        lines += [f"| {name} | {word} | {why} |" for name, word, why in rows]
        lines.append("")
    lines += [
        "## Instruments",
        "",
        "`lib_ver` of a log says which instrument counted; a record has the engine's own counts.",
        "",
        "| module | counter | between | not comparable because |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {d.module} | {d.counter} | {' and '.join(sorted(d.between))} | {d.why} |" for d in INSTRUMENTS
    ]
    return "\n".join(lines) + "\n"
