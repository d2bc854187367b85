"""One row per file: what it was and what was done with it, as plain columns for questions over many jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache

import numpy as np
import numpy.typing as npt

from workalike.facts import naming
from workalike.facts.amounts import amounts_by_file
from workalike.facts.columns import Facts
from workalike.facts.counters import operations_of
from workalike.facts.levels import LevelChoice, choose_levels, interface_of, split_stdio
from workalike.facts.noise import noise_of
from workalike.facts.placement import place_of
from workalike.facts.rank_sets import RankSet, ranks_of
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, FloatArray, IntArray
from workalike.facts.rules import NoiseRule
from workalike.facts.single_records import SingleRecords, single_records
from workalike.facts.times import open_interval, whole_interval
from workalike.workload.words import Direction, Interface, Level, Pattern, Role

CodeArray = npt.NDArray[np.int8]
NOTHING = -1
"""The code for "none": not noise, no level because nothing moved, or no role in the name."""


@dataclass(frozen=True)
class FileTable:
    """One row per file of the job. A file that STDIO and another module moved data of has two rows.

    Codes int8[N] are indices in the closed list of their kind (`NoiseRule`, `Role`, `Interface`, `Level`, `Pattern`);
    -1 is none. `pattern_number` int64[N] is the same for files whose names differ in numbers only, -1 where the name
    says nothing. `ranks` int64[N] is the number of ranks that have the file; `rank` is that rank where only one has it,
    else -1. Bytes and operations int64[N] are at the level of their direction. Times float64[N] are seconds since the
    job's start, NaN where unknown.
    """

    file: IntArray
    noise: CodeArray
    role_by_name: CodeArray
    interface: CodeArray
    pattern_number: IntArray
    ranks: IntArray
    rank: IntArray
    written_level: CodeArray
    read_level: CodeArray
    bytes_written: IntArray
    bytes_read: IntArray
    writes: IntArray
    reads: IntArray
    written_pattern: CodeArray
    read_pattern: CodeArray
    first_open: FloatArray
    last_close: FloatArray
    start: FloatArray
    end: FloatArray

    def __len__(self) -> int:
        return len(self.file)

    @property
    def data(self) -> npt.NDArray[np.bool_]:
        """bool[N]: whether the file is the application's data (not noise) and data moved."""
        moved = self.bytes_written + self.bytes_read > 0
        kept: npt.NDArray[np.bool_] = (self.noise == NOTHING) & moved
        return kept


CODES: dict[str, type[StrEnum]] = {
    "noise": NoiseRule,
    "role_by_name": Role,
    "interface": Interface,
    "written_level": Level,
    "read_level": Level,
    "written_pattern": Pattern,
    "read_pattern": Pattern,
}
"""The closed list of words of each column of codes."""

NAMED = ("noise", "role_by_name", "pattern_number")
"""The columns that follow from names, and for noise from the bytes of all files."""
MEASURED = tuple(field.name for field in fields(FileTable) if field.name not in NAMED)
TIMES = ("first_open", "last_close", "start", "end")


def file_table(facts: Facts, *, placed: bool = True) -> FileTable:
    """The table of a job's files, in the order of `facts`; the access patterns are left out (-1) unless `placed`."""
    single = [] if placed else single_records(facts)
    others = np.setdiff1d(np.arange(len(facts)), np.concatenate([[], *(part.file for part in single)]))
    files = facts.some_files(others.tolist())
    parts = [(row, part) for row, file in files.items() for part in split_stdio(file)]
    rows = [_row(number, file, facts, placed) for number, file in parts]
    tables = [_columns_of_single(part) for part in single]
    if rows:
        columns = zip(MEASURED, zip(*rows, strict=True), strict=True)
        tables.append({name: np.array(column, dtype=_dtype_of(name)) for name, column in columns})
    return _whole(facts, tables)


def _columns_of_single(part: SingleRecords) -> dict[str, npt.NDArray[np.generic]]:
    files = len(part.file)
    codes: dict[str, npt.NDArray[np.int64]] = {
        "interface": np.full(files, _code(Interface, part.interface)),
        "written_level": np.where(part.bytes_written > 0, _code(Level, part.level), NOTHING),
        "read_level": np.where(part.bytes_read > 0, _code(Level, part.level), NOTHING),
        "written_pattern": np.full(files, NOTHING),
        "read_pattern": np.full(files, NOTHING),
    }
    columns = {name: codes[name] if name in codes else getattr(part, name) for name in MEASURED}
    return {name: column.astype(_dtype_of(name)) for name, column in columns.items()}


def _whole(facts: Facts, tables: list[dict[str, npt.NDArray[np.generic]]]) -> FileTable:
    """The table in the order of the files, with what names say."""
    joined = {
        name: np.concatenate([np.zeros(0, _dtype_of(name)), *(table[name] for table in tables)])
        for name in MEASURED
    }
    order = np.argsort(joined["file"], kind="stable")
    columns = {name: column[order] for name, column in joined.items()}
    file = columns["file"].tolist()
    names = [facts.names[row] for row in file]
    labels = noise_of(facts.record_ids.tolist(), facts.names, amounts_by_file(facts))
    noise = [labels[row] for row in file]
    patterns: dict[str, int] = {}
    found: dict[str, list[int]] = {"noise": [], "role_by_name": [], "pattern_number": []}
    for name, label in zip(names, noise, strict=True):
        named = not naming.is_obfuscated(name)
        found["noise"].append(_code(NoiseRule, label))
        found["role_by_name"].append(_code(Role, naming.role_of_names([name]) if named else None))
        pattern = patterns.setdefault(naming.pattern_of(name), len(patterns)) if named else NOTHING
        found["pattern_number"].append(pattern)
    said = {name: np.array(values, dtype=_dtype_of(name)) for name, values in found.items()}
    return FileTable(**columns, **said)


def _dtype_of(name: str) -> type[np.generic]:
    if name in CODES:
        return np.int8
    return np.float64 if name in TIMES else np.int64


def _row(number: int, file: FileFacts, facts: Facts, placed: bool) -> tuple[float, ...]:
    """The values of one row, in the order of `MEASURED`."""
    choices = choose_levels(file)
    written, read = choices.get(Direction.WRITE), choices.get(Direction.READ)
    main = max(choices.values(), key=lambda choice: choice.moved, default=None)
    level = main.level if main is not None else _any_level(file)
    ranks = ranks_of(file, level)
    opened = open_interval(file, level, facts.run_time)
    life = whole_interval(file, level, facts.run_time, opened)
    return (
        number,
        _code(Interface, interface_of(file, level)),
        ranks.size(facts.nprocs),
        _single(ranks),
        _code(Level, written.level if written else None),
        _code(Level, read.level if read else None),
        written.moved if written else 0,
        read.moved if read else 0,
        _operations(file, written, Direction.WRITE),
        _operations(file, read, Direction.READ),
        _pattern(file, written, Direction.WRITE) if placed else NOTHING,
        _pattern(file, read, Direction.READ) if placed else NOTHING,
        opened.start if opened else np.nan,
        opened.end if opened else np.nan,
        life.start,
        life.end,
    )


def _code(words: type[StrEnum], word: StrEnum | None) -> int:
    return NOTHING if word is None else _codes(words)[word]


@cache
def _codes(words: type[StrEnum]) -> dict[StrEnum, int]:
    return {word: code for code, word in enumerate(words)}


def _any_level(file: FileFacts) -> Level:
    return next((level for level, module in MODULE_OF_LEVEL.items() if module in file.modules), Level.POSIX)


def _single(ranks: RankSet) -> int:
    return ranks.ranks[0] if ranks.ranks is not None and len(ranks.ranks) == 1 else NOTHING


def _operations(file: FileFacts, choice: LevelChoice | None, direction: Direction) -> int:
    return operations_of(file.modules[MODULE_OF_LEVEL[choice.level]], direction) if choice else 0


def _pattern(file: FileFacts, choice: LevelChoice | None, direction: Direction) -> int:
    return _code(Pattern, place_of([file], choice.level, direction).pattern) if choice else NOTHING


def words_of(kind: type[StrEnum], codes: Sequence[int]) -> list[str | None]:
    """The words that a column of codes stands for; None for -1."""
    words = [word.value for word in kind]
    return [words[code] if code >= 0 else None for code in codes]
