"""Small studies and ways to run them, shared by the tests of this folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

WORKLOAD = """\
workalike: 2
ranks: 2
families:
- role: checkpoint
  interface: posix
  sharing: shared
  schedule: {count: 2, first: 0 s, every: 10 s}
  content:
    streams: [{direction: write, sizes: [4/rank x 64 KiB]}]
"""
BYTES = 2 * 2 * 4 * 65536
"""Bytes of the workload: dumps x ranks x operations x size."""


def write_study(folder: Path, **fields: Any) -> Path:
    """A study of the small workload that only counts, with changed fields (None removes one)."""
    (folder / "w.yaml").write_text(WORKLOAD)
    document = {
        "study": 1,
        "workload": "w.yaml",
        "fixed": {"time_scale": 0, "backend": "null"},
        "factors": {"ranks": [1, 2], "bytes_scale": ["1", "1/2"]},
        "blocks": 2,
    } | fields
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({k: v for k, v in document.items() if v is not None}, sort_keys=False))
    return path


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "workalike", *map(str, arguments)]


def workalike(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), cwd=cwd, capture_output=True, text=True, timeout=300)


def trials_in(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line)["trial"] for line in (folder / "trials.jsonl").read_text().splitlines()]
