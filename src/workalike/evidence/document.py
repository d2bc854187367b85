"""The evidence file: a closed set of fields, with numbers and words of closed lists. It is untrusted input.

    python -m workalike.evidence.document DIR

writes the JSON schema to DIR; the repository keeps it in `schema/`, and a test compares them.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from workalike.compare.fidelity_schema import GradeWord, Line
from workalike.compare.laws import all_counters
from workalike.errors import ErrorKind, WorkalikeError
from workalike.evidence.words import FileSystem, Mpi, MpiIo, Part, Program, Reason
from workalike.files import read_text, write_text
from workalike.workload.quantities import MAX_RANKS
from workalike.workload.words import Level
from workalike.workload.workload_file import first_error

FORMAT: Literal["workalike-evidence"] = "workalike-evidence"
VERSION = 1
MOST_BYTES = 4 * 2**20
MOST_REPEATS = 1000
MOST_DIFFERENCES = 10
SCHEMA_FILE = "evidence.schema.json"
PERFORMED_BY: Literal["the engine, performing a workload of the package, under capture"] = (
    "the engine, performing a workload of the package, under capture"
)
LOG_MADE: Literal["in the same place, before the pairs"] = "in the same place, before the pairs"

MODULES = frozenset({*(module for module, _ in all_counters()), *(level.value for level in Level)})
COUNTERS = frozenset({"bytes", *(counter for _, counter in all_counters())})
"""What a difference may name."""
Positive = Annotated[float, Field(ge=1e-30, le=1e30, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, le=1e30, allow_inf_nan=False)]
Size = Annotated[int, Field(ge=0, le=2**60)]
Repeats = Annotated[int, Field(ge=1, le=MOST_REPEATS)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Version = Annotated[str, Field(pattern=r"^[0-9]{1,6}(\.[0-9]{1,6}){0,3}$")]
Day = Annotated[str, Field(pattern=r"^20[0-9]{2}-[01][0-9]-[0-3][0-9]$")]


class _Part(BaseModel):
    """A part of the file, in which an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class System(_Part):
    """What says on what kind of system this was measured, and identifies nobody.

    Versions are numbers alone; null: not known. `kernel` is the first two numbers of its release. `memory_gib` is that of
    all nodes, rounded. `nodes` is what the engine found.
    """

    file_system: FileSystem
    kernel: Version | None
    mpi: Mpi
    mpi_version: Version | None
    mpi_io: MpiIo
    hdf5_version: Version | None
    workalike_version: Version | None
    engine_version: Version | None
    ranks: Annotated[int, Field(ge=1, le=MAX_RANKS)]
    nodes: Annotated[int, Field(ge=1, le=MAX_RANKS)] | None
    cores_of_a_node: Annotated[int, Field(ge=1, le=10**6)] | None
    memory_gib: Annotated[int, Field(ge=0, le=10**9)] | None


class Asked(_Part):
    """What the measurement was asked for. `limit_min` is in minutes."""

    repeats: Repeats
    limit_min: Positive


class Component(_Part):
    """A part of a progressive layout, up to byte `end` (null: the rest); `stripe_count` -1 is all targets."""

    end: Size | None
    stripe_count: Annotated[int, Field(ge=-1, le=10**6)]
    stripe_size: Size | None


class LayoutNumbers(_Part):
    """A layout in numbers, sizes in bytes; null: not asked for, or not found. Names of pools are left out."""

    stripe_count: Annotated[int, Field(ge=-1, le=10**6)] | None = None
    stripe_size: Size | None = None
    object_size: Size | None = None
    components: Annotated[list[Component], Field(max_length=64)] | None = None


class LayoutTest(_Part):
    """A layout that was asked for, and that of a file which the engine then wrote there.

    With nothing `asked`, `found` is what new files get. `as_asked` says whether all that was asked for was found.
    """

    asked: LayoutNumbers
    found: LayoutNumbers | None
    as_asked: bool | None
    not_measured: Reason | None = None


class Striping(_Part):
    """The self-test of striping."""

    tests: Annotated[list[LayoutTest], Field(max_length=100)]
    not_measured: Reason | None = None


class Spread(_Part):
    """Repeated values in their order. The coefficient of variation is the standard deviation ÷ the mean."""

    values: Annotated[list[Positive], Field(min_length=1, max_length=MOST_REPEATS)]
    median: Positive
    min: Positive
    max: Positive
    coefficient_of_variation: NotNegative | None
    not_measured: Reason | None = None

    @model_validator(mode="after")
    def _follows_from_the_values(self) -> Self:
        for name, value in _summary(self.values).items():
            if not _same(value, getattr(self, name)):
                raise ValueError(f"{name} does not follow from the values")
        return self


def _same(value: float | None, found: float | None) -> bool:
    if value is None or found is None:
        return value is found
    return math.isclose(value, found, rel_tol=1e-6, abs_tol=1e-9)


def _summary(values: list[float]) -> dict[str, float | None]:
    mean = statistics.fmean(values)
    return {
        "median": statistics.median(values),
        "min": min(values),
        "max": max(values),
        "coefficient_of_variation": statistics.stdev(values) / mean if len(values) > 1 else None,
    }


def spread_of(values: list[float]) -> Spread:
    """The spread of values that are all above 0."""
    document: dict[str, Any] = {"values": values, **_summary(values)}
    return Spread(**document, not_measured=Reason.SINGLE if len(values) < 2 else None)


class Variance(_Part):
    """The same workload again and again: the bandwidth of each run, bytes per second, syncs included."""

    workload: Program
    bytes: Size
    bandwidth: Spread | None
    not_measured: Reason | None = None

    @model_validator(mode="after")
    def _states_a_value_or_a_reason(self) -> Self:
        if self.bandwidth is None and self.not_measured is None:
            raise ValueError("there is neither a value nor a reason")
        return self


class Side(_Part):
    """A run: seconds in I/O calls and of the whole run, of all ranks together, by its log."""

    in_calls_s: Positive
    run_s: NotNegative


class Pair(_Part):
    """A run of the program and a run of its replica, one after the other."""

    first: Literal["program", "replica"]
    program: Side
    replica: Side


class Difference(_Part):
    """A counter on a line of the verdict that is not what it should be, by Darshan's names; `bytes` of a level."""

    line: Line
    module: Annotated[str, Field(pattern=r"^[A-Za-z0-9_+-]{1,20}$")]
    counter: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,60}$")]

    @model_validator(mode="after")
    def _are_known(self) -> Self:
        """Else a name of somebody could stand here."""
        if self.module not in MODULES or self.counter not in COUNTERS:
            raise ValueError("no module or counter of this name")
        return self

    expected: Size | None
    found: Size | None


class Verdict(_Part):
    """How the first replica was judged: the grade, that of each line (null: not judged), and agreements of counters.

    `differences` are the largest.
    """

    grade: GradeWord
    model: GradeWord | None
    replica: GradeWord | None
    storage: GradeWord | None
    agreement_model: Share | None
    agreement_replica: Share | None
    differences: Annotated[list[Difference], Field(max_length=MOST_DIFFERENCES)] = Field(default_factory=list)


class Transfer(_Part):
    """A program and the replica that was made of its log.

    `in_calls_ratio` is replica ÷ program of each pair, of the seconds in calls; null without a pair. Both move the same
    bytes, so that the ratio of bandwidths is its inverse.
    """

    program: Program
    performed_by: Literal["the engine, performing a workload of the package, under capture"] = PERFORMED_BY
    log_made: Literal["in the same place, before the pairs"] = LOG_MADE
    bytes: Size
    pairs: Annotated[list[Pair], Field(max_length=MOST_REPEATS)]
    in_calls_ratio: Spread | None
    verdict: Verdict | None
    not_measured: Reason | None = None

    @model_validator(mode="after")
    def _follows_from_the_pairs(self) -> Self:
        ratios = [pair.replica.in_calls_s / pair.program.in_calls_s for pair in self.pairs]
        found = self.in_calls_ratio.values if self.in_calls_ratio else []
        if len(ratios) != len(found) or not all(map(_same, ratios, found)):
            raise ValueError("in_calls_ratio does not follow from the pairs")
        if not self.pairs and self.not_measured is None:
            raise ValueError("there is neither a pair nor a reason")
        return self


class LeftOut(_Part):
    """What was asked for and is not in the file: `missing` layouts, runs or pairs."""

    part: Part
    program: Program | None
    missing: Annotated[int, Field(ge=1, le=10**6)]
    reason: Reason


class Evidence(_Part):
    """The content of an evidence file."""

    format: Literal["workalike-evidence"] = FORMAT
    version: Annotated[int, Field(ge=1, le=VERSION)] = VERSION
    made_on: Day
    system: System
    asked: Asked
    striping: Striping
    variance: Variance
    transfers: Annotated[list[Transfer], Field(max_length=100)]
    left_out: Annotated[list[LeftOut], Field(max_length=1000)]
    took_min: NotNegative


def evidence_text(evidence: Evidence) -> str:
    """The text of the file."""
    return evidence.model_dump_json(indent=1) + "\n"


def write_evidence(evidence: Evidence, path: Path) -> None:
    """Write an evidence file.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    write_text(path, evidence_text(evidence))


def read_evidence(path: Path) -> Evidence:
    """Read and check an evidence file.

    Raises:
        WorkalikeError: MISSING, or BAD_EVIDENCE naming the place.
    """
    try:
        return Evidence.model_validate_json(read_text(path, ErrorKind.BAD_EVIDENCE, MOST_BYTES))
    except ValidationError as error:
        place, message = first_error(error)
        raise WorkalikeError(
            ErrorKind.BAD_EVIDENCE,
            message,
            file=path,
            place=place,
            hint="ask for the file again, as `workalike evidence --dir DIR -o FILE` wrote it",
        ) from error


def evidence_schema() -> dict[str, Any]:
    """JSON schema of an evidence file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Evidence.model_json_schema(),
        "title": "workalike evidence",
    }


def schema_text() -> str:
    return json.dumps(evidence_schema(), indent=2) + "\n"


if __name__ == "__main__":
    write_text(Path(sys.argv[1]) / SCHEMA_FILE, schema_text())
