"""Fidelity: a replica compared with its original, family by family and counter by counter.

Errors are in per cent of the original's counter under its law (docs/scaling-laws.md) and never negative. An error is
100 where nothing was expected and the replica has something. Times are in seconds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import read_text, write_text
from workalike.notebook import html_table
from workalike.record.run_record import Stamp
from workalike.text import percent_text, size_text
from workalike.workload.model import Level, Role
from workalike.workload.workload_file import first_error

Basis = Literal["plan", "record", "log"]
Line = Literal["model", "replica", "storage"]
"""The comparisons of a verdict: model against log, replica against model, and log against log at POSIX and STDIO."""
Library = Literal["same", "another", "unknown"]
"""Whether the libraries below which calls were compared have one version on both sides."""
GradeWord = Literal["exact", "faithful", "close", "different", "unfinished", "empty"]

FORMAT: Literal["workalike-fidelity"] = "workalike-fidelity"
FIDELITY_VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class HistogramDistance(_Part):
    """Total variation of operations by size bin, 0 to 1; null where the level has no histogram."""

    read: float | None = None
    write: float | None = None


class LevelFidelity(_Part):
    """Bytes of a family at one level, both directions together."""

    level: Level
    bytes_original: int
    bytes_expected: int
    bytes_replica: int
    error_pct: float
    at_level: bool


class CounterFidelity(_Part):
    """One counter. `expected` is the original under its law, which `error_pct` refers to.

    `fitted`: the workload was chosen by this counter among others, so that a small error is no evidence.
    """

    module: str
    counter: str
    at_level: bool = True  # counted at the level of the families concerned, not below it
    original: int | None
    law: str
    expected: float | None = None
    replica: int | None
    error_pct: float | None
    comparable: bool
    fitted: bool = False
    reason: str = ""


class FamilyFidelity(_Part):
    """One family. Bytes are at `level`; errors of start times are in seconds of the original run.

    I/O time is rank-seconds inside calls at `level`, by the timers that both sides have (docs/fidelity.md#io-time);
    `io_time_mean` is its mean over all ranks of the job. Waiting is the part of rank-seconds in collective MPI-IO calls
    that is not in POSIX calls below. `unknown` names the figures that are null, with the reasons.
    """

    role: Role
    name: str
    level: Level
    dumps_original: int
    dumps_replica: int
    bytes_original: int
    bytes_expected: int
    bytes_replica: int
    bytes_error_mean_pct: float
    bytes_error_max_pct: float
    total_bytes_error_pct: float
    start_time_error_mean_s: float | None
    start_time_error_max_s: float | None
    io_time_original_s: float | None
    io_time_replica_s: float | None
    io_time_mean_original_s: float | None = None
    io_time_mean_replica_s: float | None = None
    waiting_original_s: float | None = None
    waiting_replica_s: float | None = None
    late_mean_s: float | None = None
    late_max_s: float | None = None
    unknown: dict[str, str] = Field(default_factory=dict)
    size_histogram_distance: HistogramDistance = Field(default_factory=HistogramDistance)
    levels: list[LevelFidelity] = Field(default_factory=list)
    counters: list[CounterFidelity] = Field(default_factory=list)


class OverlapFidelity(_Part):
    """Share of the time with k dumps in progress, k = 0, 1, 2, …, from the first to the last I/O call.

    A dump is in progress from its first open to its last close. The 65th share stands for 64 and more. `distance` is the
    total variation of the two, 0..1.
    """

    original: list[float] = Field(default_factory=list)
    replica: list[float] = Field(default_factory=list)
    distance: float | None = None


class TimesFidelity(_Part):
    """Times of all families together, in seconds. Ratios are replica ÷ original.

    `io_time` and `waiting` are rank-seconds as in the families, `calls` is from the first to the last I/O call, `run` the
    whole run. A figure that is not known, or does not compare at this scale, is null; `unknown` has the reasons.
    """

    io_time_original_s: float | None = None
    io_time_replica_s: float | None = None
    io_time_ratio: float | None = None
    io_time_mean_original_s: float | None = None
    io_time_mean_replica_s: float | None = None
    waiting_original_s: float | None = None
    waiting_replica_s: float | None = None
    calls_original_s: float | None = None
    calls_replica_s: float | None = None
    calls_ratio: float | None = None
    run_original_s: float | None = None
    run_replica_s: float | None = None
    run_ratio: float | None = None
    start_time_error_mean_s: float | None = None
    start_time_error_max_s: float | None = None
    late_mean_s: float | None = None
    late_max_s: float | None = None
    overlap: OverlapFidelity = Field(default_factory=OverlapFidelity)
    unknown: dict[str, str] = Field(default_factory=dict)


class CauseFidelity(_Part):
    """A sentence on why times differ, and the figures that it follows from, by their names in this file."""

    text: str
    figures: list[str]


class ScaleFidelity(_Part):
    """The replica's scale: its factors relative to the original."""

    ranks: float
    bytes: float
    time: float


class UncoveredPart(_Part):
    """Bytes of the log that the workload leaves out. `counted` bytes are the application's and are in the share."""

    reason: str
    bytes: int
    files: int
    counted: bool


class UncoveredShare(_Part):
    """The share of the application's bytes that cannot be replicated, and the reasons.

    `unknown_files` are lost with bytes that the log does not tell: the share is then a lower bound.
    """

    bytes_pct: float
    reason: str
    unknown_files: int = 0
    parts: list[UncoveredPart] = Field(default_factory=list)


class GradeReason(_Part):
    """A determined counter, or bytes, that is not what it should be; `error_pct` is 100 where 0 was expected."""

    line: Line
    family: str
    module: str
    counter: str
    expected: int | None
    found: int | None
    error_pct: float


class LineFidelity(_Part):
    """One line of the verdict.

    `counters` is the number of counters that it rests on. Where it is not `judged`, `why` has the reason and there is no
    grade. `library` is of the storage line, where a library made calls for the application; `libraries` has the versions
    that differ, original's and replica's.
    """

    grade: GradeWord | None = None
    counters: int = 0
    judged: bool = False
    why: str = ""
    library: Library | None = None
    libraries: list[tuple[str, str]] = Field(default_factory=list)


class LinesFidelity(_Part):
    """The lines of the verdict, each graded alone."""

    model: LineFidelity = Field(default_factory=LineFidelity)
    replica: LineFidelity = Field(default_factory=LineFidelity)
    storage: LineFidelity = Field(default_factory=LineFidelity)

    def line(self, line: Line) -> LineFidelity:
        found: LineFidelity = getattr(self, line)
        return found


class CoverageFidelity(_Part):
    """The shares that the workload has of the application's bytes, calls and I/O time, in per cent of what remains
    without program start."""

    bytes_pct: float = 100.0
    calls_pct: float = 100.0
    seconds_pct: float = 100.0

    @property
    def least(self) -> float:
        """The smaller share of calls and of I/O time, per cent."""
        return min(self.calls_pct, self.seconds_pct)


class SetAsideFidelity(_Part):
    """Files that a rule set aside, with their bytes, calls and rank-seconds."""

    rule: str
    files: int
    bytes: int
    calls: int
    seconds: float


class VerdictFidelity(_Part):
    """The grade, and what speaks against a better one: the largest errors first, at most 50.

    It is that of the worst line that was judged.
    """

    grade: GradeWord
    lines: LinesFidelity = Field(default_factory=LinesFidelity)
    reasons: list[GradeReason] = Field(default_factory=list)


class AgreementFidelity(_Part):
    """Share of determined counters within 5 %, 0..1, on both lines; null where there is none to compare.

    `counters_fitted` of the model's counters chose the workload.
    """

    model: float | None = None
    replica: float | None = None
    counters_model: int = 0
    counters_replica: int = 0
    counters_fitted: int = 0


class Fidelity(_Part):
    """The content of fidelity.json. Files that were written before 0.9 have neither format nor version."""

    format: Literal["workalike-fidelity"] = FORMAT
    version: Annotated[int, Field(ge=1, le=FIDELITY_VERSION)] = FIDELITY_VERSION
    families: list[FamilyFidelity]
    counters: list[CounterFidelity]
    size_histogram_distance: HistogramDistance
    scale: ScaleFidelity
    uncovered: UncoveredShare
    coverage: CoverageFidelity = Field(default_factory=CoverageFidelity)
    set_aside: list[SetAsideFidelity] = Field(default_factory=list)
    basis: Basis
    verdict: VerdictFidelity
    agreement: AgreementFidelity
    ranks_original: int
    ranks_replica: int
    original_is: Literal["log", "workload"]
    times: TimesFidelity = Field(default_factory=TimesFidelity)
    causes: list[CauseFidelity] = Field(default_factory=list)
    complete: bool = True  # the run ended, and no call failed
    stamp: Stamp | None = None
    notes: list[str] = Field(default_factory=list)

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, and a row for each family."""
        rows = [
            (
                *(f.name, f.level.value, f"{f.dumps_replica:,} of {f.dumps_original:,}"),
                *(size_text(size) for size in (f.bytes_original, f.bytes_expected, f.bytes_replica)),
                percent_text(f.total_bytes_error_pct),
            )
            for f in self.families
        ]
        heads = ("family", "level", "dumps", "original", "expected", "replica", "error")
        stamp = f"{self.stamp.text}: {'; '.join(self.stamp.reasons)}" if self.stamp else ""
        unfinished = "" if self.complete else "the run did not end, or calls failed"
        return html_table(f"Verdict: {self.verdict.grade}", heads, rows, unfinished, stamp)


def write_fidelity(fidelity: Fidelity, path: str | Path) -> None:
    """Write fidelity.json.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    write_text(path, fidelity.model_dump_json(indent=1) + "\n")


def read_fidelity(path: str | Path) -> Fidelity:
    """Read fidelity.json.

    Raises:
        WorkalikeError: MISSING, or BAD_RECORD naming the place.
    """
    try:
        return Fidelity.model_validate_json(read_text(path, ErrorKind.BAD_RECORD))
    except ValidationError as error:
        place, message = first_error(error)
        raise WorkalikeError(
            ErrorKind.BAD_RECORD, message, file=path, place=place, hint="run `workalike compare` again"
        ) from error
