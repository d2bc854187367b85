"""Seconds that the study driver adds to a trial: trials of a study on the null backend, beside the same runs alone.

    python benchmarks/study_overhead.py

Target: at most 0.3 s (median).
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from results import Results

from workalike.launch.run import RunOptions, run_plan
from workalike.study.driver import DriverOptions, load, run_study
from workalike.study.study_file import read_study

TRIALS = 200
TARGET_S = 0.3
WORKLOAD = Path(__file__).parents[1] / "workloads" / "mphys-e.yaml"
STUDY = f"""\
study: 1
workload: {WORKLOAD}
fixed: {{backend: "null", time_scale: 0}}
factors: {{ranks: [40, 80]}}
a_a: false
blocks: {TRIALS // 2}
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.yaml"
        path.write_text(STUDY)
        plan = load(read_study(path)).settings[1].plan
        alone = []
        for _ in range(20):
            begin = time.perf_counter()
            run_plan(plan, RunOptions(Path(folder), Path(folder) / "alone", backend="null"))
            alone.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        outcome = run_study(read_study(path), DriverOptions(out=Path(folder) / "out"))
        whole = (time.perf_counter() - begin) / len(outcome.finished)
    run = statistics.median(alone)
    results = Results()
    results.add(
        "what the driver of a study adds to a trial of the null backend",
        f"{whole - run:.3f} s (a run alone {run:.3f} s, one of {len(outcome.finished)} trials {whole:.3f} s)",
        target="≤ 0.3 s",
        reached=whole - run <= TARGET_S,
        overhead_s=whole - run,
    )
    results.write()


if __name__ == "__main__":
    main()
