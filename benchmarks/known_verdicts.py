"""The plan check of every known log (tests/support/known_logs.py: EVERY_LOG): its grade, and what the workload covers.

    python benchmarks/known_verdicts.py [--save JSON] [--before JSON]

`--save` writes grades and seconds for a later comparison, `--before` compares with such a file, made with the sources of
an earlier commit on the same machine. The page of differences is docs/known-verdicts.md. Nothing is performed: the grade
is that of the model against the log.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from catalogue import ROOT
from results import Results

sys.path.insert(0, str(ROOT / "tests"))

from support.known_logs import EVERY_LOG
from workalike.characterize import characterize
from workalike.darshan import open_logs
from workalike.errors import WorkalikeError
from workalike.replica.full_scale import count_at_full_scale
from workalike.workload.model import LEAST_COVERAGE_PCT

PAGE = ROOT / "docs" / "known-verdicts.md"
GRADES = ("exact", "faithful", "close", "different")


def judged(log: Path) -> dict[str, Any]:
    """Grade, coverage in per cent, what speaks against a better grade, and seconds of one log."""
    begun = time.perf_counter()
    try:
        found = characterize(open_logs([log]))
    except WorkalikeError as error:
        return {"grade": "refused", "why": error.kind.title, "seconds": time.perf_counter() - begun}
    with tempfile.TemporaryDirectory() as folder:
        try:
            fidelity = count_at_full_scale(found, Path(folder))
        except WorkalikeError as error:
            return {"grade": "no plan", "why": error.kind.title, "seconds": time.perf_counter() - begun}
    out: dict[str, Any] = {"grade": fidelity.verdict.grade, "seconds": time.perf_counter() - begun}
    coverage = getattr(found.workload, "coverage", None)
    if coverage is not None:
        out["coverage"] = [coverage.bytes, coverage.calls, coverage.seconds]
    reasons = fidelity.verdict.reasons
    out["why"] = "; ".join(f"{r.family} {r.module} {r.counter} {r.expected}→{r.found}" for r in reasons[:2])
    out["families"] = len(found.families)
    return out


def page(now: dict[str, Any], before: dict[str, Any]) -> str:
    """Every log whose grade is another one than before, with what speaks against it."""
    lines = [
        "# Verdicts on known logs that have changed",
        "",
        "`python benchmarks/known_verdicts.py --before JSON` writes this page. The grade is that of the plan at full scale,",
        "which is only counted: model against log. `before` is commit 78093cbd, in which files of few bytes and files",
        "without data were no part of a workload, so that nothing of them could be wrong.",
        "",
        "| log | before | now | families before | now | what speaks against it |",
        "|---|---|---|---|---|---|",
    ]
    for name, found in sorted(now.items()):
        old = before.get(name)
        if old is not None and old["grade"] != found["grade"]:
            why = found.get("why", "").replace("|", "/") or "–"
            lines.append(
                f"| `{name}` | {old['grade']} | {found['grade']} | {old.get('families', '–')} | "
                f"{found.get('families', '–')} | {why} |"
            )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--save", type=Path)
    parser.add_argument("--before", type=Path)
    given = parser.parse_args()
    before = json.loads(given.before.read_text()) if given.before else {}
    names = Counter(log.name for log in EVERY_LOG)
    now = {
        log.name if names[log.name] == 1 else f"{log.parent.name}/{log.name}": judged(log)
        for log in EVERY_LOG
    }
    if given.save:
        given.save.write_text(json.dumps(now, indent=1))
        return 0
    results = Results()
    counts = {grade: sum(found["grade"] == grade for found in now.values()) for grade in GRADES}
    results.add(
        "known logs, plan check: exact, faithful, close, different",
        ", ".join(str(count) for count in counts.values())
        + f" of {len(now)}; {len(now) - sum(counts.values())} have no replica",
        **{grade: float(count) for grade, count in counts.items()},
    )
    covered = {name: min(found["coverage"][1:]) for name, found in now.items() if "coverage" in found}
    short = sorted(name for name, pct in covered.items() if pct < LEAST_COVERAGE_PCT)
    results.add(
        "… coverage of calls and of I/O time, the smaller one: least, logs below 95 %",
        f"{min(covered.values()):.1f} %; {', '.join(short) or 'none'}",
        target="≥ 95 % or named",
        reached=None if short else True,  # those below are named, and to be looked at
        least_pct=min(covered.values()),
    )
    if before:
        PAGE.write_text(page(now, before), encoding="utf-8")
        both = [(before[name], found) for name, found in now.items() if name in before]
        changed = sum(old["grade"] != found["grade"] for old, found in both)
        ratio = sum(found["seconds"] for _, found in both) / sum(old["seconds"] for old, _ in both)
        results.add(
            "… grades other than before (78093cbd), with reasons", f"{changed}: docs/known-verdicts.md"
        )
        results.add(
            "cost of characterize and compare, all known logs, after ÷ before",
            f"{ratio:.2f}",
            target="≤ 1.3",
            reached=ratio <= 1.3,
            ratio=ratio,
        )
    for figure in results.figures:
        print(f"{figure.measure}: {figure.figure} (target {figure.target})")
    results.write()
    return 0 if all(figure.reached is not False for figure in results.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
