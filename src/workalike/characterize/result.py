"""What characterization returns: the workload, and how each of its families was derived."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from workalike.darshan import Log
from workalike.facts.amounts import Amounts
from workalike.facts.noise import Noise
from workalike.facts.other_files import CountedTogether
from workalike.facts.records import FileFacts, Loss
from workalike.facts.rules import Decision
from workalike.notebook import html_table
from workalike.predict.agreement import DeterminedRow
from workalike.text import plural
from workalike.workload.model import Coverage, Direction, Family, Workload
from workalike.workload.words import LOST


@dataclass
class DumpFacts:
    """One dump (or load) in the log. Bytes are at the family's level; times are seconds since the job's start."""

    bytes_written: int
    bytes_read: int
    start_s: float
    end_s: float
    io_time_s: float | None = None  # last close - first open of its files, where known
    files: list[FileFacts] = field(default_factory=list)
    bin_s: float = 0.0  # where bins of a heatmap are all that its times were read from: the width of one

    def bytes_in(self, direction: Direction) -> int:
        return self.bytes_written if direction is Direction.WRITE else self.bytes_read


@dataclass
class FamilyFacts:
    """A family of the workload, with the files it was made from and what was done with them."""

    family: Family
    dumps: list[DumpFacts]
    rules: list[Decision] = field(default_factory=list)  # the rules that decided
    same_name: int = 0  # how often files of the family took one name by a rename
    passed: list[FileFacts] = field(
        default_factory=list
    )  # names on the way of its files, which nobody opened
    misfit: list[DeterminedRow] | None = None  # determined counters that are off; None: not compared
    alternatives: list[Family] = field(default_factory=list)  # other readings with the same counters
    fitted: bool = False  # of several readings, that was taken whose counters come nearest to the log's

    def files(self) -> list[FileFacts]:
        """Each file once, in the order of the dumps."""
        seen: dict[tuple[int, bool], FileFacts] = {}
        for dump in self.dumps:
            for file in dump.files:
                seen.setdefault(file.key, file)
        return list(seen.values())

    def names(self) -> list[FileFacts]:
        """Its files, and the names that they have had on their way."""
        return [*self.files(), *self.passed]

    def sentences(self) -> list[str]:
        """The sentences of the rules that decided."""
        return [decision.sentence for decision in self.rules]

    def misfit_sentences(self) -> list[str]:
        """Counter by counter, where a log of the family's run would differ from the log."""
        return [
            f"{row.module} {row.counter}: {row.expected:,} in the log, {row.found:,} by the workload"
            for row in self.misfit or ()
        ]


@dataclass
class Characterization:
    """The workload, how it was derived, and what it leaves out."""

    workload: Workload
    families: list[FamilyFacts]
    logs: list[Log]
    losses: list[Loss] = field(default_factory=list)
    noise: Noise = field(default_factory=list)  # what was set aside, by rule
    files: list[FileFacts] = field(default_factory=list)  # all of the application's, also those left out
    amounts: dict[int, Amounts] = field(default_factory=dict)  # of `files`, by record id
    partial_modules: list[str] = field(default_factory=list)
    counted_together: CountedTogether = field(
        default_factory=CountedTogether
    )  # files without records of their own
    skipped_modules: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    uses_traces: bool = True
    libraries: dict[str, str] = field(
        default_factory=dict
    )  # versions by name, where a side file reports them

    def _repr_html_(self) -> str:
        """For notebooks: the workload, and whether something of the log is missing; no name of the log."""
        gaps = "" if self.complete else "incomplete: something of the log is not in the workload"
        warnings = plural(len(self.warnings), "warning") if self.warnings else ""
        return self.workload._repr_html_() + html_table("", (), (), gaps, warnings)

    @property
    def unreadable(self) -> dict[str, str]:
        """Modules that were left out since they cannot be read, with the reason; of several logs, the first one's."""
        return {module: reason for log in reversed(self.logs) for module, reason in log.unreadable.items()}

    @property
    def complete(self) -> bool:
        """Whether no module is partial or unreadable, and all data could be expressed; if not, commands exit with 3.

        Files that are set aside are no gap, but too few calls or too little I/O time in the workload are one.
        """
        return (
            not self.partial_modules
            and not self.unreadable
            and not any(loss.reason in LOST for loss in self.losses)
            and (self.workload.coverage or Coverage()).is_enough
        )


def summary_of(found: Characterization) -> dict[str, object]:
    """Ranks, families and what is left out, as plain values for `characterize --json`."""
    return {
        "ranks": found.workload.ranks,
        "complete": found.complete,
        "families": [
            {
                "role": f.family.role.value,
                "number": f.family.number,
                "level": f.family.counted_at.value,
                "dumps": f.family.schedule.dumps,
                "bytes_written": sum(d.bytes_written for d in f.dumps),
                "bytes_read": sum(d.bytes_read for d in f.dumps),
                "rules": f.sentences(),
                "misfit": None
                if f.misfit is None
                else [
                    {"module": row.module, "counter": row.counter, "log": row.expected, "workload": row.found}
                    for row in f.misfit
                ],
            }
            for f in found.families
        ],
        "noise": [
            {"rule": rule.sentence, "files": files, **asdict(amounts)} for rule, files, amounts in found.noise
        ],
        "partial_modules": found.partial_modules,
        "counted_together": {
            "modules": list(found.counted_together.modules),
            "bytes": found.counted_together.bytes,
        },
        "skipped_modules": found.skipped_modules,
        "uncovered": found.workload.model_dump(mode="json")["uncovered"],
    }
