"""One side of the comparison: a job's facts as one row of values for each file and module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import numpy as np

from workalike.compare.logs.counters import FILE, MODULES, OBJECTS, Use, use_of
from workalike.compare.logs.program_start import program_start
from workalike.compare.logs.tables import PairTable, tables_of
from workalike.compare.logs.traces import trace_values
from workalike.darshan import Log
from workalike.facts.columns import Facts, RecordColumns
from workalike.facts.gather import gather
from workalike.facts.jobs import job_of
from workalike.facts.records import BoolArray, FloatArray, IntArray

MOST = 2**62
"""Larger sums of untrusted counters are cut off here."""


@dataclass(frozen=True)
class ModuleValues:
    """The counters of a module, a row for each file that has it.

    `file` int64[R] are rows of the files, in their order, `values` int64[R, C], `measured` bool[R, C].
    `environment` int64[R, E] are the values of `environment_names`, of which a difference is only noted.
    """

    names: tuple[str, ...]
    file: IntArray
    values: IntArray
    measured: BoolArray
    environment_names: tuple[str, ...] = ()
    environment: IntArray = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))

    @property
    def measured_at_all(self) -> BoolArray:
        """bool[C], which counters are measured for any file."""
        found: BoolArray = np.logical_or.reduce(self.measured, axis=0)
        return found


@dataclass(frozen=True)
class LogSide:
    """A job of N files.

    `start` bool[N] marks files of the program's start. `shape` int64[N] has the modules, directions and sharing of a
    file as bits, and `opened` float64[N] the seconds of its first open (infinite where it is not known).
    `bytes_moved` int64[N] is at the module that saw most. `warnings` are what could not be true in the logs.
    """

    title: str
    program: str
    instrument: str
    version: str
    file_systems: frozenset[str]
    facts: Facts
    modules: dict[str, ModuleValues]
    tables: list[PairTable]
    start: BoolArray
    shape: IntArray
    opened: FloatArray
    bytes_moved: IntArray
    warnings: list[str]

    def __len__(self) -> int:
        return len(self.facts)


def side_of(logs: Sequence[Log], title: str) -> LogSide:
    """The side that the logs of one job are; `title` names it for people.

    Raises:
        WorkalikeError: as `job_of`, and as the log's reader where a region is damaged.
    """
    warnings: list[str] = []
    facts = gather(job_of(logs), warnings)
    counted = [module for module in MODULES if module in facts.modules and len(facts.modules[module])]
    modules = {module: _values_of(facts.modules[module], facts.nprocs) for module in counted}
    modules[FILE] = _of_files(facts)
    modules.update(_traced(logs, facts, warnings))
    moved = {module: _moved(len(facts), values) for module, values in modules.items() if module != FILE}
    most = np.max([np.zeros(len(facts), np.int64), *(a + b for a, b in moved.values())], axis=0)
    return LogSide(
        title=title,
        program=_program(logs[0].job.exe),
        instrument=_instrument(logs),
        version=logs[0].job.metadata.get("lib_ver", ""),
        file_systems=frozenset(kind for log in logs for kind, _ in log.job.mounts),
        facts=facts,
        modules=modules,
        tables=[table for module in counted for table in tables_of(facts.modules[module], len(facts))],
        start=program_start(facts),
        shape=_shape(facts, modules, moved),
        opened=_first_opens(facts),
        bytes_moved=most,
        warnings=list(dict.fromkeys([*warnings, *(line for log in logs for line in log.warnings)])),
    )


def _instrument(logs: Sequence[Log]) -> str:
    """Who wrote the logs, by `lib_ver`: workalike or darshan."""
    ours = any("workalike" in log.job.metadata.get("lib_ver", "") for log in logs)
    return "workalike" if ours else "darshan"


def _program(command: str) -> str:
    """The name of the executable, without its folder; empty where the log does not have it."""
    words = command.split()
    return PurePosixPath(words[0]).name if words else ""


def _values_of(records: RecordColumns, nprocs: int) -> ModuleValues:
    """One row of values for each file, in the order of the files."""
    names, starts = records.counter_names, records.starts
    seen, counters = records.counters != -1, np.maximum(records.counters, 0)

    def places(*wanted: Use) -> list[int]:
        return [place for place, name in enumerate(names) if use_of(records.module, name) in wanted]

    sums, largest, around = places(Use.SUM), places(Use.LARGEST, Use.EXACT), places(Use.ENVIRONMENT)
    compared = sums + largest
    labels = [*(names[place] for place in compared), "RANKS"]
    values = [
        _summed(counters[:, sums], starts),
        np.maximum.reduceat(counters[:, largest], starts, axis=0) if largest else _nothing(starts),
        _ranks(records, nprocs)[:, None],
    ]
    measured = [np.logical_or.reduceat(seen[:, compared], starts, axis=0), np.ones((len(starts), 1), bool)]
    if records.module in OBJECTS:
        objects = places(Use.OBJECTS)
        labels += [*(names[place] for place in objects), OBJECTS[records.module]]
        values.append(_of_objects(records, counters[:, objects]))
        known = np.logical_or.reduceat(seen[:, objects], starts, axis=0)
        measured += [known, np.ones((len(starts), 1), bool)]
    return ModuleValues(
        tuple(labels),
        records.file[starts],
        np.concatenate(values, axis=1),
        np.concatenate(measured, axis=1),
        tuple(names[place] for place in around),
        np.maximum.reduceat(counters[:, around], starts, axis=0) if around else _nothing(starts),
    )


def _of_objects(records: RecordColumns, counters: IntArray) -> IntArray:
    """int64[files, C + 1], sums over the datasets or variables of each file, and how many these are."""
    order, first = _objects(records)
    each = np.maximum.reduceat(counters[order], first, axis=0)
    cuts = np.concatenate([[0], np.flatnonzero(np.diff(records.file[order][first])) + 1])
    return np.concatenate([_summed(each, cuts), np.diff([*cuts, len(first)])[:, None]], axis=1)


def _nothing(starts: IntArray) -> IntArray:
    return np.zeros((len(starts), 0), dtype=np.int64)


def _summed(counters: IntArray, starts: IntArray) -> IntArray:
    """int64[files, C], sums over each file's records, at most `MOST`."""
    if not counters.shape[1]:
        return _nothing(starts)
    if len(starts) == len(counters):
        return np.minimum(counters, MOST)
    sums: IntArray = np.add.reduceat(counters, starts, axis=0)
    if int(counters.max(initial=0)) >= MOST // len(counters):
        rough = np.add.reduceat(counters.astype(np.float64), starts, axis=0)
        sums = np.where(rough >= MOST, MOST, sums)
    return sums


def _objects(records: RecordColumns) -> tuple[IntArray, IntArray]:
    """(an order of the records by file and object, the place in it at which each object begins)."""
    order = np.lexsort((records.ids, records.file)).astype(np.int64)
    file, ids = records.file[order], records.ids[order]
    new = (np.diff(file) != 0) | (ids[1:] != ids[:-1])
    return order, np.concatenate([[0], np.flatnonzero(new) + 1]).astype(np.int64)


def _ranks(records: RecordColumns, nprocs: int) -> IntArray:
    """int64[files], how many ranks have a record of the file; a reduced one stands for all of its log."""
    order = np.lexsort((records.ranks, records.first_rank, records.file))
    columns = [column[order] for column in (records.file, records.first_rank, records.ranks)]
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    everyone = np.where(records.members[order] >= 0, records.members[order], nprocs)
    weight = np.where(columns[2] < 0, everyone, 1) * new
    return np.minimum(np.add.reduceat(weight, records.starts), nprocs)


def _of_files(facts: Facts) -> ModuleValues:
    """What is known of the files themselves, each where it is."""
    values = np.stack([facts.stripe_size, facts.stripe_count, facts.removals, facts.truncations], axis=1)
    counted = facts.removals >= 0
    measured = np.stack([facts.stripe_size > 0, facts.stripe_size > 0, counted, counted], axis=1)
    return ModuleValues(
        ("STRIPE_SIZE", "STRIPE_COUNT", "REMOVALS", "TRUNCATIONS"),
        np.arange(len(facts)),
        np.maximum(values, 0),
        measured,
    )


def _traced(logs: Sequence[Log], facts: Facts, warnings: list[str]) -> dict[str, ModuleValues]:
    """Operations and bytes of each file in complete traces, by module."""
    out = {}
    for module, (file, names, values) in trace_values(logs, facts.record_ids, warnings).items():
        out[module] = ModuleValues(names, file, values, np.ones(values.shape, dtype=bool))
    return out


def _moved(files: int, values: ModuleValues) -> tuple[IntArray, IntArray]:
    """int64[N] each: bytes read and bytes written of every file at a module; 0 where it has none."""
    out = []
    for name in ("BYTES_READ", "BYTES_WRITTEN"):
        column = np.zeros(files, dtype=np.int64)
        if name in values.names:
            column[values.file] = np.minimum(values.values[:, values.names.index(name)], MOST // 2)
        out.append(column)
    return out[0], out[1]


SHARING_BITS = 2
DIRECTION_BITS = 2


def _shape(
    facts: Facts, modules: dict[str, ModuleValues], moved: dict[str, tuple[IntArray, IntArray]]
) -> IntArray:
    """int64[N]: bits of sharing (one rank, several, all), then of directions, then of modules."""
    ranks = np.zeros(len(facts), dtype=np.int64)
    code = np.zeros(len(facts), dtype=np.int64)
    for place, module in enumerate(MODULES):
        if module in modules:
            values = modules[module]
            code[values.file] |= 1 << (SHARING_BITS + DIRECTION_BITS + place)
            ranks[values.file] = np.maximum(ranks[values.file], values.values[:, values.names.index("RANKS")])
    for read, written in moved.values():
        code |= np.where(read > 0, 1 << SHARING_BITS, 0) | np.where(written > 0, 2 << SHARING_BITS, 0)
    return code | np.where(ranks <= 1, 0, np.where(ranks == facts.nprocs, 2, 1))


def _first_opens(facts: Facts) -> FloatArray:
    """float64[N], seconds; infinite where no module has a time that can be true."""
    opened = np.full(len(facts), np.inf)
    for records in facts.modules.values():
        if "F_OPEN_START_TIMESTAMP" in records.fcounter_names and len(records):
            stamps = records.fcounters[:, records.fcounter_names.index("F_OPEN_START_TIMESTAMP")]
            np.minimum.at(opened, records.file, np.where(np.isfinite(stamps) & (stamps > 0), stamps, np.inf))
    return opened
