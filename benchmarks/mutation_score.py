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

import yaml
from catalogue import ROOT
from results import Results

COUNT = 200
LEAST = 80.0
EXPLAINED = ROOT / "tests" / "mutation" / "survivors.yaml"


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
        reached=score >= LEAST and all(reason(verdict) for verdict in survivors),
        per_cent=score,
    )
    for verdict in sorted(survivors, key=lambda v: (v["file"], v["line"])):
        place = f"{verdict['file'].removeprefix('src/workalike/')}:{verdict['line']}"
        results.add(f"survivor: `{place}`, {verdict['what']}", reason(verdict) or "not explained")
    results.write()
    return int(score < LEAST)


def by_package(verdicts: list[dict[str, Any]]) -> str:
    noticed = Counter(v["package"] for v in verdicts if v["noticed_by"] is not None)
    sampled = Counter(v["package"] for v in verdicts)
    return ", ".join(f"{package} {noticed[package]} of {sampled[package]}" for package in sorted(sampled))


def reason(verdict: dict[str, Any]) -> str:
    """Why it survives: of the same file, line of code and change; '' where nobody has said it."""
    code = (ROOT / verdict["file"]).read_text(encoding="utf-8").splitlines()[verdict["line"] - 1].strip()
    known: list[dict[str, str]] = yaml.safe_load(EXPLAINED.read_text(encoding="utf-8"))
    for entry in known:
        same = (f"src/workalike/{entry['file']}", entry["code"], entry["change"])
        if same == (verdict["file"], code, verdict["what"]):
            return entry["why"]
    return ""


if __name__ == "__main__":
    sys.exit(main())
