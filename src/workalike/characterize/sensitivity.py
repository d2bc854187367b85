"""What changes among logs when a threshold is halved or doubled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workalike.characterize.pipeline import characterize
from workalike.darshan import Log, open_logs
from workalike.errors import WorkalikeError
from workalike.facts.thresholds import Threshold, recorded, varied
from workalike.workload.workload_file import workload_text

FACTORS = (0.5, 2.0)


@dataclass(frozen=True)
class Job:
    """The logs of one job, under a name."""

    name: str
    logs: Sequence[Log]


@dataclass(frozen=True)
class Effect:
    """The jobs whose workload or rules change when a threshold is halved, and when it is doubled."""

    threshold: Threshold
    halved: tuple[str, ...]
    doubled: tuple[str, ...]

    @property
    def either(self) -> tuple[str, ...]:
        """The jobs that change in either case."""
        return tuple(dict.fromkeys(self.halved + self.doubled))


def jobs_of(paths: Iterable[Path]) -> list[Job]:
    """A job for each log, and for each folder of logs.

    Raises:
        WorkalikeError: as `open_logs`.
    """
    return [Job(path.stem, open_logs([path])) for path in paths]


def effects(thresholds: Sequence[Threshold], jobs: Sequence[Job]) -> Iterator[Effect]:
    """The effect of each threshold on the jobs, one threshold after the other."""
    usual, read = {}, {}
    for job in jobs:
        with recorded() as names:
            usual[job.name] = outcome(job)
        read[job.name] = names
    for threshold in thresholds:
        concerned = [job for job in jobs if threshold.name in read[job.name]]
        changed = []
        for factor in FACTORS:
            with varied(threshold.name, factor):
                changed.append(tuple(job.name for job in concerned if outcome(job) != usual[job.name]))
        yield Effect(threshold, *changed)


def outcome(job: Job) -> str:
    """Everything that the rules decide for a job, as text: its workload, the rules' sentences, and what is noise."""
    try:
        found = characterize(job.logs)
    except WorkalikeError as error:
        return error.one_line()
    rules = [sentence for family in found.families for sentence in family.sentences()]
    return "\n".join([workload_text(found.workload), *rules, *map(str, found.noise)])
