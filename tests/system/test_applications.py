"""Real applications run anew under our capture, shortened: the replica has their counters, and leaves the same files.

What an application has left on disk is the truth: the number and the sizes of its files, text logs among them. Empty files
are left out, since a replica has one for each folder at which the application has only looked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from applications import CP2K_INPUT, DAM_BREAK, ENVIRONMENT, prepare_gromacs, prepare_openfoam

from .support import needs, read_json, workalike

pytestmark = pytest.mark.system

RANKS = 2
LEAST_AGREEMENT = 0.95
WRITTEN_EVERY, ENDS_AT = 0.02, 0.06


def captured(folder: Path, log: Path, *words: str) -> Counter[int]:
    """Run the application under capture; how many files of which size it has left."""
    before = set(folder.rglob("*"))
    done = workalike(
        *("profile", "-o", log, "--", "mpiexec", "-n", RANKS, *words), cwd=folder, environment=ENVIRONMENT
    )
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]
    return sizes_of(path for path in folder.rglob("*") if path not in before)


def sizes_of(paths: Iterable[Path]) -> Counter[int]:
    return Counter(path.stat().st_size for path in paths if path.is_file() and path.stat().st_size)


def check_replica(log: Path, folder: Path, left: Counter[int]) -> None:
    """At the application's ranks and sizes, without its pauses: its counters, and the files that it has left."""
    done = workalike(
        *("replicate", log, "-o", "replica", "--dir", "data", "--ranks", RANKS, "--bytes-scale", "1"),
        *("--time-scale", "0", "--keep", "--verify", "--quiet"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    fidelity = read_json(folder / "replica/fidelity.json")
    agreement = fidelity["agreement"]
    assert agreement["model"] >= LEAST_AGREEMENT, fidelity["verdict"]
    assert agreement["replica"] >= LEAST_AGREEMENT, fidelity["verdict"]
    assert read_json(folder / "replica/run.json")["verified"]["errors"] == 0
    found = sizes_of(path for path in (folder / "data").rglob("*") if not path.name.startswith("input"))
    assert found == left, f"left too much: {found - left}, too little: {left - found}"


def test_cp2k(tmp_path: Path) -> None:
    """Backups by rename: of restarts and wave functions, the last one and three older ones are left."""
    needs("cp2k.psmp", "mpiexec")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "water.inp").write_text(CP2K_INPUT)
    left = captured(folder, tmp_path / "app.darshan", "cp2k.psmp", "-i", "water.inp")
    assert len(list(folder.glob("*.bak-*"))) == 6
    check_replica(tmp_path / "app.darshan", tmp_path, left)


def test_gromacs(tmp_path: Path) -> None:
    """Checkpoints under a temporary name, one of which is kept and copied; trajectories that are synced."""
    needs("gmx_mpi", "mpiexec")
    prepare_gromacs(tmp_path, 600)
    folder = tmp_path / "run"
    folder.mkdir()
    command = "gmx_mpi mdrun -s ../topol.tpr -ntomp 1 -cpt 0.03"
    left = captured(folder, tmp_path / "app.darshan", *command.split())
    check_replica(tmp_path / "app.darshan", tmp_path, left)


def test_openfoam(tmp_path: Path) -> None:
    """A folder of small files for each rank and time."""
    needs("interFoam", "blockMesh", "mpiexec")
    if not DAM_BREAK.is_dir():
        pytest.skip("openfoam-examples is not installed")
    folder = tmp_path / "run"
    prepare_openfoam(folder, RANKS, WRITTEN_EVERY, ENDS_AT)
    left = captured(folder, tmp_path / "app.darshan", "interFoam", "-parallel")
    assert len(left) > RANKS * ENDS_AT / WRITTEN_EVERY
    check_replica(tmp_path / "app.darshan", tmp_path, left)
