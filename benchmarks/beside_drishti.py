"""The corpus of findings as drishti-io sees it: precision and recall of those of its rules that ask what ours ask."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

RULES = {
    "redundant-reads": {"P09"},
    "bytes-written-twice": {"P10"},
    "small-reads": {"P05", "P11", "P15"},
    "small-writes": {"P06", "P13", "P16"},
    "independent-access": {"M02", "M03"},
    "metadata-share": {"P17"},
    "unaligned": {"P08"},
    "unequal-ranks": {"P18", "P19", "P21", "P22"},
    "bulk-stdio": {"S01"},
}
"""Our rule -> its codes that ask the same."""
PER_CALL = 100
PEER = Path(__file__).with_name("drishti_peer.py")


@dataclass(frozen=True)
class Case:
    """A log with what is true of it: `truth` was planted; of `unsure` no answer counts."""

    log: Path
    truth: frozenset[str]
    unsure: frozenset[str]


def installed(folder: Path) -> Path | None:
    """The Python of a new virtual environment with drishti-io; None where it cannot be installed."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "drishti-io==0.8"], capture_output=True, check=False
    )
    return python if done.returncode == 0 else None


def answers(python: Path, logs: Sequence[Path]) -> dict[Path, set[str] | None]:
    """Log -> the codes that it raised; None where it failed."""
    out: dict[Path, set[str] | None] = dict.fromkeys(logs)
    for first in range(0, len(logs), PER_CALL):
        part = [str(log) for log in logs[first : first + PER_CALL]]
        done = subprocess.run([python, PEER, *part], capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            row = json.loads(line)
            out[Path(row["log"])] = None if row["failed"] else set(row["codes"])
        if done.returncode:
            print(f"the peer ended with {done.returncode}: {done.stderr[-200:]}", file=sys.stderr)
    return out


def scored(python: Path, cases: Sequence[Case]) -> tuple[dict[str, tuple[float | None, float]], int, int]:
    """Rule -> (precision, recall) of the peer; logs on which it failed; clean logs on which it raised any of RULES.

    The precision is None where it never raised the rule.
    """
    found = answers(python, [case.log for case in cases])
    hit, missed, false = Counter[str](), Counter[str](), Counter[str]()
    failed = alarms = 0
    for case in cases:
        codes = found[case.log]
        if codes is None:
            failed += 1
            codes = set()
        said = {rule for rule, own in RULES.items() if own & codes}
        truth = case.truth & RULES.keys()
        hit.update(truth & said)
        missed.update(truth - said)
        false.update(said - case.truth - case.unsure)
        alarms += bool(not case.truth and not case.unsure and said)
    scores = {
        rule: (
            hit[rule] / (hit[rule] + false[rule]) if hit[rule] + false[rule] else None,
            hit[rule] / max(1, hit[rule] + missed[rule]),
        )
        for rule in RULES
    }
    return scores, failed, alarms
