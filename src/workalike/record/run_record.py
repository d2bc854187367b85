"""The record of a run: the engine writes `run.jsonl` line by line, which becomes `run.json`.

Bytes are counted at the family's level. Times are seconds since the run's start, by the clock that
docs/plan-format.md ("Record") names. A record is untrusted input.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import open_file, read_text, write_text
from workalike.notebook import html_table
from workalike.plan.choices import only_counts
from workalike.plan.plan_schema import PlanScale
from workalike.text import plural, seconds_text, size_text
from workalike.workload.model import MAX_RANKS, Count, Level, Role
from workalike.workload.workload_file import first_error

RECORD_VERSION = 1
MAX_LINE_BYTES = 256 * 2**20
MAX_DUMP_LINES = 4_000_000
HISTOGRAM_BINS = 10
STAMP: Literal["not a performance result"] = "not a performance result"
MEMORY_FACTOR = 1.5  # a working set below this many times the memory may be in caches
FORMAT: Literal["workalike-record"] = "workalike-record"

Seconds = Annotated[float, Field(allow_inf_nan=False)]
Rank = Annotated[int, Field(ge=-1, lt=MAX_RANKS)]


def _printable(text: str) -> str:
    """The text without control characters: a record is untrusted, and a terminal acts on escape sequences."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


Text = Annotated[str, StringConstraints(max_length=4096), AfterValidator(_printable)]
Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]{1,40}$")]
Bins = Annotated[list[Count], Field(min_length=HISTOGRAM_BINS, max_length=HISTOGRAM_BINS)]


class _Part(BaseModel):
    """A part of the record. Fields that a newer engine adds are ignored."""

    model_config = ConfigDict(extra="ignore")


class RecordScale(_Part):
    """The replica's factors relative to the original; `scaling` says whether the bytes follow from weak scaling."""

    ranks: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    bytes: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    time: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    scaling: Literal["strong", "weak"] | None = None


class LevelBytes(_Part):
    """Bytes moved at one level during a dump; at MPI-IO also the calls, where the engine counted them."""

    bytes_written: Count = 0
    bytes_read: Count = 0
    coll_writes: Count | None = None
    indep_writes: Count | None = None
    coll_reads: Count | None = None
    indep_reads: Count | None = None


class KindTimes(_Part):
    """One kind of operation in a dump: its count, its seconds over all ranks, and the bytes of the longest one."""

    count: Count = 0
    min_s: Seconds = 0.0
    mean_s: Seconds = 0.0
    max_s: Seconds = 0.0
    total_s: Seconds = 0.0
    slowest_rank: Rank = -1
    max_bytes: Count = 0


class RecordDump(_Part):
    """One dump or load as it was performed."""

    family: Annotated[int, Field(ge=0)]
    role: Role
    number: Annotated[int, Field(ge=1)] = 1
    index: Annotated[int, Field(ge=0)]
    file: Annotated[int, Field(ge=0)] = 0
    ranks: Annotated[int, Field(ge=0, le=MAX_RANKS)]
    bytes_written: Count
    bytes_read: Count
    payload_bytes: Count = 0
    buffer_alignment: Count | None = None
    direct: bool | None = None
    levels: dict[Level, LevelBytes] = Field(default_factory=dict)
    due_s: Seconds
    start_s: Seconds
    end_s: Seconds
    late_s: Seconds
    io_s: Seconds = 0.0
    transfer_s: Seconds = 0.0
    kinds: Annotated[dict[Word, KindTimes], Field(max_length=64)] = Field(default_factory=dict)
    counters: Annotated[dict[Word, Count | Bins], Field(max_length=256)] = Field(default_factory=dict)

    def counter(self, name: str) -> int:
        """A counter at the family's level; 0 where the engine did not count it."""
        value = self.counters.get(name, 0)
        return value if isinstance(value, int) else 0

    def bins(self, name: str) -> list[int]:
        """The ten counts of a size histogram (`SIZE_READ`, `SIZE_WRITE`); all 0 where there is none."""
        value = self.counters.get(name)
        return list(value) if isinstance(value, list) else [0] * HISTOGRAM_BINS


class RecordFile(_Part):
    """A file that the run made. `size` is in bytes, as stat reports it after close; `name` is the engine's,
    with the folder before it if the family has `folders`."""

    role: Role
    family: Annotated[int, Field(ge=0)]
    number: Annotated[int, Field(ge=1)] = 1
    index: Annotated[int, Field(ge=0)]
    name: Text = ""
    size: Count


class RecordError(_Part):
    """A call that failed."""

    rank: Rank
    role: Role | None = None
    family: int = -1
    index: int = -1
    operation: Text
    reason: Text


class Verified(_Part):
    """Result of `--verify`.

    `bytes` were read back after their dumps, where the page cache may have served them. `end_bytes` were read once more
    at the end of the run, from the files that still existed; `storage_bytes` of these are of files of which the page
    cache held nothing by then. Records of older engines have only the first.
    """

    bytes: Count = 0
    errors: Count = 0
    end_bytes: Count = 0
    storage_bytes: Count = 0

    def text(self) -> str:
        """The result in words: what was proven, and by which way."""
        if self.errors:
            return f"verified: {self.errors:,} wrong of {self.bytes:,} bytes read back"
        if not self.bytes:
            return "verified: nothing, since no data was written"
        return (
            f"verified: {self.bytes:,} bytes read back after their dumps, all as written; {self.end_text()}"
        )

    def end_text(self) -> str:
        """What was proven at the end of the run."""
        if not self.end_bytes:
            return "no file was left to be read again at the end"
        if self.storage_bytes == self.end_bytes:
            way = "from storage"
        elif self.storage_bytes:
            way = f"{self.storage_bytes:,} of them from storage, the others maybe from the page cache"
        else:
            way = "maybe from the page cache, which does not drop them here"
        return f"{self.end_bytes:,} bytes still there at the end, read again {way}"


class RecordCompute(_Part):
    """Computing between dumps: `units` of work of a level by each rank, and the seconds over all ranks.

    `checksum` is the sum of all ranks' results (docs/plan-format.md, "Computing").
    """

    level: Annotated[int, Field(ge=1)]
    units: Count
    min_s: Seconds = 0.0
    mean_s: Seconds = 0.0
    max_s: Seconds = 0.0
    slowest_rank: Rank = -1
    checksum: Annotated[float, Field(allow_inf_nan=False)] = 0.0


class Stamp(_Part):
    """The reasons why the times of this run must not be quoted as performance."""

    text: Literal["not a performance result"] = STAMP
    reasons: list[Text]


HostBytes = Annotated[list[Count], Field(max_length=MAX_RANKS)]
Environment = dict[Text, Text | int | float | bool | HostBytes | None]


class Record(_Part):
    """What the engine did and measured: the content of run.json."""

    format: Literal["workalike-record"] = FORMAT
    version: Annotated[int, Field(ge=1, le=RECORD_VERSION)] = RECORD_VERSION
    plan_ranks: Annotated[int, Field(ge=1, le=MAX_RANKS)]
    processes: Annotated[int, Field(ge=1, le=MAX_RANKS)]
    backend: Text
    clock: Literal["gap", "deadline"] = "gap"
    time_scale: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    scale: RecordScale = Field(default_factory=RecordScale)
    environment: Environment = Field(default_factory=dict)
    dumps: list[RecordDump] = Field(default_factory=list)
    files: list[RecordFile] = Field(default_factory=list)
    errors: list[RecordError] = Field(default_factory=list)
    wall_s: Seconds | None = None
    compute: RecordCompute | None = None
    verified: Verified | None = None
    incomplete: bool = False
    stamp: Stamp | None = None

    @property
    def counts_only(self) -> bool:
        """Whether the backend only counts: then no data moved, and no time is an I/O time."""
        return only_counts(self.backend)

    def _repr_html_(self) -> str:
        """For notebooks: a row for each family."""
        families: dict[str, list[RecordDump]] = {}
        for dump in self.dumps:
            families.setdefault(f"{dump.role.value} {dump.number}", []).append(dump)
        rows = [_family_row(name, dumps, self.counts_only) for name, dumps in families.items()]
        title = f"Record: {plural(len(self.dumps), 'dump')} of {plural(self.plan_ranks, 'rank')}, backend {self.backend}"
        return html_table(title, ("family", "dumps", "written", "read", "slowest dump"), rows, self._said())

    def _said(self) -> str:
        """What a reader of its times must know."""
        parts = ["the run did not end"] if self.incomplete else []
        parts += [f"{self.stamp.text}: {'; '.join(self.stamp.reasons)}"] if self.stamp else []
        return "; ".join(parts)


def _family_row(name: str, dumps: list[RecordDump], counts_only: bool) -> tuple[str, ...]:
    slowest = None if counts_only else max(dump.io_s for dump in dumps)
    return (
        name,
        f"{len(dumps):,}",
        size_text(sum(dump.bytes_written for dump in dumps)),
        size_text(sum(dump.bytes_read for dump in dumps)),
        seconds_text(slowest),
    )


class _Run(Record):
    type: Literal["run"]


class _Dump(RecordDump):
    type: Literal["dump"]


class _Error(RecordError):
    type: Literal["error"]


class _End(_Part):
    type: Literal["end"]
    wall_s: Seconds
    files: list[RecordFile] = Field(default_factory=list)
    compute: RecordCompute | None = None
    verified: Verified | None = None


_Line = Annotated[_Run | _Dump | _Error | _End, Field(discriminator="type")]
_LINE: TypeAdapter[Any] = TypeAdapter(cast(Any, _Line))


def assemble(jsonl_path: str | Path) -> Record:
    """The record from the engine's lines, also after a crash (then `incomplete`).

    An incomplete last line is dropped; anything else that is wrong is an error.

    Raises:
        WorkalikeError: MISSING, or BAD_RECORD with the line's number.
    """
    path = Path(jsonl_path)
    record: Record | None = None
    ended = cut = False
    for number, line in _lines(path):
        if cut:
            raise _bad(path, number - 1, "is not JSON")
        try:
            part = _LINE.validate_json(line)
        except ValidationError as error:
            if error.errors(include_url=False)[0]["type"] == "json_invalid":
                cut = True  # allowed for the last line only
                continue
            place, message = first_error(error)
            raise _bad(path, number, f"{place}: {message}" if place else message) from error
        if ended:
            raise _bad(path, number, "comes after the line `end`")
        if isinstance(part, _Run):
            if record is not None:
                raise _bad(path, number, "a second line `run`")
            record = Record.model_construct(**_fields(part, Record))
        elif record is None:
            raise _bad(path, number, "comes before the line `run`")
        else:
            ended = _add(record, part, path, number)
    if record is None:
        raise _bad(path, 1, "no line `run`: the engine did not start")
    record.incomplete = cut or not ended
    record.stamp = stamp_of(record)
    return record


def _fields(part: BaseModel, model: type[BaseModel]) -> dict[str, Any]:
    """The fields of a checked line that a model has, without the line's type."""
    return {name: getattr(part, name) for name in model.model_fields}


def _add(record: Record, part: _Dump | _Error | _End, path: Path, number: int) -> bool:
    """Add one line to the record; True for the line `end`."""
    if isinstance(part, _Dump):
        if len(record.dumps) >= MAX_DUMP_LINES:
            raise _bad(path, number, f"more than {MAX_DUMP_LINES} dumps")
        record.dumps.append(RecordDump.model_construct(**_fields(part, RecordDump)))
    elif isinstance(part, _Error):
        record.errors.append(RecordError.model_construct(**_fields(part, RecordError)))
    else:
        record.wall_s, record.files = part.wall_s, part.files
        record.compute, record.verified = part.compute, part.verified
    return isinstance(part, _End)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """(number from 1, line) without empty lines. Memory is limited to the longest line allowed."""
    with open_file(path, ErrorKind.BAD_RECORD) as source:
        number = 0
        while line := source.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(line) > MAX_LINE_BYTES:
                raise _bad(path, number, f"longer than {MAX_LINE_BYTES} bytes")
            if line.strip():
                yield number, line


def _bad(path: Path, number: int, message: str) -> WorkalikeError:
    return WorkalikeError(
        ErrorKind.BAD_RECORD, message, file=path, place=f"line {number}", hint="run the workload again"
    )


def stamp_of(record: Record) -> Stamp | None:
    """The stamp "not a performance result" with its reasons; None where the times are a performance result."""
    reasons = []
    if record.counts_only:
        reasons.append(f"the {record.backend} backend moves no data")
    if record.scale.bytes != 1 and not grown_weakly(record.scale):
        reasons.append(f"bytes-scale {record.scale.bytes:.4g}")
    if record.time_scale != 1:
        waiting = "" if record.time_scale else " (no waiting)"
        reasons.append(f"time-scale {record.time_scale:.4g}{waiting}")
    reasons += [] if record.counts_only else memory_reasons(record)
    if record.incomplete:
        reasons.append("the run did not end")
    return Stamp(reasons=reasons) if reasons else None


def grown_weakly(scale: RecordScale | PlanScale) -> bool:
    """Whether the bytes follow from weak scaling, so that each rank moves as much as one of the original."""
    return scale.scaling == "weak" and abs(scale.bytes - scale.ranks) <= 1e-9 * scale.ranks


def working_set(record: Record) -> int:
    """Bytes of the files at the end of the run, or of all dumps where the run did not end."""
    if record.files:
        return sum(file.size for file in record.files)
    return sum(dump.bytes_written + dump.bytes_read for dump in record.dumps)


def memory_reasons(record: Record) -> list[str]:
    """The reason if caches may have held the data. `memory_bytes` of the environment is the memory of all hosts."""
    memory, size = record.environment.get("memory_bytes"), working_set(record)
    if not isinstance(memory, int) or memory <= 0:
        return ["memory unknown, so caching cannot be ruled out"]
    if size >= MEMORY_FACTOR * memory:
        return []
    return [f"working set {size_text(size)}, under {MEMORY_FACTOR:g} x memory ({size_text(memory)})"]


def write_record(record: Record, path: str | Path) -> None:
    """Write run.json.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    write_text(path, record.model_dump_json(indent=1, exclude_none=False) + "\n")


def read_record(path: str | Path) -> Record:
    """Read and check run.json; a run.jsonl is assembled.

    Raises:
        WorkalikeError: MISSING, or BAD_RECORD naming the place.
    """
    path = Path(path)
    if path.suffix == ".jsonl":
        return assemble(path)
    try:
        return Record.model_validate_json(read_text(path, ErrorKind.BAD_RECORD))
    except ValidationError as error:
        place, message = first_error(error)
        raise WorkalikeError(
            ErrorKind.BAD_RECORD, message, file=path, place=place, hint="make it again with `workalike run`"
        ) from error


def record_schema() -> dict[str, Any]:
    """The JSON schema of run.json."""
    schema: dict[str, Any] = json.loads(json.dumps(Record.model_json_schema(mode="validation")))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "workalike record", **schema}
