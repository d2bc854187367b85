"""A side from a characterized log: the counters of every module of the families' files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

import numpy as np

from workalike.characterize.result import Characterization, DumpFacts, FamilyFacts
from workalike.compare.doubts import doubts_about
from workalike.compare.families import file_of_name, key_of_name
from workalike.compare.record_times import times_in
from workalike.compare.side import Side, SideDump, SideFamily, add_sums, direction_of
from workalike.compare.timers import META, TIMERS, add, timers_of
from workalike.compare.waiting import waiting_in
from workalike.facts.counters import NOT_OPENS, opens_in
from workalike.facts.plausible import latest_stamp, plausible_stamps
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, ModuleFacts
from workalike.facts.times import Interval, open_interval
from workalike.predict.determined import LARGEST, Counters, merge
from workalike.predict.prediction import Key
from workalike.workload.model import Direction, Level

FileKey = tuple[int, bool]


def side_of_log(
    log: Characterization,
    *,
    by_name: bool = False,
    levels: Mapping[Key, Level] | None = None,
    new_files: Collection[Key] = (),
) -> Side:
    """The side that a log is.

    Args:
        log: the characterized log.
        by_name: the log is of the engine, so the families follow from file names instead of the rules for roles.
        levels: the level to count each family at; by default the one that characterization chose.
        new_files: families of the engine whose dumps have files of their own, by which dumps are distinguished.
    """
    side = Side(log.workload.ranks, {}, instrument_of(log), set(log.partial_modules), basis="log")
    claims = _claims(log.families)
    of_engine = any(key_of_name(file.name) for family in log.families for file in family.files())
    by_file: dict[Key, dict[int, SideDump]] = defaultdict(dict)
    for index, facts in enumerate(log.families):
        for key, dumps in _split(facts, by_name, of_engine).items():
            level = _level(dumps, facts.family.counted_at, (levels or {}).get(key))
            family = side.families.setdefault(key, SideFamily(key[0], key[1], level))
            for dump in dumps:
                made = _dump(dump, level, facts.family.counted_at)
                files = {file_of_name(file.name) for file in dump.files} if key in new_files else set()
                file = files.pop() if len(files) == 1 else None
                if file is None:
                    family.dumps.append(made)
                elif file in by_file[key]:
                    by_file[key][file].join(made)
                else:
                    by_file[key][file] = made
                    family.dumps.append(made)
            _add_files(family, dumps, claims, index, side.unmeasured)
            _add_times(family, dumps, claims, index, log.workload.runtime)
    side.run_s = log.workload.runtime or None
    by_module = _files_by_module(log.families)
    side.calls = _calls(
        [file for of_module in by_module.values() for file in of_module], log.workload.runtime
    )
    side.doubts = doubts_about(by_module, log.workload.runtime)
    for family in side.families.values():
        if by_name:
            family.dumps.sort(key=lambda d: d.start_s)
        for module, counters in family.modules.items():
            add_sums(module, counters)
    return side


def instrument_of(log: Characterization) -> str:
    """Who wrote the log, by its `lib_ver`: workalike or darshan."""
    for file in log.logs:
        if "workalike" in file.job.metadata.get("lib_ver", ""):
            return "workalike"
    return "darshan"


def _split(facts: FamilyFacts, by_name: bool, of_engine: bool) -> dict[Key, list[DumpFacts]]:
    own_key = (facts.family.role, facts.family.number)
    if not by_name:
        return {own_key: facts.dumps}
    out: dict[Key, list[DumpFacts]] = defaultdict(list)
    for dump in facts.dumps:
        by_family: dict[Key, list[FileFacts]] = defaultdict(list)
        is_kept = dump.bytes_written or dump.bytes_read or not of_engine
        for file in dump.files:
            key = key_of_name(file.name) or (own_key if is_kept else None)
            if key is not None:  # the others belong to the start of the engine
                by_family[key].append(file)
        if len(by_family) == 1 and len(next(iter(by_family.values()))) == len(dump.files):
            out[next(iter(by_family))].append(dump)
            continue
        # Without their names, files of two families that different ranks write at one time look like one dump.
        for key, files in by_family.items():
            out[key].append(_of_files(dump, files, facts.family.counted_at))
    return out


def _of_files(dump: DumpFacts, files: list[FileFacts], level: Level) -> DumpFacts:
    """The part of a dump that some of its files are."""
    spans = [span for file in files if (span := open_interval(file, level, dump.end_s))]
    start = min((span.start for span in spans), default=dump.start_s)
    end = max((span.end for span in spans), default=dump.end_s)
    return DumpFacts(
        bytes_written=sum(f.bytes_at(level, Direction.WRITE) for f in files) if dump.bytes_written else 0,
        bytes_read=sum(f.bytes_at(level, Direction.READ) for f in files) if dump.bytes_read else 0,
        start_s=start,
        end_s=end,
        io_time_s=end - start if spans else dump.io_time_s,
        files=files,
    )


def _level(dumps: list[DumpFacts], own: Level, wanted: Level | None) -> Level:
    """The wanted level where every file has it and has one dump only, else the log's own."""
    files = [file for dump in dumps for file in dump.files]
    if wanted is None or wanted is own or not files or len({f.key for f in files}) != len(files):
        return own
    return wanted if all(MODULE_OF_LEVEL[wanted] in file.modules for file in files) else own


def _dump(dump: DumpFacts, level: Level, own: Level) -> SideDump:
    written, read = dump.bytes_written, dump.bytes_read
    if level is not own:
        written = sum(file.bytes_at(level, Direction.WRITE) for file in dump.files)
        read = sum(file.bytes_at(level, Direction.READ) for file in dump.files)
    return SideDump(written, read, dump.start_s, dump.end_s, dump.io_time_s, dump.bin_s)


def _claims(families: list[FamilyFacts]) -> dict[FileKey, dict[Direction | None, int]]:
    """For each file, the index of the family that its counters are added to, so that none is counted twice.

    A file of several families gives each direction to the first family that moved bytes in it. Other counters (opens
    and the like) go to the first of all.
    """
    owners: dict[FileKey, list[tuple[int, set[Direction]]]] = defaultdict(list)
    for index, facts in enumerate(families):
        moved = {Direction.READ} if any(d.bytes_read for d in facts.dumps) else set()
        moved |= {Direction.WRITE} if any(d.bytes_written for d in facts.dumps) else set()
        for file in facts.files():
            owners[file.key].append((index, moved))
    out: dict[FileKey, dict[Direction | None, int]] = {}
    for key, owning in owners.items():
        first = owning[0][0]
        out[key] = {None: first}
        for direction in Direction:
            out[key][direction] = next((p for p, moved in owning if direction in moved), first)
    return out


def _files(dumps: list[DumpFacts]) -> list[FileFacts]:
    return list({file.key: file for dump in dumps for file in dump.files}.values())


def _add_files(
    family: SideFamily,
    dumps: list[DumpFacts],
    claims: dict[FileKey, dict[Direction | None, int]],
    index: int,
    unmeasured: set[tuple[str, str]],
) -> None:
    for file in _files(dumps):
        claim = claims[file.key]
        for module, facts in file.modules.items():
            counters, missing = counters_of(facts)
            if module in NOT_OPENS:
                counters["OPENS"] = opens_in(facts, file.nprocs, file.modules.get("POSIX"))
            claimed = {n: v for n, v in counters.items() if claim[direction_of(n)] == index}
            merge(family.modules.setdefault(module, {}), claimed)
            unmeasured.update((module, name) for name in missing)


def _add_times(
    family: SideFamily,
    dumps: list[DumpFacts],
    claims: dict[FileKey, dict[Direction | None, int]],
    index: int,
    run_time: float,
) -> None:
    """Add the timers of the files, and the waiting in their collective calls; shared files as `_claims` has it.

    A stream whose descriptor a program has asked for (fileno) moves its data at POSIX. It was opened, and is closed, at
    STDIO: that time belongs to the data.
    """
    files = _files(dumps)
    for module in {module for file in files for module in file.modules}:
        for name in TIMERS:
            own = [file for file in files if claims[file.key][direction_of(name)] == index]
            records = times_in(own, module)
            seconds = timers_of(records, run_time) if records else {}
            add(family.timers.setdefault(module, {}), {name: seconds[name]} if name in seconds else {})
    streams = [f for f in files if claims[f.key][None] == index and _is_stream_below(f)]
    opened = times_in(streams, "STDIO")
    if opened and META in family.timers["POSIX"]:
        add(family.timers["POSIX"], {META: timers_of(opened, run_time).get(META, 0.0)})
    family.waiting += waiting_in((file for file in files if claims[file.key][None] == index), run_time)


def _is_stream_below(file: FileFacts) -> bool:
    """Whether the POSIX records of a file are those of a stream's descriptor, which no POSIX call has opened."""
    posix = file.modules.get("POSIX")
    if posix is None or "STDIO" not in file.modules or not posix.has("FILENOS"):
        return False
    opened = posix.has("F_OPEN_START_TIMESTAMP") and bool((posix.fcolumn("F_OPEN_START_TIMESTAMP") > 0).any())
    return posix.total("FILENOS") > 0 and not opened


def _files_by_module(families: list[FamilyFacts]) -> dict[str, list[FileFacts]]:
    """Each file of the application once, by the module of the level at which it is counted."""
    found: dict[FileKey, tuple[FileFacts, str]] = {}
    for facts in families:
        for file in facts.files():
            found.setdefault(file.key, (file, MODULE_OF_LEVEL[facts.family.counted_at]))
    out: dict[str, list[FileFacts]] = defaultdict(list)
    for file, module in found.values():
        out[module].append(file)
    return dict(out)


def _calls(files: Collection[FileFacts], run_time: float) -> Interval | None:
    """From the first to the last I/O call on the files, by the timestamps of any level; None without plausible ones."""
    limit = latest_stamp(run_time)
    starts: list[float] = []
    ends: list[float] = []
    for module in {module for file in files for module in file.modules}:
        records = times_in(files, module)
        if records is not None:
            starts += plausible_stamps(records.first(), limit).tolist()
            ends += plausible_stamps(records.last(), limit).tolist()
    return Interval(min(starts), max(starts + ends)) if starts and ends else None


def counters_of(facts: ModuleFacts) -> tuple[Counters, list[str]]:
    """Every integer counter over the records of one file (sums, or the largest), and those that were not measured.

    A counter is -1 where Darshan did not measure it; it then counts as 0.
    """
    values = np.maximum(facts.counters, 0)
    largest = values.max(axis=0, initial=0)
    exact = len(values) * int(largest.max(initial=0)) < 2**63
    sums = values.sum(axis=0) if exact else values.astype(object).sum(axis=0)
    counters = {
        name: int(largest[i] if name in LARGEST else sums[i]) for i, name in enumerate(facts.counter_names)
    }
    if not len(values):
        return counters, []
    never = (facts.counters == -1).all(axis=0)
    return counters, [name for name, missing in zip(facts.counter_names, never, strict=True) if missing]
