"""What capture costs in blocks spread over time, and how variable each file system is meanwhile.

    python benchmarks/capture_spread.py [--blocks N] [--every TIME]

`studies/capture-overhead.yaml` runs at the same time on ext4 and on a CephFS, with and without capture, in a shared file
and in a file per process, as the Darshan paper's jobs on Hopper. What else the machine does is its other users. The
studies' own analysis says what varies between blocks and within them.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml
from beds import SYSTEMS
from catalogue import ROOT
from claim_place import ratio_text
from results import Results

from workalike.study.journal import Finished, read_finished
from workalike.study.report.variability import variability_in, variability_text
from workalike.study.results_page import study_table
from workalike.study.statistics.ratios import paired_ratio, unpaired_ratio

NAMES = ("ext4", "cephfs")
SHARINGS = {"shared": "shared file", "per-rank": "file per process"}
FACTORS = ("capture", "sharing")


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--blocks", type=int, default=20)
    options.add_argument("--every", default="4 min")
    given = options.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as beds:
        folder = Path(scratch)
        data = {name: beds.enter_context(SYSTEMS[name]()) for name in NAMES}
        for name, finished in run_studies(folder, data, given.blocks, given.every).items():
            add(results, name, finished, given.every)
    results.write()
    return 0


def run_studies(folder: Path, data: dict[str, Path], blocks: int, every: str) -> dict[str, list[Finished]]:
    """The trials of the study on each file system; they wait for their blocks at the same time."""
    document = yaml.safe_load((ROOT / "studies/capture-overhead.yaml").read_text(encoding="utf-8"))
    document["workload"] = str(ROOT / "studies" / document["workload"])
    document["blocks"] = {"count": blocks, "every": every}
    (folder / "study.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "workalike", "study", "run", folder / "study.yaml", "-o", folder / name,
             "--dir", place, "--no-ceiling", "--quiet"]
        )
        for name, place in data.items()
    ]  # fmt: skip
    codes = [study.wait() for study in running]  # of all, also after a failure
    if any(codes):
        raise RuntimeError("a study failed")
    return {name: read_finished(folder / name) for name in data}


def add(results: Results, name: str, finished: Sequence[Finished], every: str) -> None:
    """The figures of one file system."""
    table = study_table(name, FACTORS, finished)
    found = variability_in(table)
    assert found is not None
    blocks = len(found.blocks)
    what = f"cost of capture on {name}, {blocks} blocks {every} apart"
    show(results, f"D31, D33, D92: {what}: how variable is this system", variability_text(table, found))
    trials, names = table.trials(), np.array(table.setting, dtype=object)
    times = {
        key: [float(v) for v in table.io_time_s[names == key] if np.isfinite(v)]
        for key in dict.fromkeys(names)
    }
    for sharing, words in SHARINGS.items():
        with_it, without = (f"capture={word} sharing={sharing}" for word in ("true", "false"))
        on, off = times[with_it], times[without]
        paired, welch = paired_ratio(trials, with_it, without), unpaired_ratio(trials, with_it, without)
        quartiles = {key: np.percentile(values, [25, 50, 75]) for key, values in ((True, on), (False, off))}
        outliers = [
            sum(v > q[2] + 1.5 * (q[2] - q[0]) for v in values)
            for values, q in ((on, quartiles[True]), (off, quartiles[False]))
        ]
        text = (
            f"bandwidth with ÷ without {paired.ratio:.3f} ({paired.low:.3f} to {paired.high:.3f}) within blocks, "
            f"{welch.ratio:.3f} ({welch.low:.3f} to {welch.high:.3f}) by Welch's test; standard deviation of times, with ÷ "
            f"without, {ratio_text(on, off, statistics.stdev)}; third quartile {1e3 * quartiles[True][2]:.0f} and "
            f"{1e3 * quartiles[False][2]:.0f} ms; runs beyond Q3 + 1.5 IQR: {outliers[0]} and {outliers[1]}"
        )
        show(results, f"D35, D37, D38, D39, D40: {what}: {words}", text)
        spread = max(off) / min(off)
        show(results, f"D34, D36: {what}: {words}, slowest ÷ fastest run without capture", f"{spread:.2f}")
    shared, own = (times[f"capture=false sharing={sharing}"] for sharing in SHARINGS)
    text = f"{ratio_text(own, shared, statistics.median)}; {ratio_text(own, shared, _variation)}"
    show(results, f"D41, D42: {what}: time, and its variation, file per process ÷ shared file", text)


def _variation(values: Sequence[float]) -> float:
    return statistics.stdev(values) / statistics.mean(values)


def show(results: Results, measure: str, figure: str) -> None:
    print(f"{measure}: {figure}", flush=True)
    results.add(measure, figure)


if __name__ == "__main__":
    raise SystemExit(main())
