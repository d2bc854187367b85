"""What the page is made from: a row for each trial, and one for each dump."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from workalike.errors import ErrorKind, WorkalikeError
from workalike.study.objective import DEFAULT, Objective
from workalike.study.share_of_ceiling import Possible
from workalike.study.statistics.any_look import ONE_LOOK, Looks
from workalike.study.statistics.intervals import Method
from workalike.study.statistics.sequential import Reviews
from workalike.study.statistics.table import Floats, Integers, Trials
from workalike.study.statistics.tails import percentiles95

COUNTS = {"ranks": "ranks", "nodes": "nodes"}
"""Factors that say what they set by their name."""
LONGEST = 44
"""Characters of a name in text and figures."""


@dataclass(frozen=True)
class DumpTable:
    """A row for each dump."""

    trial: Integers
    """The row of its trial in the study's table."""
    index: Integers
    bytes: Floats
    """Written and read."""
    seconds: Floats
    """NaN for a dump of a trial that does not count."""
    written: Floats
    """Bytes."""
    end_s: Floats
    """Seconds of the run at which it ended."""
    planned: Floats
    """Bytes that the plan writes and reads; NaN where they are not known."""

    def bandwidth(self) -> Floats:
        """Bytes per second; NaN where there is no time."""
        good = (self.seconds > 0) & (self.bytes > 0) & np.isfinite(self.seconds) & np.isfinite(self.bytes)
        out = np.full(len(self.bytes), np.nan)
        out[good] = self.bytes[good] / self.seconds[good]
        return out


def no_dumps() -> DumpTable:
    nothing = np.zeros(0)
    whole = nothing.astype(np.int64)
    return DumpTable(whole, whole, nothing, nothing, nothing, nothing, nothing)


@dataclass(frozen=True)
class StudyTable:
    """A row for each trial; NaN where something was not measured.

    Args:
        block: the trial's block.
        setting: the name of its setting.
        factors: levels by the factor's name.
        bandwidth: bytes per second; NaN for a failed trial.
        wall_s: seconds of the whole trial.
        io_time_s: seconds in I/O.
        slowest_dump_s: seconds of the slowest dump.
        write_time_s: seconds in calls that write, summed over the processes; empty where that was not recorded.
        started: when the trial began, in seconds since 1970, NaN where that is not known; empty where none is.
        dumps: a row for each dump.
        method: of intervals that are of a mean over blocks.
        reference: the setting that others are compared with; the first one if not given.
        same: two names of one setting (the A/A check); the second has no other part in the results.
        title: the study's name.
        reviews: of a study that ended by its results; their intervals take the place of those for a fixed number of
            blocks.
        states: of each trial, as its row says; empty where that is not known.
        planned: trials that the study has in all, also those that have not run; 0 where that is not known.
        in_memory: a sentence on trials whose data the page cache may have held; empty where there are none.
        looks: after which blocks the study may have ended by its results: what all other intervals are corrected for.
        search: a sentence on the search that chose the settings.
        possible: what one process could have got in each trial; None where that was not measured.
        objectives: what settings are compared by: the first decides, and the others are reported beside it.
        counts: what factors set by numbers of `ranks` or `nodes`, by the factor's name.
        group_by: the factor whose levels each have a line, however many they are; by default the first that has few.
        scaling: of each trial, `weak` or `strong` as it was asked for; empty where that is not known.

    Raises:
        WorkalikeError: USAGE when the columns differ in length or a named setting has no trial.
    """

    block: Integers
    setting: Sequence[str]
    bandwidth: Floats
    wall_s: Floats
    io_time_s: Floats
    slowest_dump_s: Floats
    factors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    dumps: DumpTable = field(default_factory=no_dumps)
    reference: str | None = None
    same: tuple[str, str] | None = None
    title: str = "A study"
    reviews: Reviews | None = None
    search: str = ""
    possible: Possible | None = None
    objectives: tuple[Objective, ...] = DEFAULT
    counts: Mapping[str, str] = field(default_factory=lambda: COUNTS)
    scaling: Sequence[str] = ()
    method: Method = Method.STUDENT
    write_time_s: Floats = field(default_factory=lambda: np.zeros(0))
    group_by: str = ""
    started: Floats = field(default_factory=lambda: np.zeros(0))
    looks: Looks = ONE_LOOK
    states: Sequence[str] = ()
    planned: int = 0
    in_memory: str = ""

    def __post_init__(self) -> None:
        columns = [self.block, self.setting, self.bandwidth, self.wall_s, self.io_time_s, self.slowest_dump_s]
        columns += [self.possible.rate] if self.possible is not None else []
        columns += [own for own in (self.scaling, self.states) if own]
        columns += [own for own in (self.write_time_s, self.started) if len(own)]
        dumps = [getattr(self.dumps, column.name) for column in fields(self.dumps)]
        for lengths in ({*map(len, columns), *map(len, self.factors.values())}, set(map(len, dumps))):
            if len(lengths) > 1:
                raise WorkalikeError(
                    ErrorKind.USAGE,
                    f"columns of a study have {sorted(lengths)} rows",
                    hint="give every column a row for each trial, or dump",
                )
        if not len(self.block):
            raise WorkalikeError(ErrorKind.USAGE, "a study without trials", hint="run it first")
        named = {*(self.same or ()), *([self.reference] if self.reference is not None else [])}
        if absent := named - set(self.setting):
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"no trial has the setting {sorted(absent)[0]!r}",
                hint="name one of the study",
            )

    def base(self) -> str:
        """The reference."""
        return self.reference if self.reference is not None else self.setting[0]

    @property
    def objective(self) -> Objective:
        """The one that decides."""
        return self.objectives[0]

    def values(self, objective: Objective | None = None) -> Floats:
        """A value for each trial, by default of the objective that decides."""
        columns = {
            Objective.BANDWIDTH: self.bandwidth,
            Objective.IO_TIME: self.io_time_s,
            Objective.WALL_TIME: self.wall_s,
            Objective.SLOWEST_DUMP: self.slowest_dump_s,
        }
        objective = self.objective if objective is None else objective
        if objective in columns:
            return columns[objective]
        return percentiles95(self.dumps.trial, self.dumps.seconds, len(self.block))

    def trials(self, value: Floats | None = None, *, with_copy: bool = False) -> Trials:
        """Columns for the statistics, of the objective unless another value is given; the A/A copy is left out."""
        value = self.values() if value is None else value
        copy = self.same[1] if self.same and not with_copy else None
        keep = [i for i, name in enumerate(self.setting) if name != copy]
        return Trials(
            np.asarray(self.block)[keep],
            [self.setting[i] for i in keep],
            np.asarray(value, dtype=np.float64)[keep],
            {name: [column[i] for i in keep] for name, column in self.factors.items()},
        )


def shown(name: str) -> str:
    """A name for people: printable, and short."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(name)) or "(no name)"
    if len(text) > LONGEST:
        half = LONGEST // 2
        text = f"{text[:half]}…{text[-half:]}"
    return text
