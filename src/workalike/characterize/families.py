"""Files -> families: what belongs together, and which files make up one dump."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

import numpy as np

from workalike.facts import naming
from workalike.facts.levels import interface_of
from workalike.facts.rank_sets import RankSet, ranks_of
from workalike.facts.records import FileFacts
from workalike.facts.rules import Decision
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import Interval, whole_interval
from workalike.workload.model import Direction, Interface, Level


@dataclass
class DataFile:
    """A data file with what the earlier rules decided; `written` and `read` at its level."""

    file: FileFacts
    interface: Interface
    level: Level
    ranks: RankSet
    interval: Interval
    written: int
    read: int
    rules: list[Decision] = field(default_factory=list)

    @property
    def key(self) -> tuple[tuple[int, bool], Level]:
        """Tells it from all others of the job: a file may be one at each of two levels."""
        return self.file.key, self.level

    @property
    def directions(self) -> frozenset[Direction]:
        moved = ((Direction.WRITE, self.written), (Direction.READ, self.read))
        return frozenset(d for d, size in moved if size)


def make_data_file(file: FileFacts, level: Level, written: int, read: int, run_time: float) -> DataFile:
    return DataFile(
        file,
        interface_of(file, level),
        level,
        ranks_of(file, level),
        whole_interval(file, level, run_time),
        written,
        read,
    )


def group_into_families(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """Files of one purpose together: same pattern of name, interface, level, directions, and shared by all or not.

    A file that lives through several others of its pattern (a visualisation file held open over the run)
    is a family of its own. Where names tell next to nothing (too many patterns), sizes group as for anonymised names.
    """
    families = _grouped(files, [profile_of(d) for d in files])
    if len(families) > THRESHOLDS.families_most:
        lonely = {family[0].key for family in families if len(family) == 1}
        families = _grouped(files, ["" if d.key in lonely else profile_of(d) for d in files])
    return sorted(families, key=lambda family: min(d.interval.start for d in family))


def profile_of(data: DataFile) -> str:
    """The pattern of its name; empty where the name tells nothing."""
    return "" if naming.is_obfuscated(data.file.name) else naming.pattern_of(data.file.name)


def _grouped(files: Sequence[DataFile], profiles: Sequence[str]) -> list[list[DataFile]]:
    groups: dict[Hashable, list[DataFile]] = defaultdict(list)
    for data, profile in zip(files, profiles, strict=True):
        everyone = data.ranks.ranks is None
        groups[profile, data.interface, data.level, data.directions, everyone].append(data)
    families: list[list[DataFile]] = []
    for key, members in groups.items():
        nameless = isinstance(key, tuple) and key[0] == ""
        for part in split_by_size(members) if nameless else split_by_width(members):
            for some in split_by_ranks(part):
                families += split_long_lived(some)
    return families


def split_by_width(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """Files of one pattern, apart where padded numbers have different widths."""
    groups: dict[Hashable, list[DataFile]] = defaultdict(list)
    for data, key in zip(files, naming.width_keys([d.file.name for d in files]), strict=True):
        groups[key].append(data)
    return list(groups.values())


def split_by_ranks(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """Files of one rank apart from those of several, unless these are the rule (groups, of which one may be small)."""
    several = [d for d in files if d.ranks.ranks is None or len(d.ranks.ranks) > 1]
    single = [d for d in files if d.ranks.ranks is not None and len(d.ranks.ranks) == 1]
    if len(several) >= len(single) or not several:
        return [list(files)]
    return [single, several]


def split_by_size(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """Files without names, apart where the next size is more than twice the last; several ranks' files never join one's."""
    groups: list[list[DataFile]] = []
    for alone in (True, False):
        some = [d for d in files if (d.ranks.ranks is not None and len(d.ranks.ranks) == 1) is alone]
        last = 0
        for data in sorted(some, key=lambda d: d.written + d.read):
            size = data.written + data.read
            if not last or size > THRESHOLDS.size_step * last:
                groups.append([])
            groups[-1].append(data)
            last = size
    return groups


def split_long_lived(files: list[DataFile]) -> list[list[DataFile]]:
    """Apart: files that hold at least two shorter ones of the same ranks within their own life."""
    by_ranks: dict[RankSet, list[int]] = defaultdict(list)
    for place, data in enumerate(files):
        by_ranks[data.ranks].append(place)
    long_lived: list[int] = []
    for same in by_ranks.values():
        if THRESHOLDS.long_lived_holds < len(same) <= THRESHOLDS.long_lived_most:
            long_lived += [same[i] for i in _long_lived([files[place] for place in same])]
    if not long_lived or len(long_lived) == len(files):
        return [files]
    apart = set(long_lived)
    return [[files[i]] for i in long_lived] + [[d for i, d in enumerate(files) if i not in apart]]


def _long_lived(files: list[DataFile]) -> list[int]:
    starts = np.array([d.interval.start for d in files])
    ends = np.array([d.interval.end for d in files])
    lengths = ends - starts
    out = []
    for i in np.flatnonzero(lengths > THRESHOLDS.long_lived_longer * lengths.min()).tolist():
        held = (starts >= starts[i]) & (ends <= ends[i]) & (2 * lengths < lengths[i])
        if np.count_nonzero(held) >= THRESHOLDS.long_lived_holds:
            out.append(i)
    return out


def split_into_dumps(files: Sequence[DataFile], nprocs: int) -> list[list[DataFile]]:
    """Layers of files, each a dump, in order of time.

    A rank's j-th file of the family belongs to dump j: one rule serves N-1 (each file its own layer), N-N (a layer
    has a file of every rank) and N-M. Where ranks leave dumps out, the number of the dump in the names corrects it;
    where a different rank writes each dump, the time does.
    """
    ordered = sorted(files, key=lambda d: (d.interval.start, d.file.name))
    layers = layers_by_turn(ordered)
    if 1 < len(layers) < len(files):
        layers = layers_by_number(ordered, len(layers)) or layers
    return [part for layer in layers for part in split_rotation(layer, nprocs)]


def layers_by_turn(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """A rank's j-th file belongs to layer j; `files` in order of time."""
    everyone = 0  # the layer after the last file that all ranks share
    next_layer: dict[int, int] = {}
    layers: dict[int, list[DataFile]] = defaultdict(list)
    for data in files:
        if data.ranks.ranks is None:
            layer = max([everyone, *next_layer.values()])
            everyone = layer + 1
            next_layer.clear()
        else:
            layer = max(max(next_layer.get(r, everyone), everyone) for r in data.ranks.ranks)
            for r in data.ranks.ranks:
                next_layer[r] = layer + 1
        layers[layer].append(data)
    return [layers[i] for i in sorted(layers)]


def layers_by_number(files: Sequence[DataFile], wanted: int) -> list[list[DataFile]] | None:
    """Layers by a number in the names, if one of them makes `wanted` layers in which no rank has two files."""
    numbers = naming.numbering([d.file.name for d in files])
    for place in range(len(numbers[0]) if numbers else 0):
        layers: dict[int, list[DataFile]] = defaultdict(list)
        for data, some in zip(files, numbers, strict=True):
            layers[some[place]].append(data)
        if len(layers) == wanted and all(_no_rank_twice(layer) for layer in layers.values()):
            return sorted(layers.values(), key=lambda layer: median(d.interval.start for d in layer))
    return None


def _no_rank_twice(layer: Sequence[DataFile]) -> bool:
    if len(layer) == 1:
        return True
    ranks = [r for d in layer for r in d.ranks.ranks or ()]
    return all(d.ranks.ranks is not None for d in layer) and len(ranks) == len(set(ranks))


def split_rotation(layer: list[DataFile], nprocs: int) -> list[list[DataFile]]:
    """A dump by a different single rank each time looks like one dump of them all, but for idle time between.

    Files of a dump that every rank writes are as many as the ranks, or overlap; here some ranks have none, none
    overlap, and nobody writes for a while between any two.
    """
    if not THRESHOLDS.rotation_least <= len(layer) < nprocs or any(
        len(d.ranks.ranks or (0, 1)) > 1 for d in layer
    ):
        return [layer]
    ordered = sorted(layer, key=lambda d: d.interval.start)
    span = ordered[-1].interval.end - ordered[0].interval.start
    idle = max(THRESHOLDS.gap_least, THRESHOLDS.gap_share * span)
    apart = all(b.interval.start - a.interval.end > idle for a, b in pairwise(ordered))
    return [[d] for d in ordered] if apart else [layer]
