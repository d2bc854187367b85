"""One class per launcher; a new one needs a class and a line in the registry."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Protocol

from workalike.errors import ErrorKind, WorkalikeError


@dataclass(frozen=True)
class Shape:
    """The number of processes, and their placement on nodes."""

    ranks: int
    nodes: int | None = None
    ranks_per_node: int | None = None


class Launcher(Protocol):
    """Turns an engine command into a launch command."""

    name: str
    program: str

    def command(self, shape: Shape, engine: list[str]) -> list[str]: ...

    def environment(self) -> dict[str, str]: ...


class Serial:
    """One process needs no launcher."""

    name = "serial"
    program = ""

    def command(self, shape: Shape, engine: list[str]) -> list[str]:
        return engine

    def environment(self) -> dict[str, str]:
        return {}


class Mpiexec:
    """mpiexec of Open MPI or MPICH. Open MPI refuses root and oversubscription unless the environment allows them."""

    name = "mpiexec"
    program = "mpiexec"

    def command(self, shape: Shape, engine: list[str]) -> list[str]:
        placed: list[str] = []
        if shape.ranks_per_node is not None:
            placed = ["-ppn" if _is_mpich() else "--npernode", str(shape.ranks_per_node)]
        return [self.program, "-n", str(shape.ranks), *placed, *engine]

    def environment(self) -> dict[str, str]:
        settings = {
            "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
            # Many containers forbid direct reads of another process's memory; copying always works.
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        }
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            settings |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return {key: value for key, value in settings.items() if key not in os.environ}


class Srun:
    """Slurm. The site's plugin connects MPI and srun, or else PMIx or PMI2.

    Slurm's own default is not a plugin: MPI then either refuses to start, or each task becomes a run of one rank.
    """

    name = "srun"
    program = "srun"

    def command(self, shape: Shape, engine: list[str]) -> list[str]:
        plugin = _mpi_plugin()
        placed = [f"--mpi={plugin}"] if plugin else []
        placed += [f"--nodes={shape.nodes}"] if shape.nodes else []
        placed += [f"--ntasks-per-node={shape.ranks_per_node}"] if shape.ranks_per_node else []
        # srun refuses more tasks than allocated processors; counting runs and small allocations need them.
        placed += ["--overcommit"] if shape.ranks > _allocated_processors() else []
        return [self.program, f"--ntasks={shape.ranks}", "--kill-on-bad-exit=1", *placed, *engine]

    def environment(self) -> dict[str, str]:
        return {}


class Flux:
    """Flux."""

    name = "flux"
    program = "flux"

    def command(self, shape: Shape, engine: list[str]) -> list[str]:
        placed = [f"-N{shape.nodes}"] if shape.nodes else []
        return [self.program, "run", f"-n{shape.ranks}", *placed, *engine]

    def environment(self) -> dict[str, str]:
        return {}


LAUNCHERS: dict[str, Launcher] = {
    launcher.name: launcher for launcher in (Mpiexec(), Srun(), Flux(), Serial())
}


MOST_RANKS_PER_CORE = 128
BATCH_SYSTEMS = ("PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE", "SLURM_JOB_ID", "COBALT_JOBID", "OAR_JOB_ID")


def _refuse_a_flood(ranks: int) -> None:
    """Refuse more processes than one machine can run, unless the user named the launcher."""
    cores = os.cpu_count() or 1
    if ranks > MOST_RANKS_PER_CORE * cores and not any(os.environ.get(name) for name in BATCH_SYSTEMS):
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"{ranks:,} processes would flood this machine of {cores} cores",
            hint="lower --ranks, count with --backend null, or insist with --launcher mpiexec",
        )


def choose(name: str | None, ranks: int) -> Launcher:
    """The named launcher; by default srun inside a Slurm job, flux inside a Flux instance, else mpiexec.

    Raises:
        WorkalikeError: USAGE for an unknown name, a program that is not installed, or too many ranks for one machine.
    """
    if name is None:
        if os.environ.get("SLURM_JOB_ID") and shutil.which("srun"):
            name = "srun"
        elif os.environ.get("FLUX_URI") and shutil.which("flux"):
            name = "flux"
        else:
            name = "mpiexec" if ranks > 1 else "serial"
            _refuse_a_flood(ranks)
    if name not in LAUNCHERS:
        raise WorkalikeError(
            ErrorKind.USAGE, f"unknown launcher {name!r}", hint=f"use {', '.join(LAUNCHERS)}"
        )
    launcher = LAUNCHERS[name]
    if launcher.program and shutil.which(launcher.program) is None:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"{launcher.program} is not installed",
            hint="load the site's MPI, or choose --launcher",
        )
    if launcher.name == "serial" and ranks > 1:
        raise WorkalikeError(ErrorKind.USAGE, f"the serial launcher cannot start {ranks} ranks")
    return launcher


def _is_mpich() -> bool:
    program = shutil.which("mpiexec")
    return program is not None and "hydra" in os.path.realpath(program)


def _mpi_plugin() -> str | None:
    """The plugin to request from srun; None if the site has chosen one already, or offers no known one."""
    if os.environ.get("SLURM_MPI_TYPE"):
        return None
    site = re.search(r"^MpiDefault\s*=\s*(\S+)", _output("scontrol", "show", "config"), re.MULTILINE)
    if site is None or site[1] not in ("none", "(null)"):
        return None
    offered = set(_output("srun", "--mpi=list").split())
    wanted = ("pmi2", "pmix") if _is_mpich() else ("pmix", "pmi2")
    return next((plugin for plugin in wanted if plugin in offered), None)


def _allocated_processors() -> int:
    """Processors of the job, from Slurm's variable such as `64(x2),32`; without it, no limit is known."""
    words = os.environ.get("SLURM_JOB_CPUS_PER_NODE", "")
    groups = re.findall(r"(\d+)(?:\(x(\d+)\))?", words)
    return sum(int(count) * int(nodes or 1) for count, nodes in groups) or sys.maxsize


def _output(*command: str) -> str:
    """The output of a short command, stderr included (srun lists its plugins there); empty if it cannot run."""
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
