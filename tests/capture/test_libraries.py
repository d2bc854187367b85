"""Which versions of I/O libraries a program has loaded, as the side file says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from workalike.capture.side_file import read_side_file
from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import open_log

from .conftest import Profile, Run


def libraries_of(run: Run) -> dict[str, str]:
    warnings: list[str] = []
    found = read_side_file(run.logs[0], warnings).libraries
    assert warnings == []
    return found


def test_a_library_that_python_loads_privately(profile: Profile) -> None:
    import h5py

    write = "import h5py\nwith h5py.File('a.h5', 'w') as f: f['x'] = [1, 2, 3]"
    run = profile(sys.executable, "-c", write)
    assert libraries_of(run)["hdf5"] == h5py.version.hdf5_version
    found = characterize([open_log(run.logs[0])], CharacterizeOptions(include_program_start=True))
    assert found.libraries["hdf5"] == h5py.version.hdf5_version


def test_mpi_names_itself(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = profile("mpiexec", "-n", "2", compiled("mpi_known.c", compiler="mpicc"))
    version = subprocess.run(["mpiexec", "--version"], capture_output=True, text=True, check=True).stdout
    number = re.search(r"\d+\.\d+\.\d+", version)
    assert number is not None and number.group() in libraries_of(run)["mpi"]


def test_a_program_without_such_libraries_names_none(profile: Profile, compiled: Callable[..., Path]) -> None:
    assert libraries_of(profile(compiled("behaves.c"), "rewrite")) == {}


def test_a_name_or_version_that_cannot_be_true_is_not_used(tmp_path: Path) -> None:
    log = tmp_path / "a.darshan"
    stated = [("hdf5", "1.10.8\u001b[31m"), ("libevil", "1.0"), ("mpi", "x" * 81), ("pnetcdf", "1.12.3")]
    side = {"version": 2, "libraries": [{"name": name, "version": version} for name, version in stated]}
    (tmp_path / "a.darshan.extra.json").write_text(json.dumps(side))
    assert read_side_file(log, []).libraries == {"pnetcdf": "1.12.3"}
