"""Without the libraries of a fleet, its commands name the extra, and not the database."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from known_logs import own

HIDDEN = "import sys\n\nfor name in ('duckdb', 'pyarrow'):\n    sys.modules[name] = None\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "--db", "gone"),
        ("serve", "--db", "gone"),
        ("archive", "--db", "gone", "-o", "archive"),
        ("compact", "--db", "gone"),
        ("suite", "--db", "gone", "-o", "suite"),
        ("ingest", str(own("checkpoints-4")), "--db", "fleet"),
    ],
    ids=lambda words: words[0],
)
def test_the_extra_is_named_first(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sitecustomize.py").write_text(HIDDEN)
    done = subprocess.run(
        [sys.executable, "-m", "workalike", "fleet", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "hidden")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("workalike: not installed: a fleet needs ")
    assert "pip install 'workalike[fleet]'" in done.stderr and "gone" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["hidden"]
