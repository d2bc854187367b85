"""What a family and its dumps are resolved with: numbers of ranks in the workload and in the plan, and factors."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from workalike.plan import plan_schema as plan
from workalike.plan import ranks as rank_sets
from workalike.plan.choices import TRAITS, backend_at
from workalike.plan.options import Options
from workalike.workload import model as wl
from workalike.workload.words import HDF5_INTERFACES, STAYS_OPEN


@dataclass(frozen=True)
class Scale:
    """From the ranks and bytes of a workload to those of its plan."""

    old_ranks: int
    ranks: int
    options: Options

    @cached_property
    def weak(self) -> Fraction:
        """The part of `factor` that comes from another number of ranks: 1 under strong scaling."""
        return Fraction(self.ranks, self.old_ranks) if self.options.scaling == "weak" else Fraction(1)

    @cached_property
    def factor(self) -> Fraction:
        """Factor on the bytes of all ranks together."""
        return self.options.bytes_scale * self.weak


@dataclass(frozen=True)
class FamilyScale(Scale):
    """A family, the `number`-th of its workload, at a scale."""

    number: int
    family: wl.Family

    @cached_property
    def backend(self) -> plan.Backend:
        """The user's, else the family's own."""
        return self.options.backend or _backend_of(self.family)

    @cached_property
    def sharing(self) -> plan.PlanSharing:
        """Who writes into which file in the plan."""
        stated = self.family.sharing
        ranks = rank_sets.scale_ranges(stated.ranks, self.old_ranks, self.ranks)
        if stated.mode is wl.SharingMode.ROOT and stated.ranks:
            ranks = rank_sets.scale_single(stated.ranks[0][0], self.old_ranks, self.ranks)
        files = stated.files
        if stated.mode is wl.SharingMode.GROUPS:
            files = min(max(1, round(files * self.weak)), self.count(ranks))
        return plan.PlanSharing(
            mode=stated.mode, ranks=ranks, files=files, turns=stated.turns, gather=stated.gather
        )

    @cached_property
    def old_members(self) -> int:
        """Ranks that take part in the family in the workload."""
        return self.family.members(self.old_ranks)

    @cached_property
    def members(self) -> int:
        """Ranks that take part in the family in the plan."""
        return self.count(self.sharing.ranks)

    @cached_property
    def by_members(self) -> Fraction:
        """Factor on calls of which each member keeps as many."""
        return Fraction(self.members, self.old_members)

    @cached_property
    def by_files(self) -> Fraction:
        """Factor on calls of which each file of a dump keeps as many."""
        if self.sharing.mode is wl.SharingMode.GROUPS:
            return Fraction(self.sharing.files, self.family.sharing.files)
        return self.by_members if self.own_files else Fraction(1)

    @cached_property
    def sizes(self) -> list[int] | None:
        """The bytes of each dump in the workload; None: they follow from the content."""
        return self.family.dump_sizes()

    @cached_property
    def growth(self) -> list[float]:
        """The size of each dump relative to the first."""
        return self.family.factors()

    @property
    def own_files(self) -> bool:
        """Whether each rank has a file of its own."""
        return self.family.sharing.mode is wl.SharingMode.PER_RANK

    def count(self, ranges: plan.Ranges) -> int:
        """The number of the plan's ranks in a set of them."""
        return rank_sets.count(ranges, self.ranks)

    def ranks_within(self, part: wl.RankRanges | None) -> plan.Ranges:
        """The plan's ranks for a part of the family's, such as those of a stream; None: all members."""
        whole = self.family.sharing.ranks
        return rank_sets.scale_within(part, whole, self.sharing.ranks, self.old_ranks, self.ranks)

    def share_in_one_file(self, stream: plan.PlanStream) -> Fraction:
        """The share of a stream's operations that are in one file."""
        if self.own_files or stream.pattern is wl.Pattern.REPLICATED:
            return Fraction(1, self.count(stream.ranks))
        return Fraction(1, self.sharing.files if self.sharing.mode is wl.SharingMode.GROUPS else 1)

    def places_are_known(self, arrays: bool) -> bool:
        """Whether the streams' places show which reads go beyond what the run has written."""
        plain = TRAITS[self.backend]["plain_bytes"] and not arrays
        return plain and self.family.lifetime is not wl.Lifetime.APPENDED


@dataclass(frozen=True)
class DumpScale:
    """The `index`-th dump of a family at a scale; its file has `held` bytes from earlier dumps."""

    scale: FamilyScale
    index: int
    held: int

    @property
    def content(self) -> wl.Content:
        """What the dump does in the workload."""
        return self.scale.family.content_of(self.index)

    @property
    def size(self) -> int | None:
        """The bytes of the dump in the workload, where the family states them."""
        return self.scale.sizes[self.index] if self.scale.sizes else None

    @cached_property
    def grown(self) -> Fraction:
        """Factor from the content's bytes in the workload to those of this dump there."""
        if self.size is None:
            return Fraction(self.scale.growth[self.index])
        moved = sum(self.content.moved(self.scale.old_members, d) for d in wl.Direction)
        return Fraction(self.size, moved) if moved else Fraction(1)

    @property
    def scaled(self) -> bool:
        """Whether its bytes are other ones than the workload states."""
        return self.scale.factor != 1 or self.scale.family.growth is not None

    @property
    def held_open(self) -> bool:
        """Whether it finds its file open already, as all but the first dump of a file that stays open do."""
        return self.scale.family.lifetime in STAYS_OPEN and self.index > 0

    @property
    def key(self) -> Hashable:
        """All that decides the dump's content in the plan."""
        content, growth = self.scale.family.content_number(self.index), self.scale.growth[self.index]
        return self.scale.number, content, self.size, growth, self.held, self.held_open


def _backend_of(family: wl.Family) -> plan.Backend:
    """The library that the content of a family is made for, or else the calls of its level."""
    own = TRAITS.get(family.interface.value)
    library = own if own is not None and own["library"] else None
    if library is not None and library["level"] is None:
        return library["name"]  # no calls of a level can stand for it
    if any(c.fit is not None or c.arrays for c in family.all_contents()):
        takes = library is not None and not library["only_meshes"]
        return library["name"] if library is not None and takes else backend_at(wl.Level.H5D)
    if any(c.mesh is not None for c in family.all_contents()) and family.interface in HDF5_INTERFACES:
        return family.interface.value
    return backend_at(family.counted_at)
