"""Is anything lost between the log and the plan? Every log's full-scale plan, counted by `null`, against the log.

    python benchmarks/full_scale.py [LOG ...]

Prints for each log the largest byte error of a family, the largest error of an operation count at a family's level and
the distance of the size histograms; targets: 0.1 %, 1 %, 0.02.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from results import Results

import darshan
from workalike.characterize import characterize
from workalike.compare.fidelity import compare
from workalike.compare.fidelity_schema import Fidelity
from workalike.darshan import open_log
from workalike.errors import WorkalikeError
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.plan_file import plan_text
from workalike.plan.resolve import Options, resolve

BYTES_PCT, OPERATIONS_PCT, DISTANCE = 0.1, 1.0, 0.02
OPERATIONS = ("READS", "WRITES")


def known_logs() -> list[Path]:
    """The logs of the package `darshan` and of ../shared, without duplicates."""
    package = Path(darshan.__file__).parent
    shared = Path(__file__).parents[1].parent / "shared" / "logs"
    paths = sorted(package.rglob("*.darshan")) + sorted(shared.glob("*.darshan"))
    return list({path.name: path for path in paths}.values())


def operations_error(fidelity: Fidelity) -> float:
    """Largest error of a count of read or write calls at the families' levels, per cent."""
    errors = [
        row.error_pct
        for family in fidelity.families
        for row in family.counters
        if row.comparable
        and row.counter.endswith(OPERATIONS)
        and "SEQ" not in row.counter
        and "CONSEC" not in row.counter
        and row.error_pct is not None
        and row.original > 0
    ]
    return max(map(abs, errors), default=0.0)


def keep(results: Results, found: dict[str, tuple[float, float, float, float]]) -> None:
    """The largest of each measure, and whose it is."""
    measures = (
        ("full-scale plan against the log: bytes of a family", BYTES_PCT, "%"),
        ("… operation counts at the family's level", OPERATIONS_PCT, "%"),
        ("… histogram distance", DISTANCE, ""),
        ("largest full plan file", 10_000.0, "kB"),
    )
    for index, (measure, target, unit) in enumerate(measures):
        name, values = max(found.items(), key=lambda item: item[1][index])
        results.add(
            measure,
            f"at most {values[index]:.4g} {unit} (`{name}`), {len(found)} logs",
            target=f"≤ {target:g} {unit}",
            reached=values[index] <= target,
            largest=values[index],
        )


def main() -> int:
    results = Results()
    found_in: dict[str, tuple[float, float, float, float]] = {}
    missed = 0
    print(f"{'log':50} {'families':>8} {'bytes %':>8} {'ops %':>8} {'hist':>7} {'plan kB':>8} {'s':>6}")
    for path in [Path(a) for a in sys.argv[1:]] or known_logs():
        begin = time.perf_counter()
        try:
            found = characterize([open_log(path)])
        except WorkalikeError as error:
            print(f"{path.name[:50]:50} {error.one_line().replace(str(path), '')[:90]}")
            continue
        plan = resolve(found.workload, Options())
        with tempfile.TemporaryDirectory() as work:
            record = run_plan(plan, RunOptions(data=Path(work), out=Path(work), backend="null", quiet=True))
        fidelity = compare(found, record, plan=plan)
        worst = max((abs(f.total_bytes_error_pct) for f in fidelity.families), default=0.0)
        operations = operations_error(fidelity)
        distances = (fidelity.size_histogram_distance.read, fidelity.size_histogram_distance.write)
        distance = max((d for d in distances if d is not None), default=0.0)
        bad = worst > BYTES_PCT or operations > OPERATIONS_PCT or distance > DISTANCE
        missed += bad
        kilobytes = len(plan_text(plan)) / 1000
        found_in[path.name] = (worst, operations, distance, kilobytes)
        print(
            f"{path.name[:50]:50} {len(fidelity.families):8} {worst:8.4f} {operations:8.4f} {distance:7.4f} "
            f"{kilobytes:8.1f} {time.perf_counter() - begin:6.2f}{'  MISSED' if bad else ''}"
        )
    keep(results, found_in)
    results.write()
    print("every log within its targets" if not missed else f"{missed} logs beyond a target")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
