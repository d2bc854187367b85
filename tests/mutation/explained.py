"""Why some mutants survive: `survivors.yaml`, by file, line of code and change."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

FILE = Path(__file__).with_name("survivors.yaml")
SOURCES = Path(__file__).parents[2] / "src" / "workalike"


@cache
def entries() -> tuple[dict[str, str], ...]:
    """All explanations: `file` (relative to the package), `code`, `change` and `why`."""
    return tuple(yaml.safe_load(FILE.read_text(encoding="utf-8")))


def reason(path: Path, line: int, change: str) -> str:
    """Why a mutant survives; '' where nobody has said it.

    Args:
        path: the file that is mutated.
        line: its line, from 1.
        change: as `score.py` shows it.
    """
    code = path.read_text(encoding="utf-8").splitlines()[line - 1].strip()
    key = (path.relative_to(SOURCES).as_posix(), code, change)
    return next((e["why"] for e in entries() if (e["file"], e["code"], e["change"]) == key), "")
