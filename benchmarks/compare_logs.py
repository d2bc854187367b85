"""Whether the comparison of two logs says what is true: of a log and itself, of planted changes, of noise.

    python benchmarks/compare_logs.py [--runs N]

1. Every log that can be read, also those without data, is equal to itself in every counter.
2. Programs (`compared/`) are captured as they are and with one thing done otherwise: the comparison must say "changed",
   and the changes that it lists must have the counter that counts that thing. Captured twice as they are, they are equal.
3. Programs that do not do the same twice are captured five times, which is a baseline, and N times more (default 5):
   none of these is a change. Where they do all of it twice, it is one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from catalogue import ROOT
from results import Results

sys.path.insert(0, str(ROOT / "tests"))

from support.known_logs import EVERY_LOG, SHARED_WORKFLOWS
from workalike.compare.logs.comparison import compare_logs
from workalike.compare.logs.schema import LogComparison
from workalike.compare.logs.side import LogSide, side_of
from workalike.darshan import LogBuilder, open_logs

SOURCES = Path(__file__).parent / "compared"
BASELINE = 5
RANKS = 4
MANY_FILES = 100_000
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_pml": "ob1",
    "HWLOC_COMPONENTS": "-pci,-linuxio",
}
COMPILERS = {"writer": "cc", "streams": "cc", "noise": "cc", "shared": "mpicc"}

CHANGES: dict[str, dict[str, str]] = {
    "writer": {
        "double-size": "POSIX BYTES_WRITTEN",
        "more-writes": "POSIX WRITES",
        "unaligned": "POSIX FILE_NOT_ALIGNED",
        "gaps": "POSIX STRIDE",
        "backwards": "POSIX SEQ_WRITES",
        "seek-each": "POSIX SEEKS",
        "sync-each": "POSIX FSYNCS",
        "datasync-each": "POSIX FDSYNCS",
        "read-between": "POSIX RW_SWITCHES",
        "far-away": "POSIX MAX_BYTE_WRITTEN",
        "dup": "POSIX DUPS",
        "map": "POSIX MMAPS",
        "more-stats": "POSIX STATS",
        "emptied": "FILE TRUNCATIONS",
        "small-reads": "POSIX SIZE_READ_1K_10K",
        "read-twice": "POSIX BYTES_READ",
        "open-again": "POSIX OPENS",
        "file-more": "file more",
        "file-less": "file less",
        "rename-call": "POSIX RENAME_SOURCES",
        "delete": "FILE REMOVALS",
    },
    "streams": {
        "fdopen": "STDIO FDOPENS",
        "longer-lines": "STDIO BYTES_WRITTEN",
        "more-lines": "STDIO WRITES",
        "flush-each": "STDIO FLUSHES",
        "read-back": "STDIO READS",
        "seeks": "STDIO SEEKS",
        "descriptor": "POSIX FSYNCS",
        "append": "STDIO OPENS",
        "other-name": "file more",
    },
    "shared": {
        "independent": "MPI-IO COLL_WRITES",
        "split": "MPI-IO SPLIT_WRITES",
        "nonblocking": "MPI-IO NB_WRITES",
        "double-size": "MPI-IO BYTES_WRITTEN",
        "sync-each": "MPI-IO SYNCS",
        "hint": "MPI-IO HINTS",
        "view": "MPI-IO VIEWS",
        "file-per-rank": "file more",
        "rank-less": "JOB RANKS",
    },
    "arrays": {
        "chunk-size": "H5D CHUNK_SIZE_D2",
        "smaller-type": "H5D DATATYPE_SIZE",
        "dataset-more": "H5D DATASETS",
        "by-rows": "H5D WRITES",
        "read-back": "H5D READS",
        "flush": "H5D FLUSHES",
    },
}
"""For each program the things that it does otherwise, and the counter that must be named."""

NOISE: dict[str, tuple[str, ...]] = {
    "noise": (
        *("threads-own-files", "threads-one-file", "threads-one-log", "random-reads", "random-pieces"),
        *("temporary-names", "number-of-process", "polls-for-result", "progress-by-clock", "number-of-files"),
        *("processes", "order-of-files", "sorted-runs"),
    ),
    "noise.py": (
        *("temporary-folder", "names-by-date", "pool-of-threads", "order-of-sets", "numbers-as-text"),
        *("database", "retries"),
    ),
}


@dataclass
class Captures:
    """Runs programs under `workalike profile`, each run in a folder of its own."""

    folder: Path
    runs: int = 0

    def program(self, name: str) -> list[str]:
        """The command of a program, which is compiled at its first use."""
        if name not in COMPILERS:
            return [sys.executable, str(SOURCES / f"{name.removesuffix('.py')}.py")]
        target = self.folder / "bin" / name
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            source = str(SOURCES / f"{name}.c")
            # The optimizer must not merge the calls that a program makes.
            command = [COMPILERS[name], "-O1", "-fno-builtin", "-pthread", "-D_GNU_SOURCE", source]
            subprocess.run([*command, "-o", str(target)], check=True, stderr=subprocess.DEVNULL)
        return [str(target)]

    def side(self, name: str, *arguments: str, ranks: int = 0) -> LogSide:
        """The facts of a run; with ranks, under mpiexec."""
        self.runs += 1
        place = self.folder / f"run-{self.runs}"
        (place / "data").mkdir(parents=True)
        launcher = ["mpiexec", "-n", str(ranks)] if ranks else []
        workalike = str(Path(sys.executable).with_name("workalike"))
        subprocess.run(
            [workalike, "profile", "-o", f"{place}/logs/", "--", *launcher, *self.program(name), *arguments],
            cwd=place / "data",
            env={**os.environ, **MPI},
            check=True,
            capture_output=True,
        )
        shutil.rmtree(place / "data")
        return side_of(open_logs([place / "logs"]), f"{name} {' '.join(arguments)}")


def of_itself(results: Results) -> None:
    """A log and itself, read twice."""
    equal, counters, without = 0, 0, 0
    slowest = 0.0
    paths = [*EVERY_LOG, *SHARED_WORKFLOWS]
    for path in paths:
        start = time.perf_counter()
        sides = [side_of(open_logs([path]), path.name) for _ in range(2)]
        found = compare_logs([sides[0]], sides[1])
        slowest = max(slowest, time.perf_counter() - start)
        counters += found.compared.counters + found.program_start.counters
        without += found.compared.files == 0
        same = found.compared.word == found.program_start.word == "equal"
        equal += same
        if not same:
            print(f"not equal to itself: {path.name}: {found.headline}")
    results.add(
        "comparison of two logs: a log and itself, equal in every counter (also logs without data)",
        f"{equal} of {len(paths)} logs, {counters:,} counters; {without} have no file of an application; "
        f"the slowest takes {slowest:.1f} s",
        target="all",
        reached=equal == len(paths),
        equal=equal,
        logs=len(paths),
        counters=counters,
    )


def named(found: LogComparison) -> set[str]:
    """The counters of all changes that are listed, and whether there are files more or less."""
    return {
        change.kind if change.kind.startswith("file") else f"{change.module} {change.counter}"
        for change in found.compared.changes
    }


def of_changes(captures: Captures, results: Results) -> None:
    """Programs with one thing done otherwise, and twice the same."""
    right, total, again = 0, 0, 0
    for name, changes in CHANGES.items():
        ranks = RANKS if COMPILERS.get(name) == "mpicc" else 0
        plain = captures.side(name, ranks=ranks)
        second = compare_logs([plain], captures.side(name, ranks=ranks))
        again += second.word == "equal"
        if second.word != "equal":
            print(f"{name}, twice the same: {second.headline} {[c.counter for c in second.compared.changes]}")
        for change, counter in changes.items():
            fewer = ranks - 1 if change == "rank-less" else ranks
            found = compare_logs([plain], captures.side(name, change, ranks=fewer))
            total += 1
            good = found.word == "changed" and counter in named(found)
            right += good
            if not good:
                print(f"{name} {change}: {found.headline} {sorted(named(found))}")
    results.add(
        "… programs with one thing done otherwise: changed, naming the counter of that thing",
        f"{right} of {total}",
        target=f"all {total}",
        reached=right == total,
        right=right,
        changes=total,
    )
    results.add(
        "… the same programs run twice: equal",
        f"{again} of {len(CHANGES)}",
        target="all",
        reached=again == len(CHANGES),
        equal=again,
        programs=len(CHANGES),
    )


def of_noise(captures: Captures, results: Results, further: int) -> None:
    """Programs that do not do the same twice, against a baseline of their own; and each without one."""
    alarms: Counter[str] = Counter()
    alone = runs = noisy = found_twice = 0
    programs_in_all = sum(map(len, NOISE.values()))
    for name, programs in NOISE.items():
        for program in programs:
            baseline = [captures.side(name, program) for _ in range(BASELINE)]
            noisy += any(compare_logs([baseline[0]], side).word != "equal" for side in baseline[1:])
            twice = compare_logs(baseline, captures.side(name, program, "twice"))
            found_twice += twice.word == "changed"
            if twice.word != "changed":
                print(f"{program}, done twice: {twice.headline}")
            for _ in range(further):
                side = captures.side(name, program)
                found = compare_logs(baseline, side)
                runs += 1
                alone += compare_logs([baseline[0]], side).word == "changed"
                if found.word == "changed":
                    alarms[program] += 1
                    rows = [
                        (c.kind, c.file.rpartition("/")[2], c.counter, c.before, c.before_most, c.now)
                        for c in found.compared.changes[:4]
                    ]
                    print(f"{program}: {found.headline} {rows}")
    total = alarms.total()
    results.add(
        f"… false alarms beside a baseline of {BASELINE}, {programs_in_all} programs with threads, random "
        f"orders, temporary names, counts by the clock, {further} further runs each",
        f"{total} of {runs} ({alone} beside one run only; {noisy} programs differ from run to run in some counter)",
        target=f"≤ {runs // 100}",
        reached=total <= runs / 100,
        alarms=total,
        runs=runs,
        alarms_beside_one=alone,
    )
    results.add(
        "… the same programs, doing all of it twice, beside that baseline: changed",
        f"{found_twice} of {programs_in_all}",
        target="all",
        reached=found_twice == programs_in_all,
        found=found_twice,
        programs=programs_in_all,
    )


def of_many_files(folder: Path, results: Results) -> None:
    """How long logs of very many files take, with the reading."""
    paths = []
    for number in range(2):
        log = LogBuilder(nprocs=64, run_time=100)
        generator = np.random.default_rng(number)
        for place in range(MANY_FILES):
            name = "".join(generator.choice(list("abcdefgh_0123456789"), 8))
            log.posix(
                f"/scratch/run{number}/tmp{name}",
                rank=place % 64,
                OPENS=1,
                WRITES=4,
                SIZE_WRITE_0_100=4,
                BYTES_WRITTEN=400,
                ACCESS1_ACCESS=100,
                ACCESS1_COUNT=4,
                F_OPEN_START_TIMESTAMP=1 + place / MANY_FILES,
            )
        paths.append(log.write(folder / f"many{number}.darshan"))
    start = time.perf_counter()
    sides = [side_of(open_logs([path]), path.name) for path in paths]
    found = compare_logs([sides[0]], sides[1])
    seconds = time.perf_counter() - start
    results.add(
        f"… two logs of {MANY_FILES:,} files with random names in other folders, with reading",
        f"{seconds:.1f} s: {found.headline}",
        target="a few seconds",
        reached=seconds < 10,
        seconds=seconds,
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5, help="further runs of each program that scatters")
    given = parser.parse_args()
    results = Results()
    of_itself(results)
    with tempfile.TemporaryDirectory(prefix="compared-") as name:
        captures = Captures(Path(name))
        of_changes(captures, results)
        of_noise(captures, results, given.runs)
        of_many_files(Path(name), results)
    for figure in results.figures:
        print(f"{figure.measure}: {figure.figure} (target {figure.target})")
    results.write()
    return 0 if all(figure.reached is not False for figure in results.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
