"""The third line of a verdict, *storage*: the replica's log against the original's at POSIX and STDIO.

No model stands between the two logs, so that nothing which a model leaves out is left out here: all files of the
application count, those of no family, too. Files are compared family by family, those that share files together, and
all files together (docs/architecture.md, "Verdict").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workalike.characterize.result import Characterization
from workalike.compare.families import files_by_family, groups_of
from workalike.compare.fidelity_schema import Library
from workalike.compare.from_log import instrument_of
from workalike.compare.libraries import libraries_of
from workalike.compare.lines import families_with_traces
from workalike.compare.pairing import Pairing
from workalike.compare.weights import ALL_FILES, IN_NO_FAMILY, LEAST_WEIGHT, Weights
from workalike.facts.records import FileFacts
from workalike.facts.storage import STATS, STORAGE, Measure, Measures, measures_of
from workalike.predict.agreement import DeterminedRow, Group
from workalike.predict.chance import (
    FORWARD,
    NEXT,
    families_at_random,
    goes_forward,
    sequences_of,
    within_chance,
)
from workalike.text import plural
from workalike.workload.model import Level
from workalike.workload.words import Reason

OWN_LEVELS = (Level.POSIX, Level.STDIO)


@dataclass(frozen=True)
class StorageLine:
    """The rows of the line. Where it is not judged, `why` is the reason, and the rows have what is known all the same.

    `notes` say what was not compared.
    """

    rows: list[DeterminedRow] = field(default_factory=list)
    judged: bool = False
    why: str = ""
    library: Library | None = None
    libraries: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def storage_line(
    pairing: Pairing,
    weights: Weights,
    model: Sequence[DeterminedRow],
    replica: Sequence[DeterminedRow],
) -> StorageLine:
    """The storage line of a verdict.

    Args:
        pairing: both sides.
        weights: of the families.
        model: the rows of *model against log*.
        replica: the rows of *replica against model*. At another scale these two lines judge the families of POSIX and
            STDIO at storage.
    """
    found, other = pairing.log, pairing.replica_log
    if found is None:
        return StorageLine(why="the original is a workload, not a log")
    if not pairing.performed or pairing.replica.basis == "plan":
        return StorageLine(why="nothing was performed")
    if other is None:
        return StorageLine(why="the replica was not captured")
    unseen = _unseen(found)
    if unseen:
        return StorageLine(why=unseen)
    sides = _Sides(pairing, weights, found, other)
    if (pairing.factors.ranks, pairing.factors.bytes) == (1, 1):
        line = sides.at_full_scale([row for row in model if row.chance], replica)
    else:
        line = sides.at_reduced_scale([*model, *replica])
    library, differing = libraries_of(found, other)
    return replace(line, library=library, libraries=differing)


def _unseen(found: Characterization) -> str:
    """Why the original's log does not tell what reached its file system; empty where it does."""
    partial = [module for module in STORAGE if module in found.partial_modules]
    if partial:
        return f"module {partial[0]} of the log is partial"
    lacking = sum(loss.files for loss in found.losses if loss.reason is Reason.MISSING_RANKS)
    if lacking:
        return f"the log lacks {plural(lacking, 'rank')}, since the job was killed"
    unknown = sum(
        loss.files
        for loss in found.losses
        if loss.reason is Reason.UNKNOWN_COUNTERS and loss.module in STORAGE
    )
    if unknown:
        return f"counters of {plural(unknown, 'file')} in the log are not measured or impossible"
    if any(module in STORAGE for module in found.counted_together.modules):
        return "the log counts files together that have no record of their own"
    without = sum(not any(module in file.modules for module in STORAGE) for file in found.files)
    if without:
        return f"the log has no POSIX record of {plural(without, 'file')}"
    return ""


class _Sides:
    """The files of both logs, by groups of families."""

    def __init__(
        self, pairing: Pairing, weights: Weights, found: Characterization, other: Characterization
    ) -> None:
        self.pairing = pairing
        self.weights = weights
        self.families = {(f.family.role, f.family.number): f for f in found.families}
        group_of = {key: group for group in groups_of(found, by=lambda file: file.record_id) for key in group}
        by_id = {file.record_id: file for file in found.files}
        self.originals: dict[Group, dict[int, FileFacts]] = {group: {} for group in group_of.values()}
        for key, facts in self.families.items():
            for file in facts.names():
                whole = by_id.get(file.record_id, file)  # not the part that one module moved
                self.originals[group_of[key]].setdefault(file.record_id, whole)
        known = {number for files in self.originals.values() for number in files}
        left = {number: file for number, file in by_id.items() if number not in known}
        if left:
            self.originals[IN_NO_FAMILY] = left
        self.replicas: dict[Group, list[FileFacts]] = defaultdict(list)
        for family, files in files_by_family(other.files).items():
            self.replicas[group_of.get(family, ALL_FILES)] += files
        self.at_random = families_at_random(pairing.full_plan) - families_with_traces(found)
        self.nprocs = pairing.original.ranks
        self.compares_stats = _counts_stats(found) and _counts_stats(other)
        self.notes = (
            [] if self.compares_stats else ["stats are not compared: one of the logs does not count them"]
        )

    def at_full_scale(
        self, explained: Sequence[DeterminedRow], replica: Sequence[DeterminedRow]
    ) -> StorageLine:
        """Group by group, and all files together.

        Args:
            explained: counters of the log that the plan's chance explains.
            replica: whether the replica has the plan's counters, without which that is not an excuse.
        """
        other = {(key, row.counter) for row in replica if not row.agrees for key in row.group}
        excused = {(key, row.counter) for row in explained for key in row.group} - other
        rows: list[DeterminedRow] = []
        by_chance: set[tuple[Group, Measure]] = set()
        for group in self.originals:
            for row in self._of_group(group, 1.0):
                measure = (row.module, row.counter)
                by_model = row.error > 0 and any((key, row.counter) in excused for key in group)
                if (by_model or self._is_chance(row, group)) and not self._goes_forward(row, group):
                    by_chance.add((group, measure))
                    row = replace(row, chance=True)
                rows.append(row)
        heavy = [group for group in self.originals if self.weights.weight(group) >= LEAST_WEIGHT]
        if len(heavy) > 1 or set(self.replicas) - set(self.originals):
            rows += self._of_all(heavy, by_chance)
        return StorageLine(rows, judged=True, notes=self.notes)

    def at_reduced_scale(self, by_model: Sequence[DeterminedRow]) -> StorageLine:
        """Families of POSIX and STDIO by the model at both scales; those of a serial library where ranks keep their calls."""
        rows = [row for row in by_model if row.module in STORAGE and self._is_own(row.group)]
        judged = {group for group in self.originals if self._is_own(group)}
        factors = self.pairing.factors
        if IN_NO_FAMILY in self.originals:  # no line is about them: the replica has none, at any scale
            rows += self._of_group(IN_NO_FAMILY, 1.0)
        for group in self.originals:
            if group not in judged and factors.bytes == factors.ranks and self._keeps_calls(group):
                rows += self._of_group(group, factors.ranks)
                judged.add(group)
        left = len(self.originals) - len(judged)
        return StorageLine(rows, judged=not left, why=self._scale_words() if left else "", notes=self.notes)

    def _scale_words(self) -> str:
        pairing = self.pairing
        if pairing.factors.ranks != 1:
            return f"{pairing.replica.ranks:,} of {plural(pairing.original.ranks, 'rank')}"
        return f"{pairing.factors.bytes:.3g} of the bytes"

    def _is_own(self, group: Group) -> bool:
        """Whether the application itself called POSIX or STDIO, for all families of the group."""
        if group == IN_NO_FAMILY:
            return True
        return bool(group) and all(
            key in self.families and self.families[key].family.counted_at in OWN_LEVELS for key in group
        )

    def _keeps_calls(self, group: Group) -> bool:
        """Whether a rank's calls are its own, and a replica's ranks are as the original's.

        That is where each file belongs to one rank, MPI-IO has not seen it, and every rank of the job has one.
        """
        ranks: set[int] = set()
        for file in self.originals[group].values():
            of_file = {rank for facts in file.modules.values() for rank in facts.ranks.tolist()}
            if "MPI-IO" in file.modules or len(of_file) != 1 or min(of_file) < 0:
                return False
            ranks |= of_file
        return len(ranks) == self.pairing.original.ranks

    def _of_group(self, group: Group, factor: float) -> Iterator[DeterminedRow]:
        before = measures_of(list(self.originals[group].values()))
        after = measures_of(self.replicas.get(group, []))
        yield from self._rows(group, before, after, factor, below=not self._is_own(group))

    def _of_all(
        self, heavy: Collection[Group], by_chance: Collection[tuple[Group, Measure]]
    ) -> Iterator[DeterminedRow]:
        """All files together, also those of no family; of an order that chance decides, the other groups.

        Groups of hardly any weight have rows of their own, and are not added.
        """
        originals = [file for group in heavy for file in self.originals[group].values()]
        light = set(self.originals) - set(heavy)
        replicas = [file for group, files in self.replicas.items() if group not in light for file in files]
        before, after = measures_of(originals), measures_of(replicas)
        for group, measure in by_chance:
            if group in light:
                continue
            before[measure] = before.get(measure, 0) - measures_of(list(self.originals[group].values())).get(
                measure, 0
            )
            after[measure] = after.get(measure, 0) - measures_of(self.replicas.get(group, [])).get(measure, 0)
        below = not all(self._is_own(group) for group in self.originals)
        yield from self._rows(ALL_FILES, before, after, 1.0, below=below)

    def _rows(
        self, group: Group, before: Mapping[Measure, int], after: Measures, factor: float, *, below: bool
    ) -> Iterator[DeterminedRow]:
        modules = {module for module, _ in before}
        for measure in dict.fromkeys([*before, *after]):
            module, counter = measure
            if measure == STATS and not self.compares_stats:
                continue
            if measure not in before and module in modules:
                continue  # an older log does not count it
            expected, found = round(before.get(measure, 0) * factor), after.get(measure, 0)
            if expected or found:
                yield DeterminedRow(group, module, counter, expected, found, below=below)

    def _is_chance(self, row: DeterminedRow, group: Group) -> bool:
        if (
            row.agrees
            or not row.counter.startswith((FORWARD, NEXT))
            or not any(key in self.at_random for key in group)
        ):
            return False
        files = list(self.originals[group].values())
        calls = measures_of(files).get((row.module, row.counter.rpartition("_")[2]), 0)
        return within_chance(row.counter, row.expected, row.found, calls, self._sequences(group))

    def _goes_forward(self, row: DeterminedRow, group: Group) -> bool:
        """Whether the log's own order refutes chance."""
        if not row.counter.startswith((FORWARD, NEXT)):
            return False
        measures = measures_of(list(self.originals[group].values()))
        kind = row.counter.rpartition("_")[2]
        ahead, calls = measures.get((row.module, FORWARD + kind), 0), measures.get((row.module, kind), 0)
        return goes_forward(ahead, calls, self._sequences(group))

    def _sequences(self, group: Group) -> int:
        return sum(sequences_of(file, self.nprocs) for file in self.originals[group].values())


def _counts_stats(log: Characterization) -> bool:
    """Whether the instrument counted stat: Darshan does not where the C library has no `__xstat` (glibc 2.33)."""
    if instrument_of(log) == "workalike":
        return True
    return any(
        facts.total("STATS") > 0 for file in log.files if (facts := file.modules.get("POSIX")) is not None
    )
