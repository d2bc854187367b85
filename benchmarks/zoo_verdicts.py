"""Whether a verdict is true of programs that nobody fitted it to: the zoo (tests/zoo), and the cases of ../shared/cases.

    python benchmarks/zoo_verdicts.py [--runs N] [--cases N]

Runs of cases with seeds from the system's entropy. Both replicas of a case are compared with its original by the zoo's own
witness. A verdict of exact or faithful with a measure off by more than 5 % (order under chance: outside 99.9 %) is false.
"""

from __future__ import annotations

import argparse
import secrets
import shutil
import sys
import tempfile
from pathlib import Path

from catalogue import ROOT
from results import Results

sys.path.insert(0, str(ROOT))

from tests.zoo.case import REPLICAS, Outcome, missing
from tests.zoo.given import CASES, outcomes
from tests.zoo.run import chosen, line_of, run_all, summary, upper_bound

MOST_RED = {"trace": 8.0, "counters": 20.0}
"""Per cent of the true replicas that may be graded close or different."""
LOW = ("close", "different")


def zoo(results: Results, runs: int, count: int) -> None:
    """Runs of cases with fresh seeds, and what they come to together."""
    found: list[Outcome] = []
    for number in range(runs):
        seed = secrets.randbelow(1_000_000)
        scratch = Path(tempfile.mkdtemp(prefix="zoo-"))
        try:
            cases = [(kind, own) for kind, own in chosen(seed, count) if not missing(kind.program(own))]
            outcomes_of_run = run_all(cases, scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        print(f"run {number + 1}, seed {seed}:\n{summary(outcomes_of_run)}", flush=True)
        found += outcomes_of_run
    ran = [outcome for outcome in found if not outcome.broken]
    kinds = {outcome.kind for outcome in ran}
    replicas = [replica for outcome in ran for replica in outcome.replicas.values()]
    false = [outcome for outcome in ran if any(r.false_green for r in outcome.replicas.values())]
    wrong = {outcome.kind for outcome in false}
    bound = 100 * upper_bound(len(wrong), len(kinds))
    results.add(
        f"zoo, {runs} runs of {count} cases with fresh seeds: exact or faithful while a measure at storage is off",
        f"{sum(r.false_green for r in replicas)} of {len(replicas)} replicas; {len(wrong)} of {len(kinds)} kinds, "
        f"95 % upper bound of their share {bound:.1f} %",
        target="0",
        reached=not false,
        false_greens=float(sum(r.false_green for r in replicas)),
        upper_bound_pct=bound,
    )
    crashed = sum(bool(replica.crash) for replica in replicas)
    refused = sum(replica.refused for replica in replicas)
    failed = sum(replica.code == 1 and not replica.crash for replica in replicas)
    results.add(
        "… crashes; refusals; runs that failed",
        f"{crashed}; {refused}; {failed}",
        target="0",
        reached=not crashed + refused + failed,
        crashes=float(crashed),
        refusals=float(refused),
        failed=float(failed),
    )
    for name in REPLICAS:
        true = [o.replicas[name] for o in ran if name in o.replicas and o.replicas[name].true]
        low = sum(replica.grade in LOW for replica in true)
        share = 100 * low / len(true) if true else 0.0
        results.add(
            f"… of the true replicas graded close or different, from {name}",
            f"{low} of {len(true)} ({share:.0f} %)",
            target=f"≤ {MOST_RED[name]:.0f} %",
            reached=share <= MOST_RED[name],
            red_pct=share,
        )


def cases(results: Results) -> None:
    """The inputs on which the verdict was wrong."""
    scratch = Path(tempfile.mkdtemp(prefix="given-"))
    try:
        found = []
        for outcome in outcomes(scratch):
            print(line_of(outcome), flush=True)
            found.append(outcome)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    replicas = [replica for outcome in found for replica in outcome.replicas.values()]
    false = sum(replica.false_green for replica in replicas)
    missed = sorted({o.kind for o in found if o.broken or any(r.code in (1, 2) for r in o.replicas.values())})
    good = sum(replica.true and replica.grade not in LOW for replica in replicas)
    results.add(
        "cases of ../shared/cases (programs and logs): exact or faithful while a measure is off",
        f"{false} of {len(replicas)} replicas of {len(found)} cases; {good} are true and graded so; without a replica: "
        f"{', '.join(missed) or 'none'}",
        target="0",
        reached=not false,
        false_greens=float(false),
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cases", type=int, default=100, help="cases of a run")
    given = parser.parse_args()
    results = Results()
    zoo(results, given.runs, given.cases)
    if CASES.is_dir():
        cases(results)
    for figure in results.figures:
        print(f"{figure.measure}: {figure.figure} (target {figure.target})")
    results.write()
    return 0 if all(figure.reached is not False for figure in results.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
