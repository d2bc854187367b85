"""Inputs of real applications that are made here: tests run them under capture, benchmarks in turn with their replicas."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

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


def dynamics(steps: int) -> str:
    """GROMACS's molecular dynamics: trajectories, energies and a log of so many steps."""
    return (
        f"integrator = md\nnsteps = {steps}\ndt = 0.001\ngen-vel = yes\n{CUT_OFFS}"
        "nstxout = 100\nnstvout = 100\nnstxout-compressed = 20\nnstlog = 100\nnstenergy = 50\n"
    )


def run(folder: Path, command: str) -> None:
    """Run a command that prepares an input; an AssertionError has what it printed."""
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


def prepare_gromacs(folder: Path, steps: int) -> None:
    """Water that is solvated and minimised: `topol.tpr` is ready for `gmx_mpi mdrun`."""
    (folder / "topol.top").write_text(TOPOLOGY)
    (folder / "em.mdp").write_text(MINIMISATION)
    (folder / "md.mdp").write_text(dynamics(steps))
    run(folder, "gmx_mpi solvate -cs spc216.gro -box 3 3 3 -p topol.top -o conf.gro")
    run(folder, "gmx_mpi grompp -f em.mdp -c conf.gro -p topol.top -o em.tpr")
    run(folder, "gmx_mpi mdrun -s em.tpr -deffnm em -ntomp 1")
    run(folder, "gmx_mpi grompp -f md.mdp -c em.gro -p topol.top -o topol.tpr")


def prepare_openfoam(folder: Path, ranks: int, written_every: float, ends_at: float) -> None:
    """The dam break of OpenFOAM's examples, for `interFoam -parallel`; the folder must not exist yet."""
    shutil.copytree(DAM_BREAK, folder)
    _set_value(folder / "system/controlDict", "endTime", f"{ends_at}")
    _set_value(folder / "system/controlDict", "writeInterval", f"{written_every}")
    _set_value(folder / "system/decomposeParDict", "numberOfSubdomains", f"{ranks}")
    _set_value(folder / "system/decomposeParDict", "    n", f"({ranks} 1 1)")
    for tool in ("blockMesh", "setFields", "decomposePar"):
        run(folder, tool)


def _set_value(path: Path, key: str, value: str) -> None:
    """Change a line of one of OpenFOAM's dictionaries."""
    lines = path.read_text().splitlines()
    places = [place for place, line in enumerate(lines) if line.startswith(f"{key} ")]
    assert len(places) == 1, f"{path.name} has {len(places)} lines of {key}"
    lines[places[0]] = f"{key} {value};"
    path.write_text("\n".join(lines) + "\n")
