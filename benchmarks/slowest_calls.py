"""Is the slowest call what an independent reader finds? Logs of real programs and of real applications, by PyDarshan.

    python benchmarks/slowest_calls.py [--logs N] [--seed N]

Logs are the known ones, and those of programs of the zoo with fresh seeds until there are N. PyDarshan reads the
timers; the longest one of the application's files, with its bytes, is set beside what the diagnosis says, and what the
fleet's row says.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from catalogue import ROOT
from full_scale import known_logs
from results import Results

import darshan
from workalike.darshan import open_log
from workalike.diagnose.job import read_job
from workalike.errors import WorkalikeError
from workalike.facts.slowest_call import slowest_call
from workalike.facts.thresholds import THRESHOLDS
from workalike.fleet.rows import rows_of
from workalike.fleet.site import Site

sys.path.insert(0, str(ROOT))

from tests.zoo.case import Bench, CannotRun, missing
from tests.zoo.run import chosen

LOGS = 200
TIMERS = (("F_MAX_READ_TIME", "MAX_READ_TIME_SIZE"), ("F_MAX_WRITE_TIME", "MAX_WRITE_TIME_SIZE"))
MODULES = {"POSIX": "POSIX", "MPI-IO": "MPIIO", "H5D": "H5D", "PNETCDF_VAR": "PNETCDF_VAR"}
"""Module of a log -> the prefix of its counters in PyDarshan."""


def by_pydarshan(path: Path, own: set[int]) -> tuple[float, set[int]]:
    """The longest time of a read or write of some files, and the bytes of the calls that took as long."""
    report = darshan.DarshanReport(str(path), read_all=False)
    longest = report.metadata["job"]["run_time"] + THRESHOLDS.run_time_rounded
    report.read_name_records()
    names = report.name_records
    of_own = {names[number] for number in own if number in names}

    def is_own(record: int) -> bool:
        """A dataset or variable is of a file whose name, with a colon, its own name begins with."""
        name = names.get(record, "")
        parts = name.split(":")
        return record in own or any(":".join(parts[:count]) in of_own for count in range(1, len(parts)))

    best, moved = 0.0, set[int]()
    for module, prefix in MODULES.items():
        if module not in report.modules:
            continue
        report.mod_read_all_records(module)
        frames = report.records[module].to_df()
        counters, times = frames["counters"], frames["fcounters"]
        for timer, size in TIMERS:
            if f"{prefix}_{timer}" not in times or f"{prefix}_{size}" not in counters:
                continue
            for record, seconds, size_moved in zip(
                times["id"], times[f"{prefix}_{timer}"], counters[f"{prefix}_{size}"], strict=True
            ):
                if not is_own(int(record)) or not 0 < seconds <= longest or seconds < best:
                    continue
                moved = {int(size_moved)} | (moved if seconds == best else set())
                best = float(seconds)
    return best, moved


def agrees(path: Path) -> str:
    """Empty where the diagnosis and the fleet say what PyDarshan says; else what each says."""
    job = read_job([open_log(path)])
    own = {int(number) for number, kept in zip(job.facts.record_ids.tolist(), job.own, strict=True) if kept}
    seconds, moved = by_pydarshan(path, {number % 2**64 for number in own} | own)
    found = slowest_call(job.facts, job.own)
    (row,) = rows_of(path, Site()).rows["log"]
    ours = (0.0, 0) if found is None else (found.seconds, found.bytes)
    stored = (row["slowest_call_s"] or 0.0, row["slowest_call_bytes"] or 0)
    if np.isclose(ours[0], seconds, rtol=1e-9) and (not seconds or ours[1] in moved) and stored == ours:
        return ""
    return f"PyDarshan {seconds:g} s, {sorted(moved)} B; diagnosis {ours}; fleet {stored}"


def logs_of_programs(number: int, seed: int, folder: Path) -> Iterator[Path]:
    """Captured logs of programs of the zoo."""
    made = 0
    for index, (kind, own) in enumerate(chosen(seed, 4 * number)):
        program = kind.program(own)
        if made >= number or missing(program):
            continue
        bench = Bench(program, folder / str(index))
        try:
            bench.build()
            logs = bench.capture(folder / f"logs-{index}")
        except CannotRun:
            continue
        made += len(logs)
        yield from logs


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--logs", type=int, default=LOGS)
    parser.add_argument("--seed", type=int, help="[default: of the system's entropy]")
    given = parser.parse_args()
    seed = secrets.randbelow(1_000_000) if given.seed is None else given.seed
    read, equal, refused = 0, 0, 0
    results = Results()
    with tempfile.TemporaryDirectory() as folder:
        known = known_logs()
        for path in [*known, *logs_of_programs(given.logs - len(known), seed, Path(folder))]:
            try:
                differs = agrees(path)
            except WorkalikeError as error:
                refused += 1
                print(f"{path.name[:60]}: {error.one_line()[:100]}")
                continue
            read += 1
            equal += not differs
            if differs:
                print(f"{path.name[:60]}: {differs}", flush=True)
    text = f"{equal} of {read}" + (f"; {refused} are refused" if refused else "")
    print(f"slowest call as PyDarshan finds it: {text}")
    results.add(
        f"slowest call of a job, in diagnosis and fleet, as PyDarshan finds it: known logs and programs of the zoo (seed {seed})",
        text,
        target=f"all of {LOGS}",
        reached=equal == read >= LOGS,
        equal=equal,
        logs=read,
    )
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
