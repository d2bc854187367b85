"""LUSTRE records. There is no Lustre here: a stub stands in for the attribute that a Lustre client gives."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workalike.darshan.lustre import LustreRecord

from .conftest import Profile, Run

SCRIPT = """
import os, sys
for name in ("plain", "v1", "v3", "short", "pfl", "dom", "bad", "v1"):
    fd = os.open(name, os.O_WRONLY | os.O_CREAT)
    os.write(fd, b"x")
    os.close(fd)
if len(sys.argv) > 1:
    os.kill(os.getpid(), 9)
"""


def is_on_a_mount(path: Path) -> bool:
    """Whether the mount table knows where a path lies: in a changed root it need not, and no layout is asked for."""
    places = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    return any(path.is_relative_to(place) for place in places)


@pytest.fixture
def stub(compiled: Callable[..., Path], tmp_path: Path) -> dict[str, str]:
    if not is_on_a_mount(tmp_path):
        pytest.skip("the mount table does not tell where the test's folder lies")
    return {"LD_PRELOAD": str(compiled("lustre_stub.c", "-shared", "-fPIC"))}


def layouts(run: Run) -> dict[str, LustreRecord]:
    """Those of the program's own files, by name."""
    paths = {Path(run.log.names[row.id]): row for row in run.log.lustre()}
    return {path.name: row for path, row in paths.items() if path.parent == run.folder}


@pytest.mark.parametrize("kill", [[], ["kill"]])
def test_layouts_of_files(
    profile: Profile,
    stub: dict[str, str],
    kill: list[str],
    same_for_pydarshan: Callable[[Path], dict[str, Any]],
) -> None:
    run = profile(sys.executable, "-c", SCRIPT, *kill, environment=stub, check=False)
    found = layouts(run)
    assert sorted(found) == ["dom", "pfl", "v1", "v3"]  # damaged ones are not recorded
    for name, pool in (("v1", ""), ("v3", "flash")):
        record = found[name]
        assert record.rank == 0
        (component,) = record.components
        assert (component.stripe_size, component.stripe_count, component.pattern) == (2**20, 3, 1)
        assert (component.extent_start, component.extent_end, component.pool) == (0, -1, pool)
        assert record.osts.tolist() == [10, 15, 20]
    for name, first in (("pfl", 1), ("dom", 0)):
        record = found[name]
        row, other = record.components  # the second of three has no objects
        assert (row.stripe_size, row.stripe_count, row.mirror_id) == (2**20, first, 3)
        assert (row.extent_start, row.extent_end) == (0, 2**30)
        assert (other.stripe_size, other.stripe_count, other.pattern) == (3 * 2**20, 3, 1)
        assert (other.extent_start, other.extent_end) == (2**31, -1)
        assert record.osts.tolist() == [*[0][:first], 200, 201, 202]
    answer = same_for_pydarshan(run.logs[0])
    theirs = {row["id"]: row for row in answer["LUSTRE"]}
    assert {row.id for row in run.log.lustre()} == set(theirs)
    for name in ("v1", "v3"):
        record = found[name]
        (component,) = theirs[record.id]["components"]
        assert component["counters"].tolist()[:2] == [2**20, 3]


@pytest.mark.mpi
@pytest.mark.skipif(shutil.which("mpiexec") is None or shutil.which("mpicc") is None, reason="no MPI")
def test_one_record_for_all_ranks(
    profile: Profile, compiled: Callable[..., Path], stub: dict[str, str]
) -> None:
    program = compiled("lustre_known.c", compiler="mpicc")
    run = profile("mpiexec", "-n", "3", program, environment=stub)
    found = layouts(run)
    # Ranks that saw different layouts of a file keep what they saw.
    grown = [row for row in run.log.lustre() if run.log.names[row.id] == f"{run.folder}/grown"]
    assert [(row.rank, len(row.components)) for row in grown] == [(0, 1), (1, 2), (2, 2)]
    del found["grown"]
    assert {name: row.rank for name, row in found.items()} == {
        "v1.shared": -1,
        "pfl.shared": -1,
        "v1.0": 0,
        "v1.1": 1,
        "v1.2": 2,
    }


def test_elsewhere_there_are_none(profile: Profile) -> None:
    run = profile(sys.executable, "-c", SCRIPT)
    assert "LUSTRE" not in run.log.modules
