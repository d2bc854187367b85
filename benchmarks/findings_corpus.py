"""Precision and recall of every rule of `workalike diagnose` on logs of known truth.

    python benchmarks/findings_corpus.py [--clean N]

Each problem is planted at 0.5, 1 and 2 times its threshold, alone and beside three others; N logs are clean (default
1000). Found means HIGH or MEDIUM, as a cause or as what else was seen of it. At 1 times a rule may say either.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from catalogue import ROOT
from results import Results

sys.path.insert(0, str(ROOT / "tests"))

from support.planted_findings import OWN_JOB, PLANTS, clean, planted
from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.diagnose.diagnosis import diagnose
from workalike.diagnose.finding import Severity

SEEDS = 5
TARGET = 0.99

ALSO_TRUE = {
    "read-again-each-epoch": {"redundant-reads"},
    "file-per-process": {"metadata-share"},
    "one-writer": {"unequal-ranks"},
    "slow-target": {"unequal-ranks"},
}
"""What a plant has as well, at any factor: few writers and a slow target make ranks unequal, epochs read the same bytes."""


def also_true(rule: str, others: tuple[str, ...]) -> set[str]:
    return set().union(*(ALSO_TRUE.get(name, set()) for name in (rule, *others)))


def found_in(log: LogBuilder, folder: Path) -> tuple[set[str], set[str]]:
    """(causes of weight, all rules of weight)."""
    heavy = [
        f
        for f in diagnose([open_log(log.write(folder / "x.darshan"))]).findings
        if f.severity is not Severity.NOTE
    ]
    return {f.rule for f in heavy}, {name for f in heavy for name in (f.rule, *f.also)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--clean", type=int, default=1000)
    given = parser.parse_args()
    hit, missed, false, at_threshold = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    beside = [name for name in PLANTS if name not in OWN_JOB]
    with tempfile.TemporaryDirectory() as folder:
        for rule in PLANTS:
            for seed in range(1 if rule == "file-per-process" else SEEDS):
                others = tuple(random.Random(f"{rule}{seed}").sample([n for n in beside if n != rule], 3))
                for factor, more in ((0.5, ()), (1.0, ()), (2.0, ()), (0.5, others), (2.0, others)):
                    if more and rule in OWN_JOB:
                        continue
                    causes, every = found_in(planted(rule, factor, more, seed), Path(folder))
                    truth = {*more, *([rule] if factor > 1 else [])}
                    if factor == 1.0:
                        at_threshold[rule] += rule in every
                    hit.update(truth & every)
                    missed.update(truth - every)
                    false.update(
                        causes - truth - also_true(rule, more) - ({rule} if factor == 1.0 else set())
                    )
        alarms = sum(bool(found_in(clean(seed=n), Path(folder))[0]) for n in range(given.clean))
    results = Results()
    for rule in PLANTS:
        recall = hit[rule] / max(1, hit[rule] + missed[rule])
        precision = hit[rule] / max(1, hit[rule] + false[rule])
        print(
            f"{rule:24} recall {recall:.3f}  precision {precision:.3f}  at the threshold {at_threshold[rule]}"
        )
        results.add(
            f"{rule}: precision, recall",
            f"{precision:.3f}, {recall:.3f}",
            target=f"≥ {TARGET}",
            reached=min(recall, precision) >= TARGET,
            precision=precision,
            recall=recall,
        )
    others = {name: count for name, count in false.items() if name not in PLANTS}
    print(f"rules without a plant that were found: {others or 'none'}")
    print(f"clean logs with a finding of weight: {alarms} of {given.clean}")
    results.add(
        "clean logs with a HIGH or MEDIUM",
        f"{alarms} of {given.clean}",
        target="0",
        reached=alarms == 0,
        alarms=alarms,
    )
    results.write()


if __name__ == "__main__":
    main()
