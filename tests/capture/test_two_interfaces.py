"""Files of which both POSIX and STDIO move data: their replica has as many files, opens and transfers."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import Log, open_log
from workalike.workload.model import Interface

from .conftest import MPI_ENVIRONMENT, WORKALIKE, Profile, Run

SUMS = {
    "POSIX": ("OPENS", "DUPS", "READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN"),
    "STDIO": ("OPENS", "FDOPENS", "READS", "WRITES", "SEEKS", "FLUSHES", "BYTES_READ", "BYTES_WRITTEN"),
}
LAST = ("MAX_BYTE_READ", "MAX_BYTE_WRITTEN")


@pytest.fixture(scope="module")
def run(library: Path, compiled: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Profile(tmp_path_factory.mktemp("two"))(compiled("two_interfaces.c"))


def totals(log: Log, folder: Path) -> dict[str, int]:
    """Counters over the files below a folder, and how many files each module has."""
    out: Counter[str] = Counter()
    names: set[str] = set()
    for module, counters in SUMS.items():
        table = log.records(module)
        own = [row for row, n in enumerate(table.ids.tolist()) if log.names[n].startswith(f"{folder}/")]
        names |= {log.names[table.ids[row].item()] for row in own}
        for counter in (*counters, *LAST):
            out[f"{module} {counter}"] = int(table[counter][own].sum())
        out[f"{module} files"] = len(own)
    return {**out, "files": len(names)}


def replica_of(log: Path, folder: Path, *options: str) -> dict[str, int]:
    """The counters of a captured replica."""
    data = folder / "replica"
    data.mkdir()
    for command in (
        ["characterize", str(log), "-o", "w.yaml", *options],
        [
            "run",
            "w.yaml",
            "--dir",
            str(data),
            "-o",
            "out",
            "--capture",
            "--time-scale",
            "0",
            "-q",
            "--verify",
        ],
    ):
        done = subprocess.run(
            [*WORKALIKE, *command],
            cwd=folder,
            env={**os.environ, **MPI_ENVIRONMENT},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return totals(open_log(folder / "out" / "replica.darshan"), data)


def test_streams_on_descriptors_are_counted_with_copies(run: Run) -> None:
    counted = totals(run.log, run.folder)
    assert (counted["POSIX OPENS"], counted["POSIX DUPS"]) == (2 * 8 + 1, 8)
    assert (counted["STDIO OPENS"], counted["STDIO FDOPENS"]) == (8 + 1, 8)


def test_replica_has_the_same_files_and_calls(run: Run, tmp_path: Path) -> None:
    assert replica_of(run.logs[0], tmp_path) == totals(run.log, run.folder)


def test_one_file_is_one_family(run: Run) -> None:
    families = characterize([run.log], CharacterizeOptions()).workload.families
    assert {family.interface for family in families} == {Interface.POSIX}
    by_name = sorted(s.by_name for f in families for c in f.all_contents() for s in c.buffered)
    assert by_name == [False, False, True]
