"""A draft of a family: what the rules have decided so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from workalike.characterize.grouping.events import Event, opens_of
from workalike.characterize.grouping.families import DataFile
from workalike.characterize.grouping.roles import LEVELS_WITHOUT_COLLECTIVES
from workalike.characterize.grouping.sharing import root_of, sharing_of, sharing_of_family, turns_of
from workalike.characterize.grouping.states import States
from workalike.facts.records import MODULE_OF_LEVEL
from workalike.facts.rules import Decision
from workalike.workload.model import Direction, Level, Role, Sharing, SharingMode, Turns


@dataclass
class Draft:
    """A family before its contents are built. `layers` are the files of each dump, in order of time."""

    layers: list[list[DataFile]]
    sharing: Sharing
    events: list[Event] = field(default_factory=list)
    states: States | None = None
    role: Role = Role.OTHER
    rules: list[Decision] = field(default_factory=list)
    number: int = 0  # among the drafts of the job
    shift: int = 0  # how many places further the rank is whose file a rank reads

    @cached_property
    def files(self) -> list[DataFile]:
        return [data for layer in self.layers for data in layer]

    @property
    def level(self) -> Level:
        return self.layers[0][0].level

    @cached_property
    def written(self) -> int:
        return sum(data.written for data in self.files)

    @cached_property
    def read(self) -> int:
        return sum(data.read for data in self.files)

    @property
    def dumps(self) -> int:
        """Dumps and loads, without a load that only reads back what a dump of the same files has written."""
        if self.states is not None:
            return len(self.states.intervals)
        kinds = [event.directions for event in self.events]
        return 1 if len(self.layers) == 1 and kinds == [(Direction.WRITE,), (Direction.READ,)] else len(kinds)


def drafts_of(layers: list[list[DataFile]], nprocs: int, latest: float) -> list[Draft]:
    """The family of these layers; several families where their sharings cannot be brought together."""
    sharings = [sharing_of_layer(layer, nprocs, latest) for layer in layers]
    if layers[0][0].level in LEVELS_WITHOUT_COLLECTIVES:
        opens = [sum(opens_of(data.file, data.level) for data in layer) for layer in layers]
        groups = sharing_of_family(sharings, nprocs, opens)
    else:  # all members join a collective call: a union would add ranks to it
        groups = [(s, [i for i, t in enumerate(sharings) if t == s]) for s in _distinct(sharings)]
    return [Draft([layers[i] for i in which], sharing) for sharing, which in groups]


def _distinct(sharings: Sequence[Sharing]) -> list[Sharing]:
    out: list[Sharing] = []
    for sharing in sharings:
        if sharing not in out:
            out.append(sharing)
    return out


def sharing_of_layer(layer: Sequence[DataFile], nprocs: int, latest: float) -> Sharing:
    """The sharing of one dump, by the ranks of its files and the variance of a reduced record."""
    sharing = sharing_of([data.ranks for data in layer], nprocs)
    level = layer[0].level
    if sharing.mode is SharingMode.SHARED and len(layer) == 1 and level in LEVELS_WITHOUT_COLLECTIVES:
        data = layer[0]
        facts = data.file.modules[MODULE_OF_LEVEL[level]]
        root = root_of(facts, nprocs) if facts.scope is None else None
        if root is not None:
            return Sharing(mode=SharingMode.ROOT, ranks=[(root, root, 1)])
    if sharing.mode is SharingMode.GROUPS:
        turns = turns_of([data.file for data in layer], level, latest)
        if turns is not Turns.CONCURRENT:
            return sharing.model_copy(update={"turns": turns})
    return sharing
