"""Successive halving on a measured surface of 48 settings, beside random search and Optuna's TPE of the same budget.

    python benchmarks/study_search.py [--dir DIR] [--seeds 200]

Every setting is measured once at each rung's length and at full length, by `workalike study`. The searches then look
their values up: halving pays for short trials, the others try settings at full length until they have moved as many
bytes. Regret is 1 - bandwidth of the setting found ÷ that of the best, at full length.

Optuna is installed into a folder of its own, from the package registry; without it, its row is left out.
Target: regret at most 5 % at most 25 % of the bytes of the full design.
"""

from __future__ import annotations

import argparse
import importlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from results import Results

from workalike.study.driver import DriverOptions, run_study
from workalike.study.halving import rungs_of, scores_of
from workalike.study.search import Rung, advance, start
from workalike.study.statistics.ranks import rank_correlation
from workalike.study.statistics.table import Better
from workalike.study.study_file import StudyFile, read_study

BETWEEN = r" (?=\w+=)"
"""What separates the levels in the name of a setting."""
MOST_REGRET, MOST_SHARE = 0.05, 0.25
WORKLOAD = """\
workalike: 2
ranks: 2
families:
- role: checkpoint
  interface: hdf5
  sharing: shared
  schedule: {count: 8, first: 0 s, every: 10 s}
  content:
    streams: [{direction: write, sizes: [32/rank x 256 KiB]}]
"""
FACTORS = {
    "transfer": ["64 KiB", "1 MiB", "4 MiB"],
    "alignment": {"set": "tunable.alignment", "levels": {"none": None, "1MiB": "1 MiB"}},
    "aggregators": {"set": "tunable.cb_nodes", "levels": [1, 2]},
    "component": {"set": "environment.OMPI_MCA_io", "levels": ["ompio", "romio321"]},
    "sieving": {"set": "hint.romio_ds_write", "levels": ["enable", "disable"]},
}
RUNGS = [{"dumps": 1, "keep": 10}, {"dumps": 2, "keep": 3}]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dir", type=Path, help="where data goes [default: a temporary folder]")
    parser.add_argument("--seeds", type=int, default=200)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        file = study_in(place)
        stages = surfaces(file, place, asked.dir or place)
    full, cost = stages[-1]
    best = max(full.values())
    found, moved = halving(stages)
    share = moved / (cost * len(full))
    results = Results()
    tau = rank_correlation(stages[0][0], full)
    results.add(
        f"successive halving over {len(full)} settings, each measured once: regret, share of the bytes of the full design",
        f"{1 - full[found] / best:.1%} at {share:.0%} (best ÷ worst {best / min(full.values()):.2f}; rank correlation of "
        f"the first rung with full length {tau.tau:.2f}, {tau.low:.2f} to {tau.high:.2f})",
        target="≤ 5 % at ≤ 25 %",
        reached=1 - full[found] / best <= MOST_REGRET and share <= MOST_SHARE,
        regret=1 - full[found] / best,
        share=share,
    )
    tries = int(moved / cost)
    others: dict[str, Callable[[Mapping[str, float], int, int], str]] = {"random search": by_chance}
    if (optuna := optuna_module()) is not None:
        others["Optuna's TPE"] = lambda values, tries, seed: by_tpe(optuna, values, tries, seed)
    for name, search in others.items():
        regrets = [1 - full[search(full, tries, seed)] / best for seed in range(asked.seeds)]
        results.add(
            f"{name} with the same bytes ({tries} trials at full length): regret",
            f"mean {statistics.mean(regrets):.1%}, 95th percentile {statistics.quantiles(regrets, n=20)[-1]:.1%}",
            regret=statistics.mean(regrets),
        )
    for figure in results.figures:
        print(f"{figure.measure}: {figure.figure}")
    results.write()


def study_in(folder: Path) -> StudyFile:
    import yaml

    (folder / "w.yaml").write_text(WORKLOAD)
    document = {
        "study": 1,
        "workload": "w.yaml",
        "fixed": {"ranks": 2, "time_scale": 0},
        "factors": FACTORS,
        "blocks": 1,
        "a_a": False,
        "search": {"rungs": RUNGS},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    return read_study(folder / "study.yaml")


def surfaces(file: StudyFile, folder: Path, data: Path) -> list[tuple[dict[str, float], float]]:
    """(setting -> bandwidth, mean bytes of a trial) of each rung and of full length, all settings measured once."""
    whole = file.study.model_copy(update={"search": None})
    files = [
        *(rung.file for rung in rungs_of(file)),
        StudyFile(file.path, whole, file.workloads, file.hashes),
    ]
    stages = []
    for number, study in enumerate(files):
        outcome = run_study(study, DriverOptions(folder / f"stage-{number}", directory=data, report=print))
        moved = statistics.mean(row.trial["plan_bytes"] for row in outcome.finished)
        stages.append((scores_of(outcome.finished), moved))
    return stages


def halving(stages: list[tuple[dict[str, float], float]]) -> tuple[str, float]:
    """The setting found, and bytes moved."""
    full = stages[-1][1]
    keeps = [*(rung["keep"] for rung in RUNGS), 1]
    rungs = [
        Rung(str(n), cost / full, int(keep))
        for n, ((_, cost), keep) in enumerate(zip(stages, keeps, strict=True))
    ]
    search = start(list(stages[-1][0]), rungs)
    for scores, _ in stages:
        search = advance(
            search, {name: scores[name] for name in search.settings if name in scores}, Better.HIGHER
        )
    return search.settings[0], search.cost * full


def by_chance(values: Mapping[str, float], tries: int, seed: int) -> str:
    tried = random.Random(seed).sample(sorted(values), tries)
    return max(tried, key=lambda name: values[name])


def by_tpe(optuna: Any, values: Mapping[str, float], tries: int, seed: int) -> str:
    """The best of `tries` settings that TPE proposes; one that was tried before costs nothing again."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    levels: dict[str, list[str]] = {}
    for name in values:
        for pair in re.split(BETWEEN, name):
            factor, _, level = pair.partition("=")
            if level not in levels.setdefault(factor, []):
                levels[factor].append(level)
    named = {frozenset(re.split(BETWEEN, name)): name for name in values}
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    tried: set[str] = set()
    for _ in range(20 * tries):
        if len(tried) >= tries:
            break
        trial = study.ask()
        picked = frozenset(f"{f}={trial.suggest_categorical(f, choices)}" for f, choices in levels.items())
        name = named.get(picked)
        if name is None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        tried.add(name)
        study.tell(trial, values[name])
    return max(tried, key=lambda name: values[name])


def optuna_module() -> Any:
    """Optuna, from a folder of its own; None where it cannot be had."""
    place = Path(tempfile.gettempdir()) / "workalike-optuna"
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(place), "optuna>=3,<5"]
    if not place.exists() and subprocess.run(command, check=False).returncode:
        return None
    sys.path.append(str(place))
    try:
        return importlib.import_module("optuna")
    except ImportError:
        return None


if __name__ == "__main__":
    main()
