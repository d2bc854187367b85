"""Mutation score of facts, characterize and compare, and why each survivor is one.

    python benchmarks/mutation_score.py

`tests/mutation/score.py` says what a mutant is and how tests judge it; `tests/mutation/survivors.yaml` explains those that
no test can notice, or should.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from catalogue import ROOT
from results import Results

sys.path.insert(0, str(ROOT / "tests" / "mutation"))
from explained import reason

COUNT = 200
LEAST = 80.0


def main() -> int:
    results = Results()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "verdicts.json"
        command = [
            sys.executable,
            "tests/mutation/score.py",
            "--count",
            str(COUNT),
            "--jobs",
            "2",
            "--json",
            str(file),
        ]
        done = subprocess.run(command, cwd=ROOT)
        if done.returncode != 0:
            return 1
        verdicts: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["mutants"]
    survivors = [verdict for verdict in verdicts if verdict["noticed_by"] is None]
    noticed = len(verdicts) - len(survivors)
    score = 100 * noticed / len(verdicts)
    results.add(
        f"mutation score: {COUNT} mutants of `facts`, `characterize`, `compare`, each against its package's tests",
        f"{score:.1f} %: {noticed} of {len(verdicts)} noticed ({by_package(verdicts)})",
        target=f"≥ {LEAST:g} %, survivors explained",
        reached=score >= LEAST and all(why(verdict) for verdict in survivors),
        per_cent=score,
    )
    for verdict in sorted(survivors, key=lambda v: (v["file"], v["line"])):
        place = f"{verdict['file'].removeprefix('src/workalike/')}:{verdict['line']}"
        results.add(f"survivor: `{place}`, {verdict['what']}", why(verdict) or "not explained")
    results.write()
    return int(score < LEAST)


def by_package(verdicts: list[dict[str, Any]]) -> str:
    noticed = Counter(v["package"] for v in verdicts if v["noticed_by"] is not None)
    sampled = Counter(v["package"] for v in verdicts)
    return ", ".join(f"{package} {noticed[package]} of {sampled[package]}" for package in sorted(sampled))


def why(verdict: dict[str, Any]) -> str:
    """Why it survives; '' where nobody has said it."""
    return reason(ROOT / verdict["file"], verdict["line"], verdict["what"])


if __name__ == "__main__":
    sys.exit(main())
