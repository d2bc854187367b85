"""A terminal of ASCII: characters that it lacks are replaced, names of files stay, and files are UTF-8."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LOG = Path(__file__).parents[1] / "data" / "checkpoints-4.darshan"
WORKLOAD = """\
workalike: 2
ranks: 2
families:
- role: checkpoint
  interface: mpiio
  sharing: shared
  schedule: {count: 3, first: 0 s, every: 10 s}
  content:
    streams: [{direction: write, sizes: [4/rank x 64 KiB]}]
"""
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))
}
ENVIRONMENT |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
EVERY_HELP = """
import io, sys
from workalike import cli
from workalike.terminal import degrade_output
from typer.main import get_command
degrade_output()
def walk(command, path):
    yield path
    for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
        yield from walk(command.get_command(None, name), [*path, name])
for path in walk(get_command(cli.app), []):
    cli.app([*path, "--help"], standalone_mode=False)
"""


def workalike(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "workalike", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True)


def test_the_help_of_every_command() -> None:
    done = subprocess.run([sys.executable, "-c", EVERY_HELP], env=ENVIRONMENT, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.count(b"Usage:") > 20 and done.stdout.isascii()


@pytest.mark.mpi
def test_results_are_shown_and_files_are_utf8(tmp_path: Path) -> None:
    (tmp_path / "grö-ße.yaml").write_text(WORKLOAD, encoding="utf-8")
    for arguments, code in (
        (("check", "grö-ße.yaml"), 0),
        (("run", "grö-ße.yaml", "--dir", "dä", "-o", "ergebnis-ö", "--time-scale", "0"), 0),
        (("compare", "grö-ße.yaml", "ergebnis-ö/run.json"), 0),
        (("replicate", LOG, "-o", "replica-ü"), 0),
        (("diagnose", LOG, "--names", "-o", "seite-ü.html"), 0),
        (("fleet", "ingest", LOG, "--db", "db"), 0),
        (("fleet", "ingest", LOG, "--db", "db-ü"), 2),
        (("fleet", "report", "--db", "db"), 0),
        (("check", "nicht-dä.yaml"), 2),
    ):
        done = workalike(*arguments, cwd=tmp_path)
        assert done.returncode == code, (arguments, done.stderr.decode())
        assert b"Traceback" not in done.stderr
        name = os.fsencode("replica-ü") if arguments[0] == "replicate" else b""
        assert name in done.stdout
    for path in tmp_path.rglob("*"):
        if path.suffix in (".yaml", ".json", ".jsonl", ".html"):
            path.read_text(encoding="utf-8")


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    """Also in a locale of UTF-8: their bytes are printed as they are."""
    name = os.fsdecode(b"app-\xff.yaml")
    (tmp_path / name).write_text(WORKLOAD)
    command = [sys.executable, "-m", "workalike", "plan", name, "-o", os.fsdecode(b"plan-\xff.json")]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT | {"LC_ALL": "C.UTF-8"}, capture_output=True)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert b"plan-\xff.json" in done.stdout


def test_logs_with_names_that_are_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for name in ("good.darshan", os.fsdecode(b"bad-\xff.darshan")):
        (tmp_path / "logs" / name).write_bytes(LOG.read_bytes())
    command = [sys.executable, "-m", "workalike", "fleet", "ingest", "logs", "--db", "db"]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT | {"LC_ALL": "C.UTF-8"}, capture_output=True)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert b"1 ingested, 1 duplicate" in done.stdout
