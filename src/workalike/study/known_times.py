"""What is known of a study's times before it runs, or goes on: its finished trials, and the ceilings of its directory.

A trial of a plan that has finished trials takes their mean. That of another plan takes its bytes at the rate of all
finished trials. Where none has finished, writes and reads take the rates of a machine file, which are those of one
process; without one, the study's assumed bandwidth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workalike.study import system
from workalike.study.journal import Finished, read_finished, refuse_foreign
from workalike.study.machine_file import Machine, read_machine, read_machines
from workalike.study.prepare import Prepared
from workalike.study.share_of_ceiling import READ, READ_CACHED, WORDS, WRITE, WRITE_CACHED
from workalike.study.study_file import StudyFile
from workalike.text import rate_text

RAN = ("ok", "not-taken", "timed-out")
"""States of trials that ran to their end, or as long as the study allows."""


@dataclass(frozen=True)
class Known:
    """What estimates go by.

    Attributes:
        took: digest of a plan -> seconds of each of its finished trials, with their launch.
        machines: machine files, with what they are called.
        directory: where settings put their data that name no directory of their own; None: not known.
        base: what the directories of settings are relative to.
        drops_caches: whether reads come from the storage.
    """

    took: Mapping[str, Sequence[float]] = field(default_factory=dict)
    machines: Sequence[tuple[str, Machine]] = ()
    directory: Path | None = None
    base: Path = field(default_factory=Path)
    drops_caches: bool = False

    @property
    def trials(self) -> int:
        return sum(map(len, self.took.values()))

    def seconds_of(self, prepared: Prepared) -> float | None:
        """The mean time of the finished trials of a plan; None without one."""
        took = self.took.get(prepared.plan_hash)
        return sum(took) / len(took) if took else None

    def rate_of_trials(self, settings: Sequence[Prepared]) -> float | None:
        """Bytes per second of all finished trials, without the waiting of their plans, and with their launch."""
        moved, spent = 0, 0.0
        for prepared in {each.plan_hash: each for each in settings}.values():
            took = self.took.get(prepared.plan_hash, ())
            moved += len(took) * prepared.bytes
            spent += sum(max(0.0, seconds - prepared.waiting_s) for seconds in took)
        return moved / spent if moved and spent > 0 else None

    def machine_of(self, prepared: Prepared) -> tuple[str, Machine] | None:
        """The machine file of the directory in which a setting puts its data."""
        named = prepared.wanted.directory
        folder = Path(self.base, named) if named is not None else self.directory
        if folder is not None and folder.is_dir():
            of_folder = system.system_id(folder)
            found = next((pair for pair in self.machines if pair[1].system_id == of_folder), None)
            if found is not None:
                return found
        return self.machines[0] if len(self.machines) == 1 else None

    def io_seconds(self, prepared: Prepared, machine: Machine) -> tuple[float, str] | None:
        """(seconds that a plan's bytes take at the ceilings of a machine, these in words); None where one is missing.

        Dumps that sync go by writes that end with a sync, others by writes into the page cache.
        """
        read = READ if self.drops_caches else READ_CACHED
        sizes: dict[str, int] = {}
        for dump in prepared.counted.values():
            write = WRITE if dump["kinds"].get("fsync", {}).get("count") else WRITE_CACHED
            for kind, size in ((write, dump["bytes_written"]), (read, dump["bytes_read"])):
                if size:
                    sizes[kind] = sizes.get(kind, 0) + size
        if not sizes.keys() <= machine.ceilings.keys():
            return None
        rates = {kind: machine.ceilings[kind].median for kind in sorted(sizes)}
        words = ", ".join(f"{WORDS[kind]} at {rate_text(rate)}" for kind, rate in rates.items())
        return sum(sizes[kind] / rate for kind, rate in rates.items()), words


def known_of(
    file: StudyFile, out: Path | None = None, directory: Path | None = None, machine: Path | None = None
) -> Known:
    """What is known of a study.

    Args:
        file: the study.
        out: the folder of its results, which may not exist yet.
        directory: replaces the study's.
        machine: a machine file; None: those of the results.

    Raises:
        WorkalikeError: USAGE if the folder holds another study; MISSING or BAD_STUDY for a machine file that is none.
    """
    finished: list[Finished] = []
    machines = [] if machine is None else [(machine.name, read_machine(machine))]
    if out is not None and out.is_dir() and any(out.iterdir()):
        if file.study.search is None:  # trials of rungs are shorter than those that are estimated
            refuse_foreign(out, file.identities)
            finished = read_finished(out)
        machines = machines or [("MACHINE.json", found) for found in read_machines(out)]
    took: dict[str, list[float]] = {}
    for row in (each.trial for each in finished):
        if row.get("state") in RAN and (seconds := row.get("took_s") or 0.0) > 0:
            took.setdefault(row.get("plan", ""), []).append(seconds)
    base, named = file.path.parent, file.study.directory
    place = directory if directory is not None else None if named is None else Path(base, named)
    return Known(took, machines, place, base, file.study.caches == "drop")
