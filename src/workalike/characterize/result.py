"""What characterization returns: the workload, and how each of its families came about."""

from __future__ import annotations

from dataclasses import dataclass, field

from workalike.darshan import Log
from workalike.facts.noise import Noise
from workalike.facts.records import FileFacts, Loss
from workalike.facts.rules import Decision
from workalike.workload.model import Family, Reason, Workload


@dataclass
class DumpFacts:
    """One dump (or load) as the log has it. Bytes at the family's level; times in seconds of the job."""

    bytes_written: int
    bytes_read: int
    start_s: float
    end_s: float
    io_time_s: float | None = None  # last close - first open of its files, where the log tells
    files: list[FileFacts] = field(default_factory=list)


@dataclass
class FamilyFacts:
    """A family of the workload, the files it was made from and what they did."""

    family: Family
    dumps: list[DumpFacts]
    rules: list[Decision] = field(default_factory=list)  # which rule decided what

    def files(self) -> list[FileFacts]:
        """Each file once, in the order of the dumps."""
        seen: dict[tuple[int, bool], FileFacts] = {}
        for dump in self.dumps:
            for file in dump.files:
                seen.setdefault(file.key, file)
        return list(seen.values())

    def sentences(self) -> list[str]:
        """The rules that decided, as people read them."""
        return [decision.sentence for decision in self.rules]


@dataclass
class Characterization:
    """The result: the workload and how it came about."""

    workload: Workload
    families: list[FamilyFacts]
    logs: list[Log]
    losses: list[Loss] = field(default_factory=list)
    noise: Noise = field(default_factory=list)  # (rule, files, bytes)
    partial_modules: list[str] = field(default_factory=list)
    skipped_modules: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """False where a module was partial or data could not be expressed (exit code 3)."""
        return not self.partial_modules and not any(
            loss.reason in (Reason.PARTIAL_MODULE, Reason.UNSUPPORTED_MODULE, Reason.MMAP)
            for loss in self.losses
        )


def summary_of(found: Characterization) -> dict[str, object]:
    """Ranks, families and what is left out, as plain values: what `characterize --json` prints beside the file."""
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
            }
            for f in found.families
        ],
        "noise": [{"rule": rule, "files": files, "bytes": size} for rule, files, size in found.noise],
        "partial_modules": found.partial_modules,
        "skipped_modules": found.skipped_modules,
        "uncovered": found.workload.model_dump(mode="json")["uncovered"],
    }
