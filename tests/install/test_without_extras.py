"""What works where no optional library is installed, and what says which extra to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from known_logs import find

OPTIONAL = ("matplotlib", "h5py", "scipy", "pyarrow", "duckdb", "starlette", "uvicorn", "distributed")
WITHOUT = f"""
import sys
for name in {OPTIONAL!r}:
    sys.modules[name] = None
from workalike.__main__ import main
main()
"""
STUDY = "study: 1\nworkload: w.yaml\nfactors: {ranks: [1]}\nblocks: 1\n"
MIX = "mix: 1\nworkloads: {a: w.yaml}\n"


def bare(*words: object) -> subprocess.CompletedProcess[str]:
    """The command line of a Python without these libraries."""
    command = [sys.executable, "-c", WITHOUT, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_logs_are_read_characterized_and_diagnosed(tmp_path: Path) -> None:
    log, workload = find("example.darshan"), tmp_path / "w.yaml"
    for words in (
        ("characterize", log, "-o", workload, "--no-rehearsal"),
        ("check", workload),
        ("plan", workload, "-o", tmp_path / "plan.json"),
        ("diagnose", log),
        ("--help",),
    ):
        done = bare(*words)
        assert done.returncode in (0, 3), (words, done.stderr)
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("replicate", "LOG", "-o", "OUT"), "the report needs matplotlib (pip install 'workalike[report]')"),
        (("diagnose", "LOG", "-o", "OUT.html"), "needs matplotlib (pip install 'workalike[report]')"),
        (("study", "STUDY", "-o", "OUT"), "(pip install 'workalike[study]')"),
        (("mix", "MIX", "-o", "OUT", "--dir", "OUT"), "needs matplotlib (pip install 'workalike[report]')"),
        (("inspect", "HDF5"), "needs h5py (pip install 'workalike[hdf5]')"),
        (("fleet", "ingest", "LOG", "--db", "OUT"), "(pip install 'workalike[fleet]')"),
    ],
)
def test_what_needs_one_names_the_extra(words: tuple[str, ...], line: str, tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text("workalike: 2\nranks: 1\nfamilies: []\n")
    (tmp_path / "study.yaml").write_text(STUDY)
    (tmp_path / "mix.yaml").write_text(MIX)
    (tmp_path / "file.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(1024))
    files = {
        "LOG": find("example.darshan"),
        "STUDY": tmp_path / "study.yaml",
        "MIX": tmp_path / "mix.yaml",
        "HDF5": tmp_path / "file.h5",
        "OUT": tmp_path / "out",
        "OUT.html": tmp_path / "out.html",
    }
    done = bare(*(files.get(word, word) for word in words))
    assert done.returncode == 2, done.stderr
    (last,) = done.stderr.strip().splitlines()[-1:]
    assert line in last, done.stderr
