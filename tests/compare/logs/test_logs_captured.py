"""Programs under capture, as they are and with one thing done otherwise (the corpus is benchmarks/compare_logs.py)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from workalike.capture.library import find_library
from workalike.compare.logs.comparison import compare_logs
from workalike.compare.logs.side import LogSide, side_of
from workalike.darshan import open_logs
from workalike.errors import WorkalikeError

PROGRAM = """
import os, sys, tempfile
change = sys.argv[1]
with tempfile.NamedTemporaryFile(dir=".", suffix=".part") as part:
    part.write(bytes(5000))
file = os.open("out.dat", os.O_CREAT | os.O_WRONLY)
for number in range(20):
    os.write(file, bytes(1000))
    if change == "sync":
        os.fsync(file)
os.close(file)
if change == "delete":
    os.unlink("out.dat")
"""


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LogSide]:
    """The facts of each run, in a folder of its own."""
    try:
        find_library()
    except WorkalikeError:
        pytest.skip("the capture library is not built (make build)")
    out = {}
    for change in ("plain", "again", "sync", "delete"):
        folder = tmp_path_factory.mktemp(change)
        workalike = str(Path(sys.executable).with_name("workalike"))
        program = [sys.executable, "-c", PROGRAM, change]
        subprocess.run(
            [workalike, "profile", "-o", "app.darshan", "--", *program],
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=120,
        )
        out[change] = side_of(open_logs([folder / "app.darshan"]), change)
    return out


def test_the_same_twice_is_equal(sides: dict[str, LogSide]) -> None:
    found = compare_logs([sides["plain"]], sides["again"])
    assert found.word == "equal", found.compared.changes
    assert found.compared.files >= 2
    assert any("random part" in note for note in found.notes)


@pytest.mark.parametrize(("change", "counter", "now"), [("sync", "FSYNCS", 20), ("delete", "REMOVALS", 1)])
def test_what_was_done_otherwise_is_named(
    sides: dict[str, LogSide], change: str, counter: str, now: int
) -> None:
    found = compare_logs([sides["plain"]], sides[change])
    changed = {(Path(c.file).name, c.counter, c.before, c.now) for c in found.compared.changes}
    assert changed == {("out.dat", counter, 0, now)}
