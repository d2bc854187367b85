"""Programs that a preload cannot reach: the capture library is linked in."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import WORKALIKE, Profile
from .test_mpi import SHARED_MPIIO
from .test_posix import EXACT as POSIX
from .test_stdio import EXACT as STDIO


@pytest.fixture(scope="module")
def flags(library: Path) -> list[str]:
    done = subprocess.run([*WORKALIKE, "profile", "--link-flags"], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_static_program_counts_the_same(
    profile: Profile, compiled: Callable[..., Path], flags: list[str]
) -> None:
    run = profile(compiled("posix_known.c", "-static", *flags))
    for name, expected in POSIX.items():
        record = run.record("POSIX", name)
        assert {key: record[key] for key in expected} == expected
    assert "--link-flags" in run.stderr


def test_static_streams(profile: Profile, compiled: Callable[..., Path], flags: list[str]) -> None:
    run = profile(compiled("stdio_known.c", "-static", *flags), stdin="ab\n")
    record = run.record("STDIO", "written")
    assert {key: record[key] for key in STDIO["written"]} == STDIO["written"]


@pytest.mark.mpi
@pytest.mark.skipif(shutil.which("mpicc") is None, reason="no MPI")
def test_linked_into_an_mpi_program(
    profile: Profile, compiled: Callable[..., Path], flags: list[str]
) -> None:
    program = compiled("mpi_known.c", *flags, compiler="mpicc")
    for unset in (["env", "-u", "LD_PRELOAD"], []):  # alone, and with the preload, which then counts instead
        run = profile("mpiexec", "-n", "4", *unset, program)
        assert len(run.logs) == 1
        record = run.record("MPI-IO", "shared")
        assert {key: record[key] for key in SHARED_MPIIO} == SHARED_MPIIO


def test_static_program_without_them_gets_a_word(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = profile(compiled("posix_known.c", "-static"))
    assert run.logs == []
    assert "linked statically" in run.stderr
