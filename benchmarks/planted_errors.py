"""Is a verdict fooled? Replicas that are wrong in one way, and as many that are right, each judged by a captured log.

    python benchmarks/planted_errors.py [COUNT]

A random workload is planned; the engine performs a plan with one planted error under our capture; `workalike compare` is
given the workload, the right plan and the log. An error counts if a determined counter of the wrong plan differs by more
than 5 % from the right one's, by the definitions of tests/engine/test_predict.py's core. The right plan is run and judged,
too: a verdict that calls everything different would find every error.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catalogue import ROOT
from results import Results

sys.path.append(str(ROOT / "tests" / "support"))
from planted import ERRORS, Document, as_workload, planted

from workalike.errors import WorkalikeError
from workalike.plan.plan_file import plan_text
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.predict.agreement import rows_of
from workalike.predict.determined import Determined
from workalike.predict.prediction import predicted
from workalike.workload.workload_file import workload_text

COUNT = 200
WORKALIKE = Path(sys.executable).with_name("workalike")
GOOD = ("exact", "faithful")


@dataclass
class Judged:
    """How a verdict was reached: a grade is "refused" where the plan could not be run.

    `agreement` is the share of the determined counters of the right plan that the captured engine has within 5 %; None
    where there are none.
    """

    interfaces: set[str]
    agreement: float | None
    kind: str
    right: str
    wrong: str
    reason: str


def differs(right: Plan, wrong: Plan) -> bool:
    """Whether a determined counter of any family differs by more than 5 %."""
    a, b = (predicted(plan, [0] * len(plan.families)) for plan in (right, wrong))
    return b.keys() > a.keys() or any(
        not row.agrees
        for key, modules in a.items()
        for module, expected in modules.items()
        for row in rows_of((key,), module, expected, b.get(key, {}).get(module, Determined()))
    )


def fidelity(folder: Path, run: Plan, workload: Path, plan: Path) -> dict[str, Any]:
    """The fidelity of a captured run of a plan to a workload, by another plan; {} if the run was refused."""
    folder.mkdir()
    (folder / "run.json").write_text(plan_text(run), encoding="utf-8")
    words = ["run", folder / "run.json", "--dir", folder / "data", "-o", folder / "out", "--capture", "-q"]
    done = call(*words)
    if done.returncode == 2:
        return {}
    if done.returncode != 0:
        raise SystemExit(f"the run failed: {done.stderr}")
    log = folder / "out" / "replica.darshan"
    done = call("compare", workload, log, "--plan", plan, "-o", folder / "fidelity.json", "-q")
    if done.returncode not in (0, 3):
        raise SystemExit(f"compare failed: {done.stderr}")
    found: dict[str, Any] = json.loads((folder / "fidelity.json").read_text(encoding="utf-8"))
    return found


def call(*words: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, (WORKALIKE, *words))), capture_output=True, text=True)


def judged(kind: str, seed: int, folder: Path) -> Judged:
    """One planted error that shows in a determined counter."""
    rng = random.Random(seed)
    while True:
        documents = planted(kind, rng)
        try:
            right, wrong = (_plan_of(document) for document in documents)
        except (WorkalikeError, ValueError):
            continue  # an error that makes no valid workload is refused by the schema
        if differs(right, wrong):
            break
    workload, plan = folder / "right.yaml", folder / "right.json"
    workload.write_text(workload_text(as_workload(documents[0])), encoding="utf-8")
    plan.write_text(plan_text(right), encoding="utf-8")
    good = fidelity(folder / "right", right, workload, plan)
    bad = fidelity(folder / "wrong", wrong, workload, plan).get("verdict", {})
    reasons = bad.get("reasons", [])
    return Judged(
        {family["interface"] for family in documents[0]["families"]},
        good["agreement"]["replica"] if good else None,
        kind,
        good["verdict"]["grade"] if good else "refused",
        bad.get("grade", "refused"),
        reasons[0]["counter"] if reasons else "",
    )


def _plan_of(document: Document) -> Plan:
    return resolve(as_workload(document), Options(time_scale=0))


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    all_judged = []
    for i in range(count):
        kind = list(ERRORS)[i % len(ERRORS)]
        with tempfile.TemporaryDirectory() as folder:
            found = judged(kind, i, Path(folder))
        all_judged.append(found)
        print(
            f"{i:4} {found.kind:20} right: {found.right:10} wrong: {found.wrong:10} {found.reason}",
            flush=True,
        )
    caught = [j for j in all_judged if j.wrong not in GOOD and (j.reason or j.wrong == "refused")]
    false_alarms = [j for j in all_judged if j.right not in GOOD]
    kinds = Counter(j.kind for j in caught)
    results = Results()
    results.add(
        f"planted errors that change a determined counter, {count} captured runs: below faithful, with the counter",
        f"{len(caught)} of {count} ({', '.join(f'{kind} {kinds[kind]}' for kind in ERRORS)})",
        target="all",
        reached=len(caught) == count,
        caught=float(len(caught)),
    )
    results.add(
        "… the same plans without the error: exact or faithful",
        f"{count - len(false_alarms)} of {count}",
        target="all",
        reached=not false_alarms,
        right=float(count - len(false_alarms)),
    )
    lowest = {
        interface: min(
            j.agreement for j in all_judged if interface in j.interfaces and j.agreement is not None
        )
        for interface in sorted(set.union(*(j.interfaces for j in all_judged)))
    }
    results.add(
        "… the engine under our capture, replica against model: lowest agreement of a run, by interface",
        ", ".join(f"{interface} {least:.3f}" for interface, least in lowest.items()),
        target="1.0",
        reached=min(lowest.values()) == 1.0,
        **lowest,
    )
    results.write()
    return int(len(caught) < count or bool(false_alarms))


if __name__ == "__main__":
    sys.exit(main())
