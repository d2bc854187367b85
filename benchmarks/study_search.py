"""Successive halving on a measured surface of 48 settings, beside random search and Optuna's TPE of the same budget.

    python benchmarks/study_search.py [--dir DIR] [--seeds 200]

Every setting is measured in three blocks at each rung's length and at full length, by `workalike study`: where each is
measured once, the best of 48 noisy values lies above all true ones, and even the true best setting has a regret. That
is printed, too. The searches look their values up: halving pays for short trials, the others try settings at full
length until they have moved as many bytes. Regret is 1 - bandwidth of the setting found ÷ that of the best, at full
length.

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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from results import Results

from workalike.study.driver import DriverOptions, run_study
from workalike.study.halving import rungs_of, scores_of
from workalike.study.journal import Finished
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
  schedule: {count: 16, first: 0 s, every: 10 s}
  content:
    streams: [{direction: write, sizes: [64/rank x 256 KiB]}]
"""
FACTORS = {
    "transfer": ["4 KiB", "64 KiB", "1 MiB"],
    "alignment": {"set": "tunable.alignment", "levels": {"none": None, "1MiB": "1 MiB"}},
    "aggregators": {"set": "tunable.cb_nodes", "levels": [1, 2]},
    "component": {"set": "environment.OMPI_MCA_io", "levels": ["ompio", "romio321"]},
    "sieving": {"set": "hint.romio_ds_write", "levels": ["enable", "disable"]},
}
RUNGS = [{"dumps": 1, "keep": 12}, {"dumps": 5, "keep": 4}]
BLOCKS = 3
MEMORY = Path("/dev/shm")
"""Where data goes if it is there: the less noise a trial has, the better is the surface known."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dir", type=Path, help="where data goes [default: a temporary folder in memory]")
    parser.add_argument("--seeds", type=int, default=200)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        file = study_in(place)
        with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as data:
            trials = measured(file, place, asked.dir or Path(data))
    stages = [surface(rows) for rows in trials]
    full, cost = stages[-1]
    best = max(full.values())
    found, moved = halving(stages)
    share = moved / (cost * len(full))
    results = Results()
    tau = rank_correlation(stages[0][0], full)
    regret, tries = 1 - full[found] / best, int(moved / cost)
    by_luck = statistics.mean(1 - full[by_chance(full, tries, seed)] / best for seed in range(asked.seeds))
    results.add(
        f"successive halving over {len(full)} settings, each in {BLOCKS} blocks: regret, share of the bytes of the full design",
        f"{regret:.1%} at {share:.0%} (best ÷ worst {best / min(full.values()):.2f}; rank correlation of "
        f"the first rung with full length {tau.tau:.2f}, {tau.low:.2f} to {tau.high:.2f})",
        target="≤ 5 % at ≤ 25 %, and less than random search",
        reached=regret <= min(MOST_REGRET, by_luck) and share <= MOST_SHARE,
        regret=regret,
        share=share,
    )
    regrets = [regret_of_block(trials, block) for block in range(BLOCKS)]
    results.add(
        "… from the trials of one block alone, each setting measured once: regret",
        ", ".join(f"{regret:.1%}" for regret in regrets),
        regret=statistics.mean(regrets),
    )
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
        "blocks": BLOCKS,
        "a_a": False,
        "search": {"rungs": RUNGS, "repeats": BLOCKS},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    return read_study(folder / "study.yaml")


Surface = tuple[dict[str, float], float]
"""(setting -> bandwidth, mean bytes of a trial)"""


def measured(file: StudyFile, folder: Path, data: Path) -> list[list[Finished]]:
    """The trials of all settings at the length of each rung, and at full length."""
    whole = file.study.model_copy(update={"search": None})
    files = [
        *(rung.file for rung in rungs_of(file)),
        StudyFile(file.path, whole, file.workloads, file.hashes),
    ]
    return [
        run_study(study, DriverOptions(folder / f"stage-{number}", directory=data, report=print)).finished
        for number, study in enumerate(files)
    ]


def surface(trials: Sequence[Finished]) -> Surface:
    return scores_of(trials), statistics.mean(row.trial["plan_bytes"] for row in trials)


def regret_of_block(trials: Sequence[Sequence[Finished]], block: int) -> float:
    """The regret of halving where each setting was measured once at each length."""
    stages = [surface([row for row in rows if row.trial["block"] == block]) for rows in trials]
    full = stages[-1][0]
    return 1 - full[halving(stages)[0]] / max(full.values())


def halving(stages: Sequence[Surface]) -> tuple[str, float]:
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
