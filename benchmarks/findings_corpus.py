"""Precision and recall of every rule of `workalike diagnose` on logs of known truth.

    python benchmarks/findings_corpus.py [--clean N] [--no-peer]

Each problem is planted at 0.5, 1 and 2 times its threshold, alone and beside three others; N logs are clean (default
1000), of fifteen kinds of files, 1 to 1,024 ranks and several file systems; some hide their names. Each second seed of
a problem has its files at a root that is an overlay, beside Lustre; the third one hides their names, of rules about
shared storage that do not need them. Found means HIGH or MEDIUM, as a cause or as what else was seen of it; of rules that are never above NOTE, any
finding counts. At 1 times a rule may say either.

The same logs are given to drishti-io, in a virtual environment that is made for it: its rules that ask what ours ask
stand beside them. A warning of its own is not counted as false where our diagnosis sees that, too, at any severity.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

from beside_drishti import RULES, Case, installed, scored
from catalogue import ROOT
from results import Results

sys.path.insert(0, str(ROOT / "tests"))

from support.clean_logs import AT_ROOT, hidden, varied
from support.planted_findings import OWN_JOB, PLANTS, SITE, WITHOUT_WEIGHT, planted
from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.diagnose.diagnosis import diagnose
from workalike.diagnose.finding import Finding, Severity
from workalike.diagnose.site import Site

SEEDS = 5
TARGET = 0.99
SLOW_TO_WRITE = ("file-per-process", "crowded-folder")
"""Plants of many thousand files, which one seed is enough for."""
WITHOUT_NAMES = ("metadata-share", "scratch-files", "tiny-files")
"""Rules about shared storage that find their problem without names."""
BETTER = ("redundant-reads", "small-reads", "small-writes", "metadata-share", "unequal-ranks")
"""Rules that must be more precise than drishti-io's, or find more; small-reads asks about random reads, too."""

ALSO_TRUE = {
    "read-again-each-epoch": {"redundant-reads"},
    "file-per-process": {"metadata-share"},
    "one-writer": {"unequal-ranks"},
    "slow-target": {"unequal-ranks"},
}
"""What a plant has as well, at any factor: few writers and a slow target make ranks unequal, epochs read the same bytes."""


def also_true(rule: str, others: tuple[str, ...]) -> set[str]:
    return set().union(*(ALSO_TRUE.get(name, set()) for name in (rule, *others)))


def found_in(path: Path) -> tuple[set[str], set[str], set[str]]:
    """(causes of weight, all rules of weight, all rules)."""
    found = diagnose([open_log(path)], Site(SITE)).findings
    heavy = [f for f in found if f.severity is not Severity.NOTE]
    notes = _names(found) & set(WITHOUT_WEIGHT)
    return {f.rule for f in heavy} | notes, _names(heavy) | notes, _names(found)


def placed(log: LogBuilder, seed: int, alone: str) -> LogBuilder:
    """A planted problem where the mount table does not tell its storage; `alone` is its rule if it is the only one.

    Other rules need names: of a role, a series, or families. They cannot be expected to find anything without.
    """
    if seed % 2:
        log.job = replace(log.job, mounts=AT_ROOT)
    return hidden(log) if seed % 3 == 2 and alone in WITHOUT_NAMES else log


def as_good(rule: str, ours: tuple[float, float], theirs: tuple[float, float]) -> bool:
    """Whether no figure of a rule, (precision, recall), is below the peer's, and where it must be one is above."""
    never_below = all(own >= other for own, other in zip(ours, theirs, strict=True))
    return never_below and (rule not in BETTER or ours != theirs)


def _names(findings: list[Finding]) -> set[str]:
    return {name for f in findings for name in (f.rule, *f.also)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--clean", type=int, default=1000)
    parser.add_argument("--no-peer", action="store_true")
    given = parser.parse_args()
    hit, missed, false, at_threshold = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    beside = [name for name in PLANTS if name not in OWN_JOB]
    cases: list[Case] = []
    peer = None
    with tempfile.TemporaryDirectory() as folder:

        def written(log: LogBuilder) -> Path:
            return log.write(Path(folder) / f"{len(cases)}.darshan")

        for rule in PLANTS:
            for seed in range(1 if rule in SLOW_TO_WRITE else SEEDS):
                others = tuple(random.Random(f"{rule}{seed}").sample([n for n in beside if n != rule], 3))
                for factor, more in ((0.5, ()), (1.0, ()), (2.0, ()), (0.5, others), (2.0, others)):
                    if more and rule in OWN_JOB:
                        continue
                    path = written(placed(planted(rule, factor, more, seed), seed, rule if not more else ""))
                    causes, every, seen = found_in(path)
                    truth = {*more, *([rule] if factor > 1 else [])}
                    unsure = frozenset({rule} | also_true(rule, more) | seen)
                    cases.append(Case(path, frozenset(truth), unsure))
                    if factor == 1.0:
                        at_threshold[rule] += rule in every
                    hit.update(truth & every)
                    missed.update(truth - every)
                    false.update(
                        causes - truth - also_true(rule, more) - ({rule} if factor == 1.0 else set())
                    )
        alarms = 0
        for seed in range(given.clean):
            path = written(varied(seed))
            alarms += bool(found_in(path)[0])
            cases.append(Case(path, frozenset(), frozenset()))
        python = None if given.no_peer else installed(Path(folder) / "peer")
        peer = scored(python, cases) if python else None
    results = Results()
    for rule in PLANTS:
        recall = hit[rule] / max(1, hit[rule] + missed[rule])
        precision = hit[rule] / max(1, hit[rule] + false[rule])
        beside_it = ""
        if peer and rule in RULES:
            theirs, found = peer[0][rule]
            exact = "never raised" if theirs is None else f"{theirs:.3f}"
            beside_it = f"  drishti-io: recall {found:.3f}  precision {exact}"
            results.add(
                f"{rule}: precision, recall of drishti-io",
                f"{exact}, {found:.3f}",
                target="below ours" if rule in BETTER else "never above ours",
                reached=as_good(rule, (precision, recall), (theirs or 0.0, found)),
                precision=theirs or 0.0,
                recall=found,
            )
        print(
            f"{rule:24} recall {recall:.3f}  precision {precision:.3f}  at the threshold {at_threshold[rule]}{beside_it}"
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
    results.add(
        "findings by rules without a plant",
        ", ".join(f"{name} {count}" for name, count in sorted(others.items())) or "none",
        target="none",
        reached=not others,
        findings=sum(others.values()),
    )
    print(f"clean logs with a finding of weight: {alarms} of {given.clean}")
    if peer:
        print(
            f"drishti-io: {peer[2]} of {given.clean} clean logs with a warning; it failed on {peer[1]} logs"
        )
    elif not given.no_peer:
        print("drishti-io cannot be installed here: no comparison")
        results.add("beside drishti-io", "could not be installed", target="compared", reached=False)
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
