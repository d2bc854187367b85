"""How many names of files a run of a plan takes away: those that it renames, and those that it deletes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection

from workalike import _core
from workalike.plan.contents import moves
from workalike.plan.plan_schema import Plan, PlanContent, PlanFamily
from workalike.predict.determined import REMOVALS, Counters
from workalike.workload.words import Direction, Lifetime


class NamesLost:
    """Of the families of a plan, as the engine's core has them: by family, the files and how often each is renamed.

    `further`: by family, renames of all of a dump's files that come after the one that `rename` says.
    """

    def __init__(self, plan: Plan, core: _core.Plan) -> None:
        self.renamed: dict[int, Counter[int]] = defaultdict(Counter)
        self.further: Counter[int] = Counter()
        self.deleted: dict[int, set[int]] = defaultdict(set)
        families = {family.id: family for family in plan.families}  # a plan of one family keeps its id
        for dump, (renamed, deleted) in zip(plan.dumps, core.names_lost(), strict=True):
            self.further[dump.family] += plan.contents[dump.content].renames or 0
            family = families[dump.family]
            again = family.lifetime is Lifetime.REUSED  # a new file of the same name
            backup = again and bool(family.backup)  # after its last use, which may be a read
            if renamed and (backup or _makes_a_file(plan.contents[dump.content])):
                self.renamed[dump.family][dump.file] += again or not self.renamed[dump.family][dump.file]
            if deleted is not None:
                self.deleted[dump.family].add(deleted)

    def by_family(self, family: PlanFamily, files: Collection[str]) -> Counters:
        """The counters of a family's files, of which these are used; none where its library chooses their names."""
        further = self.further[family.id]
        renames = family.rename or bool(family.backup) or further > 0
        if not renames and not _is_one_file(family):
            return {}
        if not (renames or family.keep or family.removed):
            return {REMOVALS: 0}
        used: Counter[int] = Counter()
        for name in files:
            parts = _core.parse_name(name)
            if parts is not None:
                used[parts[2]] += 1
        if renames:
            renamed = self.renamed[family.id].items()
            return {"RENAME_SOURCES": further + sum(used[number] * times for number, times in renamed)}
        return {REMOVALS: sum(used[number] for number in self.deleted[family.id])}


def _makes_a_file(content: PlanContent) -> bool:
    """Whether a dump of this content writes a file of its own: a table that begins with a read finds its file there."""
    of_table = (stream.direction for stream in content.streams if stream.rows is not None)
    return moves(content, Direction.WRITE) or Direction.WRITE in of_table


def _is_one_file(family: PlanFamily) -> bool:
    """Whether the library has one name in the file system for each file of the family."""
    return family.backend != "adios2" and not (family.hdf5 is not None and family.hdf5.subfiling)
