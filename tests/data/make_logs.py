"""Makes the logs of this folder again: programs/ compiled, run under our capture library, their logs put here.

    python tests/data/make_logs.py [--to FOLDER] [--run FOLDER] [NAME ...]

Times and machine-dependent counters differ from run to run; tests rely only on what the programs do.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
RUN = Path("/tmp/workalike-data")
"""Where the programs run: the logs name it, so it says nothing of a machine. MPI's and Python's own files are left out."""
LEFT_OUT = "[.]venv|pyenv|site-packages|python3|ompi|pmix"
HDF5 = ("-I/usr/include/hdf5/openmpi", "-L/usr/lib/x86_64-linux-gnu/hdf5/openmpi", "-lhdf5")
NAMELESS = ("unshare", "--map-root-user", "--uts", "sh", "-c", 'hostname node && exec "$@"', "sh")
"""A trace has the name of its node."""
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


@dataclass(frozen=True)
class Made:
    name: str
    source: str
    ranks: int = 1
    """1: without MPI."""
    flags: tuple[str, ...] = ()
    has_input: bool = False
    """The program makes its own input when called with "prepare", before capture."""
    options: tuple[str, ...] = ()
    """Of `workalike profile`."""


LOGS = (
    Made("checkpoints-4", "checkpoints.c", ranks=4),
    Made("per-rank-4", "per_rank.c", ranks=4, has_input=True),
    Made("stdio-output-1", "stdio_output.c", options=("--stdio-sizes",)),
    Made("root-writes-4", "root_writes.c", ranks=4, has_input=True),
    Made("hdf5-states-4", "hdf5_states.c", ranks=4, flags=HDF5),
    Made("h5py-series-1", "h5py_series.py"),
    Made("random-reads-1-dxt", "random_reads.c", has_input=True, options=("--dxt",)),
)


def make(made: Made, run: Path, to: Path, environment: dict[str, str]) -> None:
    folder = run / made.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source = PROGRAMS / made.source
    if source.suffix == ".py":
        shutil.copy(source, folder)
        # A log has the command line: the interpreter is called by a name that says nothing of this machine.
        (folder / "python").symlink_to(Path(sys.executable).resolve())
        environment = {**environment, "PYTHONPATH": sysconfig.get_path("purelib")}
        command = ["./python", source.name]
    else:
        compiler = ["mpicc"] if made.ranks > 1 else ["cc"]
        program = folder / source.stem
        build = [
            *compiler,
            "-O1",
            "-D_GNU_SOURCE",
            "-fno-builtin",
            str(source),
            *made.flags,
            "-o",
            str(program),
        ]
        subprocess.run(build, check=True)
        command = [f"./{source.stem}"]
    launch = ["mpiexec", "-n", str(made.ranks)] if made.ranks > 1 else []
    if made.has_input:
        subprocess.run([*launch, *command, "prepare"], cwd=folder, env=environment, check=True)
    with tempfile.TemporaryDirectory() as logs:
        log = Path(logs) / f"{made.name}.darshan"
        profile = [
            sys.executable,
            "-m",
            "workalike",
            "profile",
            "-o",
            str(log),
            "--exclude",
            LEFT_OUT,
            *made.options,
        ]
        captured = [*profile, "--", *launch, *command]
        subprocess.run([*NAMELESS, *captured], cwd=folder, env=environment, check=True, stdout=2)
        for written in (log, Path(f"{log}.extra.json")):  # not those of processes that a program starts
            if written.exists():
                shutil.copyfile(written, to / written.name)
    shutil.rmtree(folder)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--to", type=Path, default=HERE)
    parser.add_argument("--run", type=Path, default=RUN, help="where the programs run; the logs name it")
    given = parser.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, **MPI_ENVIRONMENT}
    for made in LOGS:
        if not given.names or made.name in given.names:
            make(made, given.run, given.to.resolve(), environment)
    given.run.rmdir()
    return 0


if __name__ == "__main__":
    sys.exit(main())
