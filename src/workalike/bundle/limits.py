"""How large the files of a bundle, and of what comes back, may be."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from workalike.bundle.archive import MOST_BYTES, Files
from workalike.bundle.pack import CHECKSUMS, RULES
from workalike.bundle.rules import Rules
from workalike.files import write_bytes
from workalike.plan.core import core_plan
from workalike.plan.plan_file import read_plan

MOST_LIST_BYTES = 4 << 20
"""Of rules and lists of checksums: a bundle has about 600 files."""
MOST_NOTE_BYTES = 1 << 20
MOST_MESSAGES_BYTES = 256 << 20
"""Of what is not read: messages of the launcher, and whatever else lies in the folder."""


def most_of_bundle(name: str) -> int | None:
    """Bytes of a file of a bundle, at most; None for what is not needed."""
    if name in (RULES, CHECKSUMS):
        return MOST_LIST_BYTES
    return MOST_BYTES if name.startswith("plans/") else None


def most_of_results(asked: Files, rules: Rules) -> tuple[Callable[[str], int | None], int]:
    """(bytes of a file of results, at most, None for what is not needed; bytes of all).

    Both follow from the plans: an engine writes so much about each dump, file and rank, and a plan that was tuned is
    about as long as ours.

    Raises:
        WorkalikeError: a plan of the bundle cannot be read; CANNOT_WRITE.
    """
    notes = {"bundle": MOST_NOTE_BYTES, "system": MOST_NOTE_BYTES, "checksums": MOST_LIST_BYTES}
    runs = {}
    for rule in rules.plans:
        plan = asked.size(f"plans/{rule.name}/plan.json")
        runs[rule.name] = {
            "plan.json": 4 * plan + MOST_NOTE_BYTES,
            "run.jsonl": _most_record_bytes(asked, rule.name),
        }
    repeats = {str(repeat) for repeat in range(1, rules.repeats + 1)}

    def most(name: str) -> int | None:
        workload, _, rest = name.partition("/")
        repeat, _, file = rest.partition("/")
        return runs[workload].get(file) if workload in runs and repeat in repeats else notes.get(name)

    of_runs = sum(sum(files.values()) for files in runs.values())
    return most, MOST_MESSAGES_BYTES + rules.repeats * of_runs


def files_of_plan(asked: Files, name: str) -> dict[str, bytes]:
    """The plan of a workload and its tables, by name in the plan's folder."""
    folder = f"plans/{name}/"
    return {path.removeprefix(folder): asked[path] for path in asked if path.startswith(folder)}


def _most_record_bytes(asked: Files, name: str) -> int:
    """About 1,500 bytes of a dump are written, 60 of a file, 12 of a node, and a line of each call that failed."""
    with tempfile.TemporaryDirectory(prefix="workalike-") as folder:
        for file, content in files_of_plan(asked, name).items():
            write_bytes(Path(folder) / file, content)
        plan = read_plan(Path(folder) / "plan.json")
    files_of_dump = {f.id: files for f, files in zip(plan.families, core_plan(plan).files, strict=True)}
    files = sum(files_of_dump[dump.family] for dump in plan.dumps)
    return MOST_NOTE_BYTES + 8192 * len(plan.dumps) + 512 * files + 1024 * plan.ranks
