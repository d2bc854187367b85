"""The cost of capture: each call, start and stop of an MPI program, memory, and a workload end to end.

Captured calls and those of the C library take turns in one process; runs of MPI with and without capture alternate.
The cost added to a call is given as a share of the uncaptured `pwrite` of the same run, that of open and close as a
share of the bare pair. End to end, a Welch two-sample t-test gives the 95 % interval of the difference in means.

    python benchmarks/capture_overhead.py [--only calls|end-to-end] [--pairs 9] [--end-to-end 30] [--dir /dev/shm]
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from results import Results

from workalike.capture.library import find_library
from workalike.launch.launchers import Mpiexec

SOURCE = Path(__file__).with_name("capture_calls.c")
DARSHAN = {"pwrite": 48, "lseek": 20, "fwrite": 30, "MPI_File_write_at": 107}
"""Per cent that Darshan 3.5.0 added on such a machine."""
TARGET = {"pwrite": 38, "lseek": 16, "fwrite": 24, "MPI_File_write_at": 85}
OPEN_CLOSE_TARGET, OPEN_CLOSE_DARSHAN = 25, 33
"""Per cent of the bare pair."""
START_STOP_TARGET_MS, START_STOP_DARSHAN_MS = 40, 74
T_95 = 1.96


class Bench:
    """Runs commands in one folder, captured or not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("logs", "maps"):
            (folder / name).mkdir()

    def environment(self, captured: bool) -> dict[str, str]:
        base = {**os.environ, **Mpiexec().environment(), "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader"}
        if not captured:
            return base
        return base | {
            "LD_PRELOAD": str(find_library()),
            "WORKALIKE_CAPTURE_DIR": str(self.folder / "logs"),
            "WORKALIKE_CAPTURE_MAPS": str(self.folder / "maps"),
            "WORKALIKE_CAPTURE_INCLUDE": f"^{self.folder}/",
        }

    def run(self, captured: bool, *command: object) -> tuple[float, str]:
        start = time.perf_counter()
        done = subprocess.run(
            [str(word) for word in command], cwd=self.folder, env=self.environment(captured),
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return time.perf_counter() - start, done.stderr

    def calls(self, captured: bool, program: Path) -> dict[str, list[float]]:
        """Nanoseconds by call: bare and captured ones, or one of a program that is captured or not."""
        lines = [line.split() for line in self.run(captured, program, self.folder / "calls")[1].splitlines()]
        return {name: [float(value) for value in values] for name, *values in lines if values}


def compile_program(folder: Path, name: str, compiler: str, *flags: str) -> Path:
    target = folder / name
    subprocess.run([compiler, "-O2", *flags, str(SOURCE), "-o", str(target)], check=True)
    return target


def cost_of_calls(bench: Bench, pairs: int, plain: Path, mpi: Path, results: Results) -> None:
    shares: dict[str, list[float]] = {name: [] for name in TARGET}
    opens: list[float] = []
    for _ in range(pairs):
        library = bench.calls(True, plain)
        (before,), (after,) = (bench.calls(captured, mpi)["MPI_File_write_at"] for captured in (False, True))
        bare_write = library["pwrite"][0]
        for name, all_shares in shares.items():
            bare, captured = library.get(name, (before, after))
            all_shares.append(100 * (captured - bare) / bare_write)
        bare, captured = library["open+close"]
        opens.append(100 * (captured - bare) / bare)
    print(f"cost added to a call, per cent of an uncaptured pwrite, median of {pairs} runs")
    for name, all_shares in shares.items():
        add_share(
            f"cost added to a call of 1 KiB, share of an uncaptured `pwrite`: `{name}`, median of {pairs} alternating runs",
            name, all_shares, TARGET[name], DARSHAN[name], results,
        )  # fmt: skip
    add_share(
        f"cost added to open + close of one file, share of the bare pair, median of {pairs} alternating runs",
        "open + close", opens, OPEN_CLOSE_TARGET, OPEN_CLOSE_DARSHAN, results,
    )  # fmt: skip


def add_share(
    label: str, name: str, shares: list[float], target: int, darshan: int, results: Results
) -> None:
    median = statistics.median(shares)
    results.add(
        label,
        f"{median:.1f} % (Darshan 3.5.0: {darshan})",
        target=f"≤ {target} %",
        reached=median <= target,
        per_cent=median,
    )
    print(
        f"  {name:18} {median:6.1f} %   target <= {target}   Darshan 3.5.0: {darshan}   "
        f"({min(shares):.1f} to {max(shares):.1f})"
    )


def start_and_stop(bench: Bench, pairs: int, results: Results) -> None:
    source = bench.folder / "empty.c"
    source.write_text(
        "#include <mpi.h>\nint main(int c, char** v) { MPI_Init(&c, &v); MPI_Finalize(); return 0; }\n"
    )
    subprocess.run(["mpicc", str(source), "-o", str(bench.folder / "empty")], check=True)
    command = ["mpiexec", "-n", "2", "./empty"]
    added = [1e3 * (bench.run(True, *command)[0] - bench.run(False, *command)[0]) for _ in range(pairs)]
    median = statistics.median(added)
    results.add(
        "start and stop of 2 MPI ranks",
        f"{median:.1f} ms (Darshan: {START_STOP_DARSHAN_MS})",
        target=f"≤ {START_STOP_TARGET_MS} ms",
        reached=median <= START_STOP_TARGET_MS,
        milliseconds=median,
    )
    print(
        f"start and stop of 2 ranks: {statistics.median(added):.1f} ms added, target <= {START_STOP_TARGET_MS}, "
        f"Darshan 3.5.0: {START_STOP_DARSHAN_MS}   ({min(added):.1f} to {max(added):.1f})"
    )


def end_to_end(bench: Bench, pairs: int, program: Path, results: Results) -> None:
    times: dict[bool, list[float]] = {False: [], True: []}
    for pair in range(pairs):
        for captured in (False, True) if pair % 2 else (True, False):
            times[captured].append(bench.run(captured, program, bench.folder / "end-to-end")[0])
    mean = {kind: statistics.mean(all_times) for kind, all_times in times.items()}
    error = math.sqrt(sum(statistics.variance(all_times) / pairs for all_times in times.values()))
    percent: Callable[[float], float] = lambda seconds: 100 * seconds / mean[False]  # noqa: E731
    difference = mean[True] - mean[False]
    results.add(
        f"end to end, IOR-like, {pairs} alternating pairs, Welch, 95 %",
        f"{percent(difference):+.2f} % ± {percent(T_95 * error):.2f} %",
        target="contains no overhead above 1 %, else the width",
        reached=percent(difference) + percent(T_95 * error) <= 1,
        per_cent=percent(difference),
        half_width=percent(T_95 * error),
    )
    print(
        f"end to end, {pairs} alternating pairs: {percent(difference):+.2f} % "
        f"± {percent(T_95 * error):.2f} % of {mean[False]:.3f} s (95 %, Welch)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("calls", "end-to-end"), default=None)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--end-to-end", type=int, default=30)
    parser.add_argument("--dir", type=Path, default=Path("/dev/shm"))
    options = parser.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory(prefix="workalike-bench-", dir=options.dir) as folder:
        bench = Bench(Path(folder))
        plain = compile_program(bench.folder, "plain", "cc", "-D_GNU_SOURCE", "-ldl")
        mpi = compile_program(bench.folder, "mpi", "mpicc", "-DWITH_MPI", "-D_GNU_SOURCE")
        workload = compile_program(bench.folder, "workload", "cc", "-DWORKLOAD", "-D_GNU_SOURCE")
        if options.only != "end-to-end":
            cost_of_calls(bench, options.pairs, plain, mpi, results)
            start_and_stop(bench, options.pairs, results)
        if options.only != "calls":
            end_to_end(bench, options.end_to_end, workload, results)
    results.write()


if __name__ == "__main__":
    main()
