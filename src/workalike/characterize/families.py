"""Files -> families: what belongs together, and which files make up one dump."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from workalike.characterize import naming
from workalike.characterize.facts import FileFacts
from workalike.characterize.sharing import RankSet, ranks_of
from workalike.characterize.times import Interval, whole_interval
from workalike.workload.model import Direction, Interface, Level

LONG_LIVED_HOLDS = 2


@dataclass
class DataFile:
    """A data file with what the earlier rules decided."""

    file: FileFacts
    interface: Interface
    level: Level
    ranks: RankSet
    interval: Interval
    written: int
    read: int
    rules: list[str] = field(default_factory=list)

    @property
    def directions(self) -> frozenset[Direction]:
        moved = ((Direction.WRITE, self.written), (Direction.READ, self.read))
        return frozenset(d for d, size in moved if size)


def interface_of(file: FileFacts, level: Level) -> Interface:
    """The highest library that has a record of the file."""
    if level is Level.STDIO:
        return Interface.STDIO
    if "PNETCDF_FILE" in file.modules or "PNETCDF_VAR" in file.modules:
        return Interface.PNETCDF
    if "H5F" in file.modules or "H5D" in file.modules:
        return Interface.HDF5
    return Interface.MPIIO if "MPI-IO" in file.modules else Interface.POSIX


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
    """Files of one purpose together: same pattern of name, interface, level, directions and kind of sharing.

    A file that lives through several others of its pattern (a visualisation file held open over the run)
    is a family of its own.
    """
    groups: dict[tuple[object, ...], list[DataFile]] = defaultdict(list)
    for data in files:
        groups[_key(data)].append(data)
    families: list[list[DataFile]] = []
    for members in groups.values():
        by_id = {id(d.file): d for d in members}
        for same_width in naming.split_by_width([d.file for d in members]):
            families += _without_long_lived([by_id[id(f)] for f in same_width])
    return sorted(families, key=lambda family: min(d.interval.start for d in family))


def _key(data: DataFile) -> tuple[object, ...]:
    name = data.file.name
    alone = data.ranks.ranks is not None and len(data.ranks.ranks) == 1
    profile: object = naming.pattern_of(name)
    if naming.is_obfuscated(name):
        profile = ((data.written + 1).bit_length(), (data.read + 1).bit_length())
    return (profile, data.interface, data.level, data.directions, alone)


def _without_long_lived(files: list[DataFile]) -> list[list[DataFile]]:
    shared = [d for d in files if d.ranks.ranks is None]
    if len(shared) < LONG_LIVED_HOLDS + 1 or len(shared) > 5000:
        return [files]
    long_lived = []
    for data in shared:
        held = sum(
            1
            for other in shared
            if other is not data
            and data.interval.start <= other.interval.start
            and other.interval.end <= data.interval.end
            and 2 * (other.interval.end - other.interval.start) < data.interval.end - data.interval.start
        )
        if held >= LONG_LIVED_HOLDS:
            long_lived.append(data)
    if not long_lived or len(long_lived) == len(files):
        return [files]
    rest = [d for d in files if d not in long_lived]
    return [[d] for d in long_lived] + [rest]


def split_into_dumps(files: Sequence[DataFile], nprocs: int) -> list[list[DataFile]]:
    """Layers of files: a rank's j-th file of the family belongs to dump j.

    One rule serves N-1 (each file its own layer), N-N (a layer has a file of every rank) and N-M.
    """
    everyone = 0  # the layer after the last file that all ranks share
    next_layer: dict[int, int] = {}
    layers: dict[int, list[DataFile]] = defaultdict(list)
    for data in sorted(files, key=lambda d: (d.interval.start, d.file.name)):
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
