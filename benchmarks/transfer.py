"""Does a replica do on another system what its application does there? Both run in turn on four that the log is not of.

    python benchmarks/transfer.py [NAME ...] [--systems NAME ...] [--pairs N] [--state FILE]

A program is captured once on system A, a file system in memory. On each system B the program and the replica of A's log
run in turn, both captured, the replica at full scale with the log's times. The figure is the replica's seconds inside
calls on B, of all ranks, divided by the program's there; beside it stands by how much B differs from A for the program
itself. Inputs have just been copied to B by the client that runs the program, or made there by the engine, and are in
no page cache; a client of CephFS keeps 200 MiB of its own.

Programs count that are inside calls for at least 1 s on CephFS and for at least a tenth of their run. Others are
reported apart. Outcomes go to a state file after each run: a run that was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from application_pairs import Application
from beds import SYSTEMS, in_memory
from behaviour_programs import workalike
from catalogue import ROOT
from pairs import settle
from results import Results
from transfer_programs import PROGRAMS

sys.path.append(str(ROOT / "tests" / "support"))
from applications import ENVIRONMENT

from workalike.darshan import open_logs
from workalike.facts.amounts import amounts_by_file
from workalike.facts.columns import RecordColumns
from workalike.facts.gather import gather
from workalike.facts.jobs import job_of

PAIRS, LONGEST_S = 5, 600
PARTS = {"reads": "F_READ_TIME", "writes": "F_WRITE_TIME", "metadata": "F_META_TIME"}
BELOW = ("POSIX", "STDIO")
LEAST_S, LEAST_SHARE = 1.0, 0.1
"""A program with real I/O spends at least these seconds, and this share of its ranks' run, inside calls on CephFS."""
NEAR, ENOUGH = (0.8, 1.25), 0.8
CHANGED = 1
"""GNU tar's exit code where a file has changed as it was read: CephFS brings the times of folders up to date late."""


@dataclass(frozen=True)
class Side:
    """A run of a program or a replica: rank-seconds inside calls, and those of the whole run.

    `parts_s` are those of POSIX and STDIO in reads, writes and metadata calls.
    """

    inside_s: float
    run_s: float
    parts_s: dict[str, float]


@dataclass
class Case:
    """A program on a system: pairs of (program, replica)."""

    pairs: list[tuple[Side, Side]] = field(default_factory=list)
    failed: str = ""

    @property
    def ratios(self) -> list[float]:
        return [replica.inside_s / program.inside_s for program, replica in self.pairs]

    @property
    def cause(self) -> str:
        """In which calls program and replica differ most, of the median pair."""
        program, replica = sorted(self.pairs, key=lambda pair: pair[1].inside_s / pair[0].inside_s)[
            len(self.pairs) // 2
        ]
        part = max(PARTS, key=lambda name: abs(replica.parts_s[name] - program.parts_s[name]))
        return f"{part} {program.parts_s[part]:.3g} s, replica {replica.parts_s[part]:.3g} s"

    @property
    def is_real(self) -> bool:
        """Whether the program does so much I/O here that a ratio says something."""
        inside = statistics.median(program.inside_s for program, _ in self.pairs)
        share = statistics.median(program.inside_s / program.run_s for program, _ in self.pairs)
        return inside >= LEAST_S and share >= LEAST_SHARE


class State:
    """All outcomes so far, in a file that is written after each of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.on_a: dict[str, Side] = {}
        self.cases: dict[tuple[str, str], Case] = {}
        if path.exists():
            found = json.loads(path.read_text(encoding="utf-8"))
            self.on_a = {name: Side(**side) for name, side in found["on_a"].items()}
            for each in found["cases"]:
                pairs = [(Side(**a), Side(**b)) for a, b in each["pairs"]]
                self.cases[each["program"], each["system"]] = Case(pairs, each["failed"])

    def save(self) -> None:
        cases = [
            {"program": program, "system": system, "failed": case.failed}
            | {"pairs": [[asdict(a), asdict(b)] for a, b in case.pairs]}
            for (program, system), case in self.cases.items()
        ]
        document: dict[str, Any] = {"on_a": {n: asdict(s) for n, s in self.on_a.items()}, "cases": cases}
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(document, indent=1), encoding="utf-8")
        part.replace(self.path)


def side_of(logs: Sequence[Path]) -> Side:
    """Seconds inside calls and of the run, of all ranks of the logs of a program."""
    job = job_of(open_logs(list(logs)))
    facts = gather(job, [])
    amounts = amounts_by_file(facts)
    parts = {
        part: sum(seconds_of(table, timer) for name, table in facts.modules.items() if name in BELOW)
        for part, timer in PARTS.items()
    }
    return Side(float(amounts.seconds.sum()), job.run_time * max(1, job.nprocs), parts)


def seconds_of(table: RecordColumns, timer: str) -> float:
    """What a timer of all records of a module says."""
    found = table.fcounters[:, table.fcounter_names.index(timer)]
    return float(found[np.isfinite(found) & (found > 0)].sum())


def captured(words: Sequence[str], folder: Path, logs: Path, *options: str) -> Side:
    """Run a program in its folder under capture, which counts the files in that folder only."""
    logs.mkdir(parents=True)
    only = ("--include", f"^{re.escape(str(folder))}/", "--exclude", ".*")
    done = workalike(
        *("profile", "--stdio-sizes", *options, *only, "-o", f"{logs}/", "--", *words),
        cwd=folder,
        seconds=LONGEST_S,
    )
    found = sorted(logs.glob("*.darshan"))
    if done.returncode not in (0, CHANGED if words[0] == "tar" else 0) or not found:
        raise RuntimeError(f"{words[0]} was not captured: {done.stderr.strip()[-300:]}")
    side = side_of(found)
    if not side.inside_s:
        raise RuntimeError(f"{words[0]} made no call on a file in its folder")
    return side


def replica_on(place: Path, workload: Path, out: Path) -> Side:
    """Perform a workload at full scale and with its times, under capture."""
    done = workalike(
        *(
            "run",
            str(workload),
            "--dir",
            str(place),
            "-o",
            str(out),
            "--capture",
            "--quiet",
            "--time-scale",
            "1",
        ),
        seconds=LONGEST_S,
    )
    if done.returncode:
        raise RuntimeError(f"{workload.name} was not performed: {done.stderr.strip()[-300:]}")
    return side_of([out / "replica.darshan"])


@contextlib.contextmanager
def prepared(program: Application) -> Iterator[Path]:
    """A folder in memory with the program's inputs."""
    with in_memory() as memory:
        folder = memory / "app"
        folder.mkdir()
        program.prepare(folder)
        yield folder


def workload_of(program: Application, inputs: Path, state: State, work: Path) -> Path:
    """The workload of the log that system A gives."""
    workload = work / f"{program.name}.yaml"
    logs = work / f"{program.name}-on-a"
    if not workload.exists() or program.name not in state.on_a:
        shutil.rmtree(logs, ignore_errors=True)
        with in_memory() as memory:
            folder = memory / "app"
            shutil.copytree(inputs, folder, symlinks=True)
            settle(same_memory=False)
            state.on_a[program.name] = captured(program.command, folder, logs, "--dxt")
        found = sorted(map(str, logs.glob("*.darshan")))
        done = workalike("characterize", *found, "-o", str(workload), seconds=LONGEST_S)
        if done.returncode not in (0, 3):
            raise RuntimeError(f"{program.name} was not characterized: {done.stderr.strip()[-300:]}")
        with_cold_inputs(workload)
        state.save()
    return workload


def with_cold_inputs(workload: Path) -> None:
    """Let a replica drop its inputs from the page cache once it has made them."""
    document = yaml.safe_load(workload.read_text(encoding="utf-8"))
    for family in document["families"]:
        if family["role"] == "input":
            family["drop_caches"] = True
    workload.write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), encoding="utf-8")


def measure(program: Application, place: Path, inputs: Path, workload: Path) -> tuple[Side, Side]:
    """One pair on system B: the program, then its replica."""
    with tempfile.TemporaryDirectory() as work:
        folder = place / "app"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(inputs, folder, symlinks=True)
        settle(same_memory=True)
        original = captured(program.command, folder, Path(work) / "logs")
        shutil.rmtree(folder)
        settle(same_memory=False)
        data = place / "data"
        data.mkdir()
        try:
            replica = replica_on(data, workload, Path(work) / "out")
        finally:
            shutil.rmtree(data, ignore_errors=True)
    return original, replica


def run_all(
    programs: Sequence[Application], systems: Sequence[str], pairs: int, state: State, work: Path
) -> None:
    """All pairs that are missing, program by program."""
    for program in programs:
        if not program.needs():
            print(f"{program.name}: not installed here", flush=True)
            continue
        with prepared(program) as inputs:
            workload = workload_of(program, inputs, state, work)
            for system in systems:
                case = state.cases.setdefault((program.name, system), Case())
                if case.failed or len(case.pairs) >= pairs:
                    continue
                with SYSTEMS[system]() as place:
                    while len(case.pairs) < pairs and not case.failed:
                        try:
                            case.pairs.append(measure(program, place, inputs, workload))
                        except (RuntimeError, subprocess.TimeoutExpired) as error:
                            case.failed = str(error)
                        state.save()
                        print(line_of(program.name, system, case), flush=True)


def line_of(program: str, system: str, case: Case) -> str:
    if case.failed:
        return f"{program} on {system}: {case.failed}"
    original, replica = case.pairs[-1]
    return (
        f"{program} on {system}, pair {len(case.pairs)}: inside calls {original.inside_s:.3g} s of {original.run_s:.3g} s, "
        f"replica {replica.inside_s:.3g} s: {case.ratios[-1]:.2f} x"
    )


def show(results: Results, state: State) -> bool:
    """Add the figures; whether enough cases are near."""
    real: list[bool] = []
    for (program, system), case in sorted(state.cases.items()):
        if case.failed or not case.pairs:
            results.add(f"`{program}` on {system}", f"failed: {case.failed[:120]}", reached=False)
            real.append(False)
            continue
        ceph = state.cases.get((program, "cephfs"))
        counts = ceph is not None and not ceph.failed and bool(ceph.pairs) and ceph.is_real
        median = statistics.median(case.ratios)
        original = statistics.median(a.inside_s for a, _ in case.pairs)
        near = NEAR[0] <= median <= NEAR[1]
        on_a = state.on_a[program].inside_s
        figure = f"{median:.2f} ({min(case.ratios):.2f} to {max(case.ratios):.2f}) of {original:.3g} s"
        if on_a:
            figure += f"; this system ÷ memory, the program: {original / on_a:.3g}"
        if not near:
            figure += f"; {case.cause}"
        results.add(
            f"`{program}` on {system}{'' if counts else ' (little I/O)'}, {len(case.pairs)} pairs: replica ÷ program, inside "
            "calls",
            figure,
            target=f"{NEAR[0]} to {NEAR[1]}" if counts else "–",
            reached=near if counts else None,
            ratio=median,
            original_s=original,
        )
        if counts:
            real.append(near)
    share = sum(real) / len(real) if real else 0.0
    results.add(
        "programs with real I/O, on each system: replica ÷ program within 0.8 to 1.25",
        f"{sum(real)} of {len(real)}",
        target=f"≥ {100 * ENOUGH:.0f} %",
        reached=share >= ENOUGH,
        share=share,
    )
    return share >= ENOUGH


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [program.name for program in PROGRAMS]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--state", type=Path, default=ROOT / "build" / "transfer" / "state.json")
    given = parser.parse_args()
    if set(given.names) - set(names):
        parser.error(f"unknown: {', '.join(sorted(set(given.names) - set(names)))}")
    os.environ.update(ENVIRONMENT)
    given.state.parent.mkdir(parents=True, exist_ok=True)
    state = State(given.state)
    wanted = [program for program in PROGRAMS if not given.names or program.name in given.names]
    run_all(wanted, given.systems, given.pairs, state, given.state.parent)
    results = Results()
    good = show(results, state)
    for figure in results.figures:
        print(f"{figure.measure}: {figure.figure}")
    results.write()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
