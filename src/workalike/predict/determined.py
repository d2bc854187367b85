"""Counters that an application determines, as opposed to times and to what libraries and machines decide.

They are summed over files, of reduced records and of those of single ranks alike. Common sizes and strides are kept as
pairs of a value and its count (docs/reference/darshan-meaning.md).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from workalike.darshan.bins import SIZE_BINS
from workalike.facts.counters import COUNTS, NOT_OPENS, SUMS, opens_in, operation_names
from workalike.facts.records import FileFacts, IntArray, ModuleFacts
from workalike.workload.words import Direction

Counters = dict[str, int]
BoolArray = npt.NDArray[np.bool_]

LARGEST = ("MAX_BYTE_READ", "MAX_BYTE_WRITTEN")
"""Counters of several records that are combined by their maximum, not their sum."""

EFFECTIVE = "EFFECTIVE_RANKS"
"""How many ranks with equal shares of a shared file's bytes would have the same variance of bytes (one number for each
file that all ranks opened, added; docs/reference/reading-counters.md#rank-set)."""

REMOVALS = "REMOVALS"
"""How often names of the files were deleted: the side file of our capture counts it, Darshan does not."""

PLACES = 4
"""Common values that a record has."""


def merge(into: Counters, more: Mapping[str, int]) -> None:
    """Add counters to others; those of `LARGEST` are combined by their maximum."""
    for name, value in more.items():
        into[name] = max(into.get(name, 0), value) if name in LARGEST else into.get(name, 0) + value


@dataclass(frozen=True)
class ModuleRules:
    """What of a module's counters is determined.

    `sums` maps the name of a sum to the counters that it adds up. `common` are the tables of common values.
    """

    counters: tuple[str, ...]
    sums: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    common: tuple[str, ...] = ()

    def determined(self, counters: Mapping[str, int]) -> Counters:
        """The determined counters of a record or of a sum of records, those of them that it has."""
        out = {name: counters[name] for name in self.counters if name in counters}
        for name, terms in self.sums.items():
            present = [counters[term] for term in terms if term in counters]
            joined = "+".join(terms)
            if present or joined in counters:
                out[name] = sum(present) if present else counters[joined]
        return out


RULES: dict[str, ModuleRules] = {
    "POSIX": ModuleRules(
        counters=(
            *("OPENS", "READS", "WRITES", "SEEKS", "BYTES_READ", "BYTES_WRITTEN"),
            *("MAX_BYTE_READ", "MAX_BYTE_WRITTEN", "MMAPS", "RENAME_SOURCES", REMOVALS, EFFECTIVE),
            *("CONSEC_READS", "CONSEC_WRITES", "SEQ_READS", "SEQ_WRITES", "RW_SWITCHES", "FILE_NOT_ALIGNED"),
            *(f"SIZE_{kind}_{name}" for kind in ("READ", "WRITE") for name in SIZE_BINS),
        ),
        sums={"FSYNCS": ("FSYNCS", "FDSYNCS")},
        common=("ACCESS", "STRIDE"),
    ),
    "STDIO": ModuleRules(
        counters=(
            *("OPENS", "READS", "WRITES", "SEEKS", "FLUSHES", "BYTES_READ", "BYTES_WRITTEN"),
            *("MAX_BYTE_READ", "MAX_BYTE_WRITTEN", EFFECTIVE),
        ),
    ),
    "MPI-IO": ModuleRules(
        counters=(
            *("SYNCS", "BYTES_READ", "BYTES_WRITTEN", "RW_SWITCHES", EFFECTIVE),
            *(f"SIZE_{kind}_AGG_{name}" for kind in ("READ", "WRITE") for name in SIZE_BINS),
        ),
        sums=SUMS["MPI-IO"],
        common=("ACCESS",),
    ),
    "H5D": ModuleRules(
        counters=(
            *("READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN"),
            *(f"SIZE_{kind}_AGG_{name}" for kind in ("READ", "WRITE") for name in SIZE_BINS),
        ),
    ),
    "PNETCDF_VAR": ModuleRules(
        counters=("BYTES_READ", "BYTES_WRITTEN"),
        sums=SUMS["PNETCDF_VAR"],
    ),
}
"""STATS is left out: Darshan counts it or not, as the machine's C library has it. Opens, seeks, syncs and maps of POSIX
below MPI-IO are the library's."""


def is_determined(module: str, counter: str) -> bool:
    """Whether an application determines a counter, or a sum of counters, written A+B."""
    rules = RULES.get(module)
    if rules is None:
        return False
    return counter in rules.counters or any(
        counter in terms or counter == "+".join(terms) for terms in rules.sums.values()
    )


DATA_ONLY = ("OPENS", "SEEKS", "FSYNCS", "MMAPS")
"""Not determined in POSIX records below MPI-IO."""

OF_STREAMS = ("FSYNCS", "FDSYNCS", "MMAPS", "RENAME_SOURCES", REMOVALS)
"""All that is determined in POSIX records below STDIO: what an application does with a stream's file itself."""


@dataclass
class Determined:
    """Counters of some files in one module.

    `common` maps the name of a table to its values and counts. `cut` are the tables of which a record was full: a value
    that it does not name may have been there. `rarest`: how often it may, at most: the least frequent values of full
    records, added up. `lost`: operations that the tables of reduced records do not count. Where
    more than four values of all ranks are merged to four, a value's count lacks that of the ranks that had it among
    the others. `complete`: the counts are of records, which have such tables. `unmeasured` has the names of
    counters and tables that a record does not count: they are not in the other fields.
    """

    counters: Counters = field(default_factory=dict)
    common: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    cut: set[str] = field(default_factory=set)
    rarest: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    complete: bool = True
    unmeasured: set[str] = field(default_factory=set)

    def add_records(
        self, module: str, counters: IntArray, names: tuple[str, ...], reduced: BoolArray | None = None
    ) -> None:
        """Add records, int64[records, counters]; -1 is what was not measured. `reduced`: those of several ranks."""
        values = np.maximum(counters, 0)
        if not len(values):
            return
        exact = values.astype(object).sum(axis=0)
        largest = values.max(axis=0)
        merge(
            self.counters,
            {n: int(largest[i] if n in LARGEST else exact[i]) for i, n in enumerate(names)},
        )
        places = {name: i for i, name in enumerate(names)}
        known: BoolArray = np.all(counters >= 0, axis=0)
        missing = {name for name, is_known in zip(names, known.tolist(), strict=True) if not is_known}
        for table in RULES[module].common:
            of_counts = [f"{table}{place}_COUNT" for place in range(1, PLACES + 1)]
            for place, count in enumerate(of_counts, start=1):
                value = f"{table}{place}_{table}"
                if value in places:
                    self._add_common(table, values[:, places[value]], values[:, places[count]])
            if count in places and (values[:, places[count]] > 0).any():
                self.cut.add(table)
                self.rarest[table] += int(values[:, [places[name] for name in of_counts]].min(axis=1).sum())
            if not missing.isdisjoint(of_counts):
                missing.add(table)
        if "ACCESS" in RULES[module].common and reduced is not None and reduced.any():
            calls = [name for direction in Direction for name in operation_names(module, direction)]
            of_calls = values[:, [places[name] for name in calls if name in places]].sum(axis=1)
            counted = values[:, [places[name] for name in COUNTS if name in places]].sum(axis=1)
            self.lost["ACCESS"] += int((of_calls - counted)[reduced].clip(0).sum())
        self._leave_out(missing)

    def of_streams(self) -> Determined:
        """What of POSIX records below STDIO is determined: 0 where there are none."""
        known = [name for name in OF_STREAMS if name not in self.unmeasured]
        counters = {
            name: self.counters.get(name, 0) for name in known if name != REMOVALS or name in self.counters
        }
        return Determined(counters, complete=False, unmeasured=set(self.unmeasured))

    def merge(self, other: Determined) -> None:
        """Add the counters of other files."""
        merge(self.counters, other.counters)
        for table, values in other.common.items():
            self.common[table].update(values)
        self.cut |= other.cut
        self.rarest.update(other.rarest)
        self.lost.update(other.lost)
        self.complete &= other.complete
        self._leave_out(other.unmeasured)

    def _leave_out(self, names: Iterable[str]) -> None:
        """Remember counters and tables that were not measured, and remove them."""
        self.unmeasured.update(names)
        for name in self.unmeasured:
            self.counters.pop(name, None)
            self.common.pop(name, None)

    def _add_common(self, table: str, values: IntArray, counts: IntArray) -> None:
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            if count > 0:
                self.common[table][value] += count


def removals_of(files: Collection[FileFacts]) -> int | None:
    """How often names of the files were deleted; None where the log does not count that."""
    counted = {file.record_id: file.removals for file in files if file.removals is not None}
    return sum(counted.values()) if counted else None


def determined_of_log(files: Collection[FileFacts], module: str) -> Determined:
    """The counters of a module over some files of a log; opens are those of the application."""
    out = Determined()
    opens = 0
    effective: int | None = 0
    for file in files:
        facts = file.modules.get(module)
        if facts is not None:
            out.add_records(module, facts.counters, facts.counter_names, facts.ranks < 0)
            of_file = effective_ranks(facts, file.nprocs)
            effective = None if of_file is None or effective is None else effective + of_file
            opens += opens_in(facts, file.nprocs, file.modules.get("POSIX")) if module in NOT_OPENS else 0
    if module in NOT_OPENS and out.counters and "OPENS" not in out.unmeasured:
        out.counters["OPENS"] = opens
        if not any(out.counters.get(name) for name in ("OPENS", "READS", "WRITES")):
            out.counters["SEEKS"] = 0  # in descriptors that the process inherited
    if module == "POSIX" and (removals := removals_of(files)) is not None:
        out.counters[REMOVALS] = removals
    if effective and EFFECTIVE in RULES[module].counters:
        out.counters[EFFECTIVE] = effective
    return out


def effective_ranks(facts: ModuleFacts, nprocs: int) -> int | None:
    """The sum of `EFFECTIVE` over the reduced records; None where one does not tell.

    A file of B bytes whose n ranks have the variance v has n / (1 + v n^2 / B^2) effective ranks.
    """
    reduced = facts.ranks < 0
    if nprocs < 2 or not reduced.any() or not facts.has("F_VARIANCE_RANK_BYTES"):
        return None
    moved = np.maximum(facts.column("BYTES_READ"), 0) + np.maximum(facts.column("BYTES_WRITTEN"), 0)
    moved, variance = moved[reduced].astype(float), facts.fcolumn("F_VARIANCE_RANK_BYTES")[reduced]
    if not np.isfinite(variance).all() or (variance < 0).any():
        return None
    with np.errstate(over="ignore"):  # by an absurd variance: no rank counts
        relative = np.divide(variance * nprocs**2, moved**2, out=np.zeros(len(moved)), where=moved > 0)
    return int(np.where(moved > 0, np.round(nprocs / (1 + relative)), 0).sum())


def is_apart(files: Iterable[FileFacts], module: str) -> bool:
    """Whether no record of a module is reduced: each is of a single rank, with common values of its own."""
    found = [facts for file in files if (facts := file.modules.get(module)) is not None]
    return bool(found) and all((facts.ranks >= 0).all() for facts in found)


def alignment_of(files: Iterable[FileFacts]) -> int:
    """FILE_ALIGNMENT of all the files in bytes, 0 where they differ or none tells."""
    values = {
        value
        for file in files
        if (posix := file.modules.get("POSIX")) is not None
        for value in posix.column("FILE_ALIGNMENT").tolist()
    }
    return max(0, *values) if len(values) == 1 else 0
