"""Rehearsal of a log's families of HDF5, NetCDF, PnetCDF and MPI-IO, before anything is said about their replica.

What such a library does below a call depends on its version, layouts, views and caches, which no log tells. So the
families are performed once, and what is below the library is compared with the log. Families that come nowhere near are
modelled by the calls below the library instead: a replica that does to storage what the application did serves more
than one that calls the same library and does not.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from workalike.characterize import characterize
from workalike.characterize.options import CharacterizeOptions
from workalike.characterize.result import Characterization, FamilyFacts
from workalike.errors import ErrorKind, WorkalikeError
from workalike.facts.levels import WITH_DATASETS, levels_of
from workalike.facts.thresholds import THRESHOLDS
from workalike.launch.engines import engine_if_built
from workalike.rehearse.performed import Performed, can_be_performed, key_of, perform
from workalike.workload.family import Rehearsed
from workalike.workload.words import Assumption, Level

LIBRARIES = {Level.H5D: "hdf5", Level.PNETCDF: "pnetcdf"}
"""By which library the families of a level are performed, as side files of captures name it."""


@dataclass(frozen=True)
class Distance:
    """How far a family is from the log: the largest error below its library, and the factor in calls of POSIX.

    Both are of the same counters where the log names all libraries. Where it does not, MPI-IO is compared, and calls of
    POSIX tell by large factors only: other versions of MPI make other calls, but not hundreds in place of one.
    """

    error: float
    factor: float

    @property
    def is_near(self) -> bool:
        return self.error <= THRESHOLDS.rehearsal_near

    def is_nearer(self, other: Distance) -> bool:
        """Whether it is nearer than another that is preferred."""
        if self.is_near and other.is_near:
            return self.factor * THRESHOLDS.rehearsal_factor <= other.factor
        return self.error < other.error


def rehearsed(found: Characterization, options: CharacterizeOptions) -> Characterization:
    """The same logs, with the families lowered whose libraries do other things to storage here than in the log.

    Families say by which version they were performed. Where there is no engine, where families are too large or where
    a run fails, what the library does is `assumed`.

    Args:
        found: what `characterize` made of the logs.
        options: its options.

    Raises:
        WorkalikeError: as `characterize`.
    """
    if options.level is not None or options.model is not None:
        return found  # the user has chosen how they are modelled
    families = [facts for facts in found.families if _has_library(facts, found)]
    if not families:
        return found
    if engine_if_built() is None or not can_be_performed(found, families):
        return unrehearsed(found)
    try:
        return _nearest(found, families, options)
    except TimeoutError:
        words = f"it would take longer than {THRESHOLDS.rehearsal_seconds:.0f} seconds"
    except OSError as error:
        words = error.strerror or type(error).__name__
    except WorkalikeError as error:
        words = error.message
    return unrehearsed(found, f"what libraries do below their calls was not rehearsed: {words}")


def unrehearsed(found: Characterization, *warnings: str) -> Characterization:
    """The same, where families of a library say that what it does below its calls is assumed."""
    families = [
        _with(facts, assumed=list(dict.fromkeys([*facts.family.assumed, Assumption.LIBRARY])))
        if facts.family.counted_at in WITH_DATASETS
        else facts
        for facts in found.families
    ]
    return _replaced(replace(found, warnings=[*found.warnings, *warnings]), families)


def _nearest(
    found: Characterization, families: list[FamilyFacts], options: CharacterizeOptions
) -> Characterization:
    """The families performed, and again below their library where they are far off; then each where it is nearest."""
    ends = time.monotonic() + THRESHOLDS.rehearsal_seconds
    tried: dict[int, dict[Level | None, Distance]] = defaultdict(dict)
    """Of each file how far its family was off, by the level that it was lowered to; None: its own."""
    lowered: dict[int, Level] = {}
    versions: dict[str, str] = {}
    while families:
        try:
            done = perform(found, families, ends - time.monotonic())
        except WorkalikeError as error:
            if error.kind is not ErrorKind.RUN_FAILED or lowered:
                raise
            done = Performed(dict.fromkeys(map(key_of, families), math.inf))
        versions |= done.versions
        lowest = Level.POSIX if done.same else Level.MPIIO
        below: dict[int, Level] = {}
        for facts in families:
            distance = Distance(done.errors[key_of(facts)], done.factors.get(key_of(facts), 1.0))
            for file in facts.files():
                tried[file.record_id][lowered.get(file.record_id)] = distance
            if not distance.is_near or distance.factor > THRESHOLDS.rehearsal_factor:
                below |= dict(_lower(facts, lowest))
        lowered |= below
        found = characterize(found.logs, replace(options, lowered=lowered)) if below else found
        families = [facts for facts in found.families if below.keys() & _files_of(facts)]
    nearest = {file: _nearest_of(levels) for file, levels in tried.items()}
    chosen = {file: level for file, level in nearest.items() if level is not None}
    if chosen != lowered:
        found = characterize(found.logs, replace(options, lowered=chosen))
    return _with_versions(found, tried.keys(), versions)


def _nearest_of(levels: Mapping[Level | None, Distance]) -> Level | None:
    """The level to take, of those in the order in which they were tried."""
    best = next(iter(levels))
    for level, distance in levels.items():
        if distance.is_nearer(levels[best]):
            best = level
    return best


def _has_library(facts: FamilyFacts, found: Characterization) -> bool:
    """Whether the calls below the family's library can be compared: those of MPI-IO only where the log names it."""
    level = facts.family.counted_at
    return level in WITH_DATASETS or (level is Level.MPIIO and "mpi" in found.libraries)


def _lower(facts: FamilyFacts, lowest: Level) -> Iterator[tuple[int, Level]]:
    """Each file of a family that can be lowered, by its record id, with the highest level below its own that saw it.

    Files that MPI-IO saw are lowered to `lowest` at most.
    """
    for file in facts.files():
        below = [level for level in levels_of(file) if level not in WITH_DATASETS]
        if lowest in below:
            below = below[: below.index(lowest) + 1]
        if facts.family.counted_at in below:
            below = below[below.index(facts.family.counted_at) + 1 :]
        if below:
            yield file.record_id, below[0]


def _with_versions(
    found: Characterization, performed: Collection[int], versions: dict[str, str]
) -> Characterization:
    """The families of a library that were performed say by which version, and that counters decided."""
    families = []
    for facts in found.families:
        name = LIBRARIES.get(facts.family.counted_at)
        was_performed = not _files_of(facts).isdisjoint(performed)
        if was_performed and name in versions:
            facts = _with(facts, rehearsed=Rehearsed(**{name: versions[name]}))
        families.append(replace(facts, fitted=facts.fitted or was_performed))
    return _replaced(found, families)


def _with(facts: FamilyFacts, **fields: object) -> FamilyFacts:
    return replace(facts, family=facts.family.model_copy(update=fields))


def _replaced(found: Characterization, families: list[FamilyFacts]) -> Characterization:
    workload = found.workload.model_copy(update={"families": [facts.family for facts in families]})
    return replace(found, families=families, workload=workload)


def _files_of(facts: FamilyFacts) -> set[int]:
    return {file.record_id for file in facts.files()}
