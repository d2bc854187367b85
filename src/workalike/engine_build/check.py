"""`workalike engine check`: what an engine can do here, by a run of two ranks that reads back what it wrote."""

from __future__ import annotations

import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.launch.engines import Engine, launcher_family
from workalike.launch.launchers import choose
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.options import Options
from workalike.plan.resolve import resolve
from workalike.workload.workload_file import parse_workload

RANKS = 2
INTERFACES = {"posix": "POSIX", "mpiio": "MPI-IO", "hdf5": "HDF5", "pnetcdf": "PnetCDF"}
LIBRARIES = {"hdf5": "HDF5", "pnetcdf": "PnetCDF", "adios2": "ADIOS2"}
REMEDIES = {
    "hdf5": "no parallel HDF5 of this MPI was found: families of HDF5, NetCDF-4 and TyphonIO cannot be performed; name it "
    "with `workalike engine build --hdf5 DIR`",
    "pnetcdf": "no PnetCDF of this MPI was found: its families cannot be performed",
}
LIMIT_S = 120.0


@dataclass(frozen=True)
class Checked:
    """What a check found. `failures` has, by interface, the reason of a run that failed."""

    path: str
    mpi: str
    launcher: str
    libraries: dict[str, str]
    passed: list[str]
    failures: dict[str, str]
    missing: dict[str, str]
    seconds: float

    @property
    def works(self) -> bool:
        return bool(self.passed) and not self.failures

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "works": self.works}


def check(engine: Engine, directory: Path | None) -> Checked:
    """Let two ranks write through each interface of an engine and read it back.

    Args:
        engine: to be checked.
        directory: on the file system that is to be used; by default a temporary folder.
    """
    has = [name for name in INTERFACES if name not in LIBRARIES or name in engine.features]
    passed, failures = [], {}
    began = time.monotonic()
    for name in has:
        try:
            _perform(engine.path, name, directory)
            passed.append(INTERFACES[name])
        except (WorkalikeError, TimeoutError) as error:
            failures[INTERFACES[name]] = str(error)
    return Checked(
        str(engine.path),
        engine.mpi,
        f"{choose(None, RANKS).name} of {launcher_family() or 'an unknown MPI'}",
        {word: engine.features[name] for name, word in LIBRARIES.items() if name in engine.features},
        passed,
        failures,
        {LIBRARIES[name]: text for name, text in REMEDIES.items() if name not in engine.features},
        time.monotonic() - began,
    )


def _perform(engine: Path, interface: str, directory: Path | None) -> None:
    workload = f"""\
workalike: 2
ranks: {RANKS}
families:
- role: checkpoint
  interface: {interface}
  sharing: shared
  schedule: {{count: 1, first: 0 s, every: 1 s}}
  content: {{streams: [{{direction: write, sizes: [2/rank x 64 KiB]}}]}}
"""
    with tempfile.TemporaryDirectory(prefix="workalike-check-", dir=directory) as folder:
        options = RunOptions(
            data=Path(folder, "data"),
            out=Path(folder),
            engine=engine,
            verify=True,
            quiet=True,
            silent=True,
            limit_s=LIMIT_S,
        )
        record = run_plan(resolve(parse_workload(workload), Options()), options)
    if record.verified is None or record.verified.errors or not record.verified.bytes:
        raise WorkalikeError(ErrorKind.RUN_FAILED, "what was read back is not what was written")
