"""Folders that are removed while a run writes into them, and other files with the name of a data file."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from needed import needs_engine

WORKLOAD = """\
workalike: 2
ranks: 1
families:
- role: checkpoint
  interface: posix
  schedule: {start: [0 s, 2 s]}
  content: {streams: [{direction: write, sizes: [8 x 64 KiB]}]}
"""
COMMAND = [str(Path(sys.executable).with_name("workalike")), "run", "app.yaml", "--dir", "data", "-o", "out"]

pytestmark = needs_engine


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    """A run whose first dump is in the record."""
    (folder / "app.yaml").write_text(WORKLOAD)
    process = subprocess.Popen([*COMMAND, *options], cwd=folder, stderr=subprocess.PIPE, text=True)
    record = folder / "out" / "run.jsonl"
    for _ in range(600):
        if record.exists() and '"dump"' in record.read_text():
            return process
        time.sleep(0.05)
    process.kill()
    raise AssertionError("the run did not begin")


@pytest.mark.parametrize("options", [(), ("--capture",)], ids=["plain", "capture"])
def test_the_folder_of_the_record_is_removed(tmp_path: Path, options: tuple[str, ...]) -> None:
    process = started(tmp_path, *options)
    shutil.rmtree(tmp_path / "out")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1, said
    assert said.splitlines()[-1].startswith("workalike: cannot write: out: was removed during the run"), said
    assert list((tmp_path / "data").iterdir()) == []


def test_the_data_folder_is_removed(tmp_path: Path) -> None:
    process = started(tmp_path)
    shutil.rmtree(tmp_path / "data")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1, said
    assert "workalike: run failed" in said
    assert (tmp_path / "out" / "run.json").exists(), "what had been done is not recorded"


@pytest.mark.parametrize("kind", ["folder", "link", "file"])
def test_what_is_in_the_place_of_a_data_file_is_named(tmp_path: Path, kind: str) -> None:
    (tmp_path / "app.yaml").write_text(WORKLOAD)
    subprocess.run([*COMMAND, "--time-scale", "0", "--keep", "-q"], cwd=tmp_path, check=True)
    kept = list((tmp_path / "data").iterdir())
    place = min(kept)
    for path in kept:
        path.unlink()
    if kind == "folder":
        place.mkdir()
    elif kind == "link":
        place.symlink_to("/nowhere")
    else:
        place.touch()
    done = subprocess.run(
        [*COMMAND, "--time-scale", "0", "-q"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"workalike: cannot write: data/{place.name}"), line
    assert "in the way" in line and "plan" not in line
    assert place.is_dir() == (kind == "folder") and place.is_symlink() == (kind == "link")
