"""Which log is a workload of? An adversary who holds workload files and a set of logs asks it of each.

    python benchmarks/linkage.py [--programs N] [--seed N]

The adversary characterizes the logs at the level of privacy that the workload states, as anybody can, and takes the one
whose workload is nearest in all numbers: sizes, times, counts and ranks, each by the factor between both, and 1 for each
number that only one side has. Where several are as near, the adversary picks one of them by chance. Asked are the
workloads of all known logs against these logs, at each level of `characterize --privacy`; and workloads of programs of
the zoo against logs of other runs of them, with other parameters, among the known logs. Beside them is what two numbers
alone give away, ranks and families, which every level has; and what a level costs: the share of the counters that are
within 5 % of the log's.
"""

from __future__ import annotations

import argparse
import math
import secrets
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from catalogue import ROOT
from full_scale import known_logs
from results import NO_TARGET, Results

sys.path.insert(0, str(ROOT))

from tests.zoo.case import Bench, CannotRun, missing
from tests.zoo.run import chosen

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import open_logs
from workalike.errors import WorkalikeError
from workalike.predict.agreement import share
from workalike.workload.model import Privacy, Workload
from workalike.workload.privacy import disclosing_less

Numbers = dict[str, float]
"""Path in the workload -> number."""
PROGRAMS = 20
MOST_FACTOR = 10.0
"""Numbers further apart count as 1, as one that is missing does."""
ENOUGH, MOST_LOST = 0.10, 0.01
"""Targets: the share that is linked at `summary`, and the median agreement lost at `rounded`."""
OPTIONS = CharacterizeOptions(tables=False)


def characterized(logs: list[Path]) -> Characterization | None:
    """None for what is refused."""
    try:
        return characterize(open_logs(logs), OPTIONS)
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


def chance(asked: Numbers, known: Mapping[str, Numbers], name: str) -> float:
    """How likely `name` is taken for what is asked: 1 if it alone is the nearest, a share where several are."""
    apart = {other: distance(asked, numbers) for other, numbers in known.items()}
    nearest = [other for other, value in apart.items() if value == min(apart.values())]
    return (name in nearest) / len(nearest)


def at(privacy: Privacy, workloads: Mapping[str, Workload]) -> dict[str, Numbers]:
    return {name: numbers_of(disclosing_less(each, privacy)) for name, each in workloads.items()}


def identified(asked: Mapping[str, Numbers], known: Mapping[str, Numbers]) -> float:
    """How many are linked with what has their name, in the mean of the adversary's choices."""
    return sum(chance(numbers, known, name) for name, numbers in asked.items())


def outline(workload: Workload) -> Numbers:
    """What no level hides: the number of ranks, here only its power of two, and that of the families."""
    return {"ranks": float(1 << workload.ranks.bit_length()), "families": float(len(workload.families))}


def lost(found: Characterization, privacy: Privacy) -> float | None:
    """The agreement with the log that a level costs; None where no counter is determined."""
    private = replace(found, workload=disclosing_less(found.workload, privacy))
    before, after = (share(model_against_log(pair_up(each, None))) for each in (found, private))
    return None if before is None or after is None else before - after


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
                    found.append(characterized(bench.capture(Path(folder) / f"logs-{run}")))
                except CannotRun:
                    found.append(None)
        if found[0] is not None and found[1] is not None:
            first[kind.name], second[kind.name] = (each.workload for each in found)
            print(f"{len(first)}: {kind.name}", flush=True)
    return first, second


def add(results: Results, privacy: Privacy, what: str, linked: float, tried: int) -> None:
    part = linked / max(1, tried)
    bounded = privacy is Privacy.SUMMARY
    print(f"{privacy.value}: {linked:.1f} of {tried}: {what}", flush=True)
    results.add(
        f"{privacy.value}: {what}",
        f"{linked:.1f} of {tried} ({100 * part:.0f} %)",
        target=f"≤ {100 * ENOUGH:.0f} %" if bounded else NO_TARGET,
        reached=part <= ENOUGH if bounded else None,
        linked=linked,
        tried=tried,
    )


def add_cost(results: Results, privacy: Privacy, costs: list[float]) -> None:
    median, most = statistics.median(costs), max(costs)
    bounded = privacy is Privacy.ROUNDED
    print(f"{privacy.value}: agreement lost: median {median:.3f}, most {most:.3f}", flush=True)
    results.add(
        f"{privacy.value}: agreement with the log that is lost, {len(costs)} logs",
        f"median {median:.3f}, most {most:.3f}",
        target=f"median ≤ {MOST_LOST}" if bounded else NO_TARGET,
        reached=median <= MOST_LOST if bounded else None,
        median=median,
        most=most,
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=PROGRAMS)
    parser.add_argument("--seed", type=int, help="[default: of the system's entropy]")
    given = parser.parse_args()
    seed = secrets.randbelow(1_000_000) if given.seed is None else given.seed
    read = {path.name: characterized([path]) for path in known_logs()}
    logs = {name: found for name, found in read.items() if found is not None}
    known = {name: found.workload for name, found in logs.items()}
    first, second = of_programs(given.programs, seed)
    results = Results()
    for privacy in Privacy:
        numbers = at(privacy, known)
        linked = identified(numbers, numbers)
        again = identified(at(privacy, first), numbers | at(privacy, second))
        add(results, privacy, "workloads of known logs whose log is the nearest", linked, len(known))
        add(
            results,
            privacy,
            f"workloads of {len(first)} programs of the zoo (seed {seed}), whose other run is the nearest among those of all "
            "programs and known logs",
            again,
            len(first),
        )
        costs = [cost for found in logs.values() if (cost := lost(found, privacy)) is not None]
        if privacy is not Privacy.NAMES:
            add_cost(results, privacy, costs)
    outlines = {name: outline(each) for name, each in known.items()}
    linked = identified(outlines, outlines)
    print(f"number of ranks and of families: {linked:.1f} of {len(known)}")
    results.add(
        "… by the numbers of ranks (as a power of two) and of families alone",
        f"{linked:.1f} of {len(known)} ({100 * linked / len(known):.0f} %)",
        linked=linked,
        tried=len(known),
    )
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
