"""Which log is a workload of? An adversary who holds workload files and a set of logs asks it of each.

    python benchmarks/linkage.py [--programs N] [--seed N]

The adversary characterizes the logs as anybody can, and takes the one whose workload is nearest in all numbers: sizes,
times, counts and ranks, each by the factor between both, and 1 for each number that only one side has. Asked are the
workloads of all known logs against these logs, with all digits and with fewer (`characterize --round`); and workloads of
programs of the zoo against logs of other runs of them, with other parameters, among the known logs.
"""

from __future__ import annotations

import argparse
import math
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from catalogue import ROOT
from full_scale import known_logs
from results import Results

sys.path.insert(0, str(ROOT))

from tests.zoo.case import Bench, CannotRun, missing
from tests.zoo.run import chosen

from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import open_logs
from workalike.errors import WorkalikeError
from workalike.workload.model import Workload
from workalike.workload.rounding import round_workload

Numbers = dict[str, float]
"""Path in the workload -> number."""
PROGRAMS = 20
MOST_FACTOR = 10.0
"""Numbers further apart count as 1, as one that is missing does."""
DIGITS: dict[str, int | None] = {"all digits": None, "three digits": 3, "two digits": 2}
OPTIONS = CharacterizeOptions(tables=False)


def workload_of(logs: list[Path]) -> Workload | None:
    """The workload that a log gives; None for what is refused."""
    try:
        return characterize(open_logs(logs), OPTIONS).workload
    except WorkalikeError:
        return None


def numbers_of(workload: Workload) -> Numbers:
    """All numbers of a workload by their place, and its words as numbers of value 1."""
    return dict(_flat(workload.model_dump(mode="json", exclude_defaults=True), ""))


def _flat(value: Any, place: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _flat(each, f"{place}.{name}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _flat(each, f"{place}[{number}]")
    elif isinstance(value, bool | str):
        yield f"{place}={value}", 1.0
    elif value is not None:
        yield place, float(value)


def distance(a: Numbers, b: Numbers) -> float:
    """The mean difference of all numbers of both: 0 for the same, 1 for those that have nothing in common."""
    both = a.keys() & b.keys()
    apart = sum(_apart(a[place], b[place]) for place in both) + len(a.keys() ^ b.keys())
    return apart / max(1, len(a.keys() | b.keys()))


def _apart(x: float, y: float) -> float:
    if x == y:
        return 0.0
    if x <= 0 or y <= 0:
        return 1.0
    return min(1.0, abs(math.log(x / y)) / math.log(MOST_FACTOR))


def nearest(asked: Numbers, known: Mapping[str, Numbers]) -> str:
    return min(known, key=lambda name: (distance(asked, known[name]), name))


def rounded(workload: Workload, digits: int | None) -> Workload | None:
    if digits is None:
        return workload
    try:
        return round_workload(workload, digits)
    except WorkalikeError:
        return None


def identified(
    asked: Mapping[str, Workload], known: Mapping[str, Numbers], digits: int | None
) -> tuple[int, int]:
    """How many workloads are linked with their log, and how many could be rounded."""
    found = tried = 0
    for name, workload in asked.items():
        shown = rounded(workload, digits)
        if shown is not None:
            tried += 1
            found += nearest(numbers_of(shown), known) == name
    return found, tried


def of_programs(number: int, seed: int) -> tuple[dict[str, Workload], dict[str, Workload]]:
    """Workloads of programs of the zoo, and of another run of each with other parameters."""
    first: dict[str, Workload] = {}
    second: dict[str, Workload] = {}
    for kind, own in chosen(seed, 10 * number):
        if len(first) >= number:
            break
        if kind.name in first or missing(kind.program(own)):
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = []
            for run in (own, own + 1):
                bench = Bench(kind.program(run), Path(folder) / str(run))
                try:
                    bench.build()
                    found.append(workload_of(bench.capture(Path(folder) / f"logs-{run}")))
                except CannotRun:
                    found.append(None)
        if found[0] is not None and found[1] is not None:
            first[kind.name], second[kind.name] = found
            print(f"{len(first)}: {kind.name}", flush=True)
    return first, second


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=PROGRAMS)
    parser.add_argument("--seed", type=int, help="[default: of the system's entropy]")
    given = parser.parse_args()
    seed = secrets.randbelow(1_000_000) if given.seed is None else given.seed
    logs = {path.name: workload_of([path]) for path in known_logs()}
    workloads = {name: workload for name, workload in logs.items() if workload is not None}
    numbers = {name: numbers_of(workload) for name, workload in workloads.items()}
    first, second = of_programs(given.programs, seed)
    others = numbers | {name: numbers_of(workload) for name, workload in second.items()}
    results = Results()
    for words, digits in DIGITS.items():
        found, tried = identified(workloads, numbers, digits)
        again, repeated = identified(first, others, digits)
        print(f"{words}: {found} of {tried} known logs, {again} of {repeated} programs run again")
        results.add(
            f"linkage, {words}: workloads of known logs whose log is the nearest",
            f"{found} of {tried} ({100 * found / tried:.0f} %)",
            linked=found,
            tried=tried,
        )
        results.add(
            f"… workloads of {repeated} programs of the zoo (seed {seed}), whose other run is the nearest among those of all "
            "programs and known logs",
            f"{again} of {repeated} ({100 * again / max(1, repeated):.0f} %)",
            linked=again,
            tried=repeated,
        )
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
