"""What a log says of one family, as readings of it need it: its files, and their counters by module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from workalike.characterize.result import FamilyFacts
from workalike.facts.jobs import JobFacts
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.predict.determined import REMOVALS, RULES, Determined, determined_of_log
from workalike.workload import units
from workalike.workload.content import CALLS, count_of
from workalike.workload.model import Content, Family

PREDICTED = ("POSIX", "STDIO", "MPI-IO")
"""Modules whose counters are predicted for families of streams."""


@dataclass(frozen=True)
class Evidence:
    """The counters of a family whose readings can be compared with them."""

    facts: FamilyFacts
    """The family as it was read first."""
    job: JobFacts
    files: Sequence[FileFacts]
    module: str
    """The module of the family's level."""
    logs: dict[str, Determined]
    """The log's counters by module: of the family's level, and of POSIX below MPI-IO."""

    @property
    def nprocs(self) -> int:
        return self.job.nprocs

    @property
    def log(self) -> Determined:
        """The log's counters at the family's level."""
        return self.logs[self.module]

    @property
    def determined(self) -> dict[str, int]:
        """Those of them that every run of the family has."""
        return RULES[self.module].determined(self.log.counters)

    @property
    def opens(self) -> int:
        """Opens of all files by all ranks."""
        return self.determined.get("OPENS", 0)

    def modules(self) -> list[ModuleFacts]:
        """The files' records at the family's level."""
        return [file.modules[self.module] for file in self.files if self.module in file.modules]


def evidence_of(facts: FamilyFacts, job: JobFacts) -> Evidence | None:
    """The evidence for readings of a family; None where its counters cannot be predicted."""
    module = MODULE_OF_LEVEL[facts.family.counted_at]
    contents = facts.family.all_contents()
    if module not in PREDICTED or not any(content.streams for content in contents):
        return None
    if any(content.arrays or content.fit or content.mesh for content in contents):
        return None
    if calls_of(facts.family, job.nprocs) > THRESHOLDS.synthesis_calls:
        return None
    # What the library does below MPI-IO tells where the application's bytes lie.
    modules = (module, "POSIX") if module == "MPI-IO" else (module,)
    files = facts.files()
    logs = {name: determined_of_log(facts.names(), name) for name in modules}
    for log in logs.values():
        log.counters.pop(REMOVALS, None)  # `grouping.removals` says them, after all readings
    return Evidence(facts, job, files, module, logs)


def families_of_own_files(families: Sequence[FamilyFacts]) -> list[bool]:
    """Whether each family shares no file with another: only then the log tells its counters."""
    users = Counter(file.key for family in families for file in family.files())
    return [all(users[file.key] == 1 for file in family.files()) for family in families]


def calls_of(family: Family, nprocs: int) -> int:
    """Calls of all dumps over all ranks, at least one for each rank and dump."""
    members = family.members(nprocs)
    calls = [_calls_of_content(content, members) for content in family.all_contents()]
    uses = family.use if family.use is not None else range(len(calls))
    dumps = [calls[0]] * family.schedule.dumps if len(calls) == 1 else [calls[i] for i in uses]
    return sum(dumps) + members * len(dumps)


def operations_of(content: Content, members: int) -> int:
    """Operations of a content's streams, in one pass, or of its table, over all ranks."""
    listed = content.table.count if content.table is not None else 0
    return listed + sum(
        stream.repeat
        * sum(
            entry.total(members if stream.ranks is None else units.count_ranks(stream.ranks))
            for entry in stream.sizes
        )
        for stream in content.streams
    )


def _calls_of_content(content: Content, members: int) -> int:
    operations = operations_of(content, members)
    calls = sum(count_of(getattr(content, name)) for name in CALLS)
    amid = content.sync.total(operations) + content.flush.total(operations)
    each = operations if content.seeks == "each" else 0
    return content.passes * (operations + each + amid) + calls
