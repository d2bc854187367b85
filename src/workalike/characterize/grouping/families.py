"""Files -> families: which files belong together, and which of them are one dump."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from statistics import median

import numpy as np

from workalike.facts import naming
from workalike.facts.amounts import CALLS
from workalike.facts.counters import bytes_name, operations_of
from workalike.facts.levels import interface_of
from workalike.facts.rank_sets import RankSet, ranks_of
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts
from workalike.facts.rules import Decision
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import Interval, metadata_seconds, whole_interval
from workalike.workload.model import Direction, Interface, Level


@dataclass
class DataFile:
    """A data file with what earlier rules decided. `written` and `read` are bytes at its level."""

    file: FileFacts
    interface: Interface
    level: Level
    ranks: RankSet
    interval: Interval
    written: int
    read: int
    idle: frozenset[Direction] = frozenset()
    """Directions with operations of which none moved data."""
    rules: list[Decision] = field(default_factory=list)

    @property
    def key(self) -> tuple[tuple[int, bool], Level]:
        """Identifies it within the job, where a file may be a data file at each of two levels."""
        return self.file.key, self.level

    @property
    def moving(self) -> frozenset[Direction]:
        """The directions in which data moved."""
        moved = ((Direction.WRITE, self.written), (Direction.READ, self.read))
        return frozenset(d for d, size in moved if size)

    @property
    def directions(self) -> frozenset[Direction]:
        """The directions with operations: also reads at the end of a file that return nothing."""
        return self.moving | self.idle


def make_data_file(file: FileFacts, level: Level, written: int, read: int, run_time: float) -> DataFile:
    return DataFile(
        file,
        interface_of(file, level),
        level,
        ranks_of(file, level),
        whole_interval(file, level, run_time),
        written,
        read,
        _idle_directions(file, level),
    )


def _idle_directions(file: FileFacts, level: Level) -> frozenset[Direction]:
    """The directions in which calls of POSIX moved nothing: a log counts them there alone for sure."""
    facts = file.modules.get("POSIX")
    if level is not Level.POSIX or facts is None:
        return frozenset()
    moved = {d: any(m.total(bytes_name(d)) for m in file.modules.values()) for d in Direction}
    return frozenset(d for d in Direction if operations_of(facts, d) and not moved[d])


def group_into_families(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """Files of one purpose: they agree in name pattern, interface, level, directions, and in being shared by all ranks.

    A file that is open while several others of its pattern come and go is a family of its own, as a visualisation file
    that is held open. Where there are too many name patterns, files are grouped by size, as anonymised ones.
    """
    families = _grouped(files, [pattern_in_name(d) for d in files])
    if len(families) > THRESHOLDS.families_most:
        single_files = {family[0].key for family in families if len(family) == 1}
        families = _grouped(files, ["" if d.key in single_files else pattern_in_name(d) for d in files])
    return sorted(families, key=lambda family: min(d.interval.start for d in family))


def pattern_in_name(data: DataFile) -> str:
    """The pattern of the file's name; empty where the name says nothing."""
    return "" if naming.is_obfuscated(data.file.name) else naming.pattern_of(data.file.name)


def _grouped(files: Sequence[DataFile], patterns: Sequence[str]) -> list[list[DataFile]]:
    groups: dict[Hashable, list[DataFile]] = defaultdict(list)
    for data, pattern in zip(files, patterns, strict=True):
        all_ranks = data.ranks.ranks is None
        groups[pattern, data.interface, data.level, data.moving, all_ranks].append(data)
    families: list[list[DataFile]] = []
    for key, members in groups.items():
        nameless = isinstance(key, tuple) and key[0] == ""
        for part in split_by_size(members) if nameless else split_by_width(members):
            for same_ranks in split_by_ranks(part):
                for same_end in split_by_renames(same_ranks):
                    for part_of_time in split_long_lived(same_end):
                        families += split_reopened(part_of_time)
    return families


def split_by_width(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """Files of one pattern, split where numbers padded with zeros have different widths."""
    groups: dict[Hashable, list[DataFile]] = defaultdict(list)
    for data, key in zip(files, naming.width_keys([d.file.name for d in files]), strict=True):
        groups[key].append(data)
    return list(groups.values())


def split_by_ranks(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """Files of one rank split from those of several, unless most have several (groups, one of which may be small)."""
    several = [d for d in files if d.ranks.ranks is None or len(d.ranks.ranks) > 1]
    single = [d for d in files if d.ranks.ranks is not None and len(d.ranks.ranks) == 1]
    if len(several) >= len(single) or not several:
        return [list(files)]
    return [single, several]


def split_by_renames(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """Files that got another name split from those that keep theirs, unless all but the last one got one: a backup."""
    renamed = [data for data in files if is_renamed(data)]
    others = [data for data in files if not is_renamed(data)]
    last = max(files, key=lambda data: data.interval.start)
    if not renamed or not others or others == [last]:
        return [list(files)]
    return [renamed, others]


def is_renamed(data: DataFile) -> bool:
    """Whether a file got another name."""
    posix = data.file.modules.get("POSIX")
    return posix is not None and posix.total("RENAME_SOURCES") > 0


def split_by_size(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """Files without names, split where the next size is more than twice the last, and by whether one rank has them."""
    groups: list[list[DataFile]] = []
    for one_rank in (True, False):
        chosen = [d for d in files if (d.ranks.ranks is not None and len(d.ranks.ranks) == 1) is one_rank]
        last = 0
        for data in sorted(chosen, key=lambda d: d.written + d.read):
            size = data.written + data.read
            if not last or size > THRESHOLDS.size_step * last:
                groups.append([])
            groups[-1].append(data)
            last = size
    return groups


def split_long_lived(files: list[DataFile]) -> list[list[DataFile]]:
    """Files split off that are open while at least two shorter files of the same ranks come and go."""
    by_ranks: dict[RankSet, list[int]] = defaultdict(list)
    for place, data in enumerate(files):
        by_ranks[data.ranks].append(place)
    long_lived: list[int] = []
    for same in by_ranks.values():
        if THRESHOLDS.long_lived_holds < len(same) <= THRESHOLDS.long_lived_most:
            long_lived += [same[i] for i in _long_lived([files[place] for place in same])]
    if not long_lived or len(long_lived) == len(files):
        return [files]
    separate = set(long_lived)
    return [[files[i]] for i in long_lived] + [[d for i, d in enumerate(files) if i not in separate]]


def _long_lived(files: list[DataFile]) -> list[int]:
    starts = np.array([d.interval.start for d in files])
    ends = np.array([d.interval.end for d in files])
    lengths = ends - starts
    out = []
    for i in np.flatnonzero(lengths > 2 * lengths.min()).tolist():
        inside = (starts >= starts[i]) & (ends <= ends[i]) & (2 * lengths < lengths[i])
        if np.count_nonzero(inside) >= THRESHOLDS.long_lived_holds:
            out.append(i)
    return out


def split_reopened(files: list[DataFile]) -> list[list[DataFile]]:
    """A few files of one rank that it opens again and again are families of their own, each with a dump for each open."""
    few = 1 < len(files) <= THRESHOLDS.reopened_files and len({data.ranks for data in files}) == 1
    if few and all(_opens_of_one_rank(data) >= THRESHOLDS.reopened_opens for data in files):
        return [[data] for data in files]
    return [files]


def _opens_of_one_rank(data: DataFile) -> int:
    """Opens of a file that one rank alone uses; 0 for other files."""
    facts = data.file.modules.get(MODULE_OF_LEVEL[data.level])
    alone = data.ranks.ranks is not None and len(data.ranks.ranks) == 1
    counts = facts is not None and alone and data.level in (Level.POSIX, Level.STDIO)
    return facts.total("OPENS") if facts is not None and counts else 0


def split_into_dumps(files: Sequence[DataFile], nprocs: int) -> list[list[DataFile]]:
    """Layers of files in order of time; each layer is a dump.

    A rank's j-th file of the family belongs to dump j. This rule serves N-1 (each file is a layer), N-N (a layer has a
    file of every rank) and N-M. Where ranks leave out dumps, a dump number in the names corrects it. Where a different
    rank writes each dump, the time does.
    """
    ordered = sorted(files, key=lambda d: (d.interval.start, _calls_without_data(d), d.file.name))
    layers = layers_by_order(ordered)
    if 1 < len(layers) < len(files):
        layers = layers_by_number(ordered, len(layers)) or layers
    layers = _apart_by_chance(layers)
    return [part for layer in layers for part in split_rotation(layer, nprocs)]


def _apart_by_chance(layers: list[list[DataFile]]) -> list[list[DataFile]]:
    """The layers, of which those with files of several ranks are split where other ranks share files in each of them.

    The groups of N-M share their files in each dump. Processes that take the next file of many meet by chance.
    """
    groups = [layer for layer in layers if _has_groups(layer)]
    if len({frozenset(data.ranks.ranks for data in layer) for layer in groups}) <= 1:
        return layers
    return [part for layer in layers for part in ([[d] for d in layer] if _has_groups(layer) else [layer])]


def _has_groups(layer: Sequence[DataFile]) -> bool:
    return len(layer) > 1 and any(data.ranks.ranks is None or len(data.ranks.ranks) > 1 for data in layer)


def _calls_without_data(data: DataFile) -> tuple[int, float]:
    """Calls on a file of which no data moved, whose log has no time for stat, and their seconds; zeros for others.

    It orders such files in another way than by their names, which a log may have withheld.
    """
    if data.moving:
        return 0, 0.0
    calls = sum(
        facts.total(name)
        for module, facts in data.file.modules.items()
        for name in ("OPENS", *CALLS.get(module, ()))
    )
    return calls, metadata_seconds(data.file, data.level) or 0.0


def layers_by_order(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """Layers in which a rank's j-th file belongs to layer j; `files` are in order of time."""
    after_shared = 0  # the next layer after a file that all ranks share
    next_layer: dict[int, int] = {}
    layers: dict[int, list[DataFile]] = defaultdict(list)
    for data in files:
        if data.ranks.ranks is None:
            layer = max([after_shared, *next_layer.values()])
            after_shared = layer + 1
            next_layer.clear()
        else:
            layer = max(max(next_layer.get(r, after_shared), after_shared) for r in data.ranks.ranks)
            for r in data.ranks.ranks:
                next_layer[r] = layer + 1
        layers[layer].append(data)
    return [layers[i] for i in sorted(layers)]


def layers_by_number(files: Sequence[DataFile], wanted: int) -> list[list[DataFile]] | None:
    """Layers by a number in the names, if one of the numbers gives `wanted` layers in which no rank has two files."""
    numbers = naming.numbering([d.file.name for d in files])
    for place in range(len(numbers[0]) if numbers else 0):
        layers: dict[Fraction, list[DataFile]] = defaultdict(list)
        for data, row in zip(files, numbers, strict=True):
            layers[row[place]].append(data)
        if len(layers) == wanted and all(_no_rank_twice(layer) for layer in layers.values()):
            return sorted(layers.values(), key=lambda layer: median(d.interval.start for d in layer))
    return None


def _no_rank_twice(layer: Sequence[DataFile]) -> bool:
    if len(layer) == 1:
        return True
    ranks = [r for d in layer for r in d.ranks.ranks or ()]
    return all(d.ranks.ranks is not None for d in layer) and len(ranks) == len(set(ranks))


def split_rotation(layer: list[DataFile], nprocs: int) -> list[list[DataFile]]:
    """A layer split where a different rank wrote each dump, else the layer itself.

    Such dumps look like one dump with a file per rank. But here some ranks have no file, no two files overlap, and
    there is idle time between any two.
    """
    if not THRESHOLDS.rotation_least <= len(layer) < nprocs or any(
        len(d.ranks.ranks or (0, 1)) > 1 for d in layer
    ):
        return [layer]
    ordered = sorted(layer, key=lambda d: d.interval.start)
    span = ordered[-1].interval.end - ordered[0].interval.start
    idle = max(THRESHOLDS.gap_least, THRESHOLDS.gap_share * span)
    separated = all(b.interval.start - a.interval.end > idle for a, b in pairwise(ordered))
    return [[d] for d in ordered] if separated else [layer]
