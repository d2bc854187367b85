"""Does a replica take as long as its original, and do its dumps begin when the original's did?

    python benchmarks/wall_clock.py [NAME ...] [--pairs N] [--logs DIR]

Each program of ../shared/apps/behaviour is run under `workalike profile` and replicated at full scale with its times,
in turn, N times. The logs of both are compared: the time from the first to the last I/O call, the start of each dump,
how many dumps are in progress at once, and the time inside calls.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from behaviour_programs import KNOWN, PROGRAMS, Program, build
from pairs import DISTANCE, Pair, overlap, pair_of
from results import Results

PAIRS = 5
SHORT_S, WITHIN_S = 2.0, 0.05
"""A program of less time is compared in seconds."""
RATIOS = (0.97, 1.05)
START_S, START_SHARE = 0.02, 0.01


def measured(program: Program, work: Path) -> Pair:
    """Run a program and its replica below `work`."""
    shutil.rmtree(work, ignore_errors=True)
    app = work / "app"
    app.mkdir(parents=True)
    build(program, app)
    return pair_of(program.name, program.command, app, work)


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def is_good(pairs: Sequence[Pair]) -> bool:
    original = median([pair.original_s for pair in pairs])
    late = median([pair.start_error_s for pair in pairs])
    apart = overlap(pairs)
    if original >= SHORT_S:
        in_time = RATIOS[0] <= median([pair.ratio for pair in pairs]) <= RATIOS[1]
    else:
        in_time = abs(median([pair.replica_s - pair.original_s for pair in pairs])) <= WITHIN_S
    return in_time and late <= max(START_S, START_SHARE * original) and apart <= DISTANCE


def show(results: Results, program: Program, pairs: Sequence[Pair]) -> None:
    ratios = [pair.ratio for pair in pairs]
    original = median([pair.original_s for pair in pairs])
    apart = median([pair.replica_s - pair.original_s for pair in pairs])
    late = median([pair.start_error_s for pair in pairs])
    distance = overlap(pairs)
    io = [pair.io_ratio for pair in pairs if pair.io_ratio is not None]
    figure = (
        f"{original:.2f} s; {median(ratios):.3f} × ({min(ratios):.3f} to {max(ratios):.3f}), {1000 * apart:+.0f} ms; "
        f"starts {1000 * late:.1f} ms off; overlap {distance:.3f} apart"
        + (f"; I/O time {median(io):.2f} ×" if io else "")
    )
    print(f"{program.name:20} {figure}", flush=True)
    long = original >= SHORT_S
    results.add(
        f"`{program.name}`: first to last I/O call, replica ÷ original; starts of dumps; overlap",
        figure,
        target=f"{'0.97 to 1.05 ×' if long else 'within 50 ms'}; 1 % of the run or 20 ms; ≤ 0.05",
        reached=is_good(pairs),
        original_s=original,
        ratio=median(ratios),
        least_ratio=min(ratios),
        most_ratio=max(ratios),
        start_error_s=late,
        overlap_distance=distance,
    )


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--pairs", type=int, default=PAIRS, help=f"runs of each (default {PAIRS})")
    options.add_argument("--logs", type=Path, default=None, help="keep programs, logs and replicas there")
    given = options.parse_args()
    if not PROGRAMS.is_dir():
        print(f"needs the programs in {PROGRAMS}", file=sys.stderr)
        return 2
    results = Results()
    good = True
    with tempfile.TemporaryDirectory() as temporary:
        place = (given.logs or Path(temporary)).resolve()
        programs = [p for p in KNOWN if not given.names or p.name in given.names]
        pairs: dict[str, list[Pair]] = {program.name: [] for program in programs}
        for number in range(given.pairs):
            for program in programs:
                work = place / f"{program.name}-{number}"
                pairs[program.name].append(measured(program, work))
                if given.logs is None:  # its memory is for the next pair
                    shutil.rmtree(work)
        for program in programs:
            show(results, program, pairs[program.name])
            good = good and is_good(pairs[program.name])
    results.write()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
