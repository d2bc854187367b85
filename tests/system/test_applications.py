"""Real applications run anew under our capture, shortened: the replica has their counters, and leaves the same files.

What an application has left on disk is the truth: the number and the sizes of its files. Text logs that characterization
sets aside as noise are named for each application.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from .support import needs, read_json, workalike

pytestmark = pytest.mark.system

RANKS = 2
LEAST_AGREEMENT = 0.95
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMP_NUM_THREADS": "1",
    "GMX_MAXBACKUP": "-1",
    "WM_PROJECT_DIR": "/usr/share/openfoam",
}
DAM_BREAK = Path("/usr/share/doc/openfoam-examples/examples/multiphase/interFoam/laminar/damBreak/damBreak")
WRITTEN_EVERY, ENDS_AT = 0.02, 0.06

CP2K_INPUT = """\
&GLOBAL
  PROJECT water
  RUN_TYPE MD
  PRINT_LEVEL LOW
&END GLOBAL
&FORCE_EVAL
  METHOD Quickstep
  &DFT
    BASIS_SET_FILE_NAME BASIS_SET
    POTENTIAL_FILE_NAME GTH_POTENTIALS
    &MGRID
      CUTOFF 100
    &END
    &SCF
      EPS_SCF 1.E-4
      SCF_GUESS ATOMIC
      &PRINT
        &RESTART
          &EACH
            MD 1
          &END
          BACKUP_COPIES 3
        &END
      &END
    &END
    &XC
      &XC_FUNCTIONAL PADE
      &END
    &END
    &PRINT
      &E_DENSITY_CUBE
        &EACH
          MD 2
        &END
      &END
    &END
  &END DFT
  &SUBSYS
    &CELL
      ABC 5.0 5.0 5.0
    &END
    &COORD
  O 0.0 0.0 0.0
  H 0.758602 0.0 0.504284
  H 0.758602 0.0 -0.504284
    &END
    &KIND H
      BASIS_SET DZVP-GTH-PADE
      POTENTIAL GTH-PADE-q1
    &END
    &KIND O
      BASIS_SET DZVP-GTH-PADE
      POTENTIAL GTH-PADE-q6
    &END
  &END
&END FORCE_EVAL
&MOTION
  &MD
    ENSEMBLE NVE
    STEPS 6
    TIMESTEP 0.5
  &END
  &PRINT
    &RESTART
      &EACH
        MD 1
      &END
    &END
    &RESTART_HISTORY
      &EACH
        MD 2
      &END
    &END
  &END
&END
"""
"""Molecular dynamics of water: restarts with three backups that are made by renames, wave functions, densities."""

TOPOLOGY = """\
#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
"""
CUT_OFFS = "coulombtype = reaction-field\nrcoulomb = 0.9\nrvdw = 0.9\n"
MINIMISATION = f"integrator = steep\nnsteps = 30\n{CUT_OFFS}"
DYNAMICS = (
    f"integrator = md\nnsteps = 600\ndt = 0.001\ngen-vel = yes\n{CUT_OFFS}"
    "nstxout = 100\nnstvout = 100\nnstxout-compressed = 20\nnstlog = 100\nnstenergy = 50\n"
)


def run(folder: Path, command: str) -> None:
    done = subprocess.run(
        command.split(),
        cwd=folder,
        env={**os.environ, **ENVIRONMENT},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]


def captured(folder: Path, log: Path, *words: str) -> Counter[int]:
    """Run the application under capture; how many files of which size it has left, noise included."""
    before = set(folder.rglob("*"))
    done = workalike(
        *("profile", "-o", log, "--", "mpiexec", "-n", RANKS, *words), cwd=folder, environment=ENVIRONMENT
    )
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]
    return sizes_of(path for path in folder.rglob("*") if path not in before)


def sizes_of(paths: Iterable[Path]) -> Counter[int]:
    return Counter(path.stat().st_size for path in paths if path.is_file())


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
    found = sizes_of(path for path in (folder / "data").iterdir() if not path.name.startswith("input"))
    assert found == left, f"left too much: {found - left}, too little: {left - found}"


def test_cp2k(tmp_path: Path) -> None:
    """Backups by rename: of restarts and wave functions, the last one and three older ones are left."""
    needs("cp2k.psmp", "mpiexec")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "water.inp").write_text(CP2K_INPUT)
    left = captured(folder, tmp_path / "app.darshan", "cp2k.psmp", "-i", "water.inp")
    left -= sizes_of(folder.glob("water-1.ener"))  # a text log
    assert len(list(folder.glob("*.bak-*"))) == 6
    check_replica(tmp_path / "app.darshan", tmp_path, left)


def test_gromacs(tmp_path: Path) -> None:
    """Checkpoints under a temporary name, one of which is kept and copied; trajectories that are synced."""
    needs("gmx_mpi", "mpiexec")
    (tmp_path / "topol.top").write_text(TOPOLOGY)
    (tmp_path / "em.mdp").write_text(MINIMISATION)
    (tmp_path / "md.mdp").write_text(DYNAMICS)
    run(tmp_path, "gmx_mpi solvate -cs spc216.gro -box 3 3 3 -p topol.top -o conf.gro")
    run(tmp_path, "gmx_mpi grompp -f em.mdp -c conf.gro -p topol.top -o em.tpr")
    run(tmp_path, "gmx_mpi mdrun -s em.tpr -deffnm em -ntomp 1")
    run(tmp_path, "gmx_mpi grompp -f md.mdp -c em.gro -p topol.top -o topol.tpr")
    folder = tmp_path / "run"
    folder.mkdir()
    command = "gmx_mpi mdrun -s ../topol.tpr -ntomp 1 -cpt 0.03"
    left = captured(folder, tmp_path / "app.darshan", *command.split())
    left -= sizes_of(
        folder / name for name in ("md.log", "ener.edr")
    )  # text logs, and a hundredth of the bytes
    check_replica(tmp_path / "app.darshan", tmp_path, left)


def test_openfoam(tmp_path: Path) -> None:
    """A folder of small files for each rank and time."""
    needs("interFoam", "blockMesh", "mpiexec")
    if not DAM_BREAK.is_dir():
        pytest.skip("openfoam-examples is not installed")
    folder = tmp_path / "run"
    shutil.copytree(DAM_BREAK, folder)
    set_value(folder / "system/controlDict", "endTime", f"{ENDS_AT}")
    set_value(folder / "system/controlDict", "writeInterval", f"{WRITTEN_EVERY}")
    set_value(folder / "system/decomposeParDict", "numberOfSubdomains", f"{RANKS}")
    set_value(folder / "system/decomposeParDict", "    n", f"({RANKS} 1 1)")
    for tool in ("blockMesh", "setFields", "decomposePar"):
        run(folder, tool)
    left = captured(folder, tmp_path / "app.darshan", "interFoam", "-parallel")
    assert len(left) > RANKS * ENDS_AT / WRITTEN_EVERY
    check_replica(tmp_path / "app.darshan", tmp_path, left)


def set_value(path: Path, key: str, value: str) -> None:
    """Change a line of one of OpenFOAM's dictionaries."""
    lines = path.read_text().splitlines()
    places = [place for place, line in enumerate(lines) if line.startswith(f"{key} ")]
    assert len(places) == 1, f"{path.name} has {len(places)} lines of {key}"
    lines[places[0]] = f"{key} {value};"
    path.write_text("\n".join(lines) + "\n")
