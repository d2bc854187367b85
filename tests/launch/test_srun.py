"""The options of srun, with stand-ins for Slurm's programs; tests/system uses the real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from workalike.launch.launchers import Shape, Srun

PLUGINS = "MPI plugin types are...\\n\\tpmix\\n\\tnone\\n\\tpmi2\\nspecific pmix plugin versions available: pmix_v4\\n"


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder at the start of PATH, with an srun that lists plugins; the rest of PATH has no mpiexec of MPICH."""
    script(tmp_path / "srun", f"printf '{PLUGINS}' >&2")
    script(tmp_path / "mpiexec", "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    for name in ("SLURM_MPI_TYPE", "SLURM_JOB_CPUS_PER_NODE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def script(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def site_default(folder: Path, plugin: str) -> None:
    script(folder / "scontrol", f"echo 'ClusterName = test'; echo 'MpiDefault              = {plugin}'")


def options(ranks: int) -> list[str]:
    command = Srun().command(Shape(ranks), ["engine"])
    assert command[0] == "srun"
    assert command[-1] == "engine"
    return command[1:-1]


def test_a_site_without_a_default_gets_pmix(slurm: Path) -> None:
    site_default(slurm, "none")
    assert "--mpi=pmix" in options(4)


def test_mpich_gets_pmi2(slurm: Path) -> None:
    site_default(slurm, "none")
    (slurm / "mpiexec").rename(slurm / "mpiexec.hydra")
    (slurm / "mpiexec").symlink_to("mpiexec.hydra")
    assert "--mpi=pmi2" in options(4)


@pytest.mark.parametrize("plugin", ["cray_shasta", "pmi2", "pmix_v4"])
def test_the_site_s_default_is_left_alone(slurm: Path, plugin: str) -> None:
    site_default(slurm, plugin)
    assert not [o for o in options(4) if o.startswith("--mpi")]


def test_the_user_s_choice_is_left_alone(slurm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site_default(slurm, "none")
    monkeypatch.setenv("SLURM_MPI_TYPE", "pmix_v3")
    assert not [o for o in options(4) if o.startswith("--mpi")]


def test_a_controller_that_cannot_be_asked_decides_nothing(slurm: Path) -> None:
    script(slurm / "scontrol", "exit 1")
    assert not [o for o in options(4) if o.startswith("--mpi")]


@pytest.mark.parametrize(("processors", "overcommit"), [("64(x2),32", False), ("2", True), ("1(x3)", True)])
def test_more_ranks_than_processors(
    slurm: Path, monkeypatch: pytest.MonkeyPatch, processors: str, overcommit: bool
) -> None:
    site_default(slurm, "pmix")
    monkeypatch.setenv("SLURM_JOB_CPUS_PER_NODE", processors)
    assert ("--overcommit" in options(4)) == overcommit
