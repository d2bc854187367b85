"""Beyond the limit of memory, one record per module counts all further files: no byte and no call is lost."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workalike.characterize import characterize
from workalike.darshan import Log, open_log
from workalike.facts.other_files import OTHER_FILES
from workalike.workload.words import Reason

from .conftest import WORKALIKE, Profile, Run
from .test_hdf5 import hdf5_flags

OTHERS = "<OTHER FILES>"
LITTLE = ("--max-memory", "1")

# Counters that depend on what came before in the same file, on its place or its shape, or on rank and time. Open MPI
# asks for the status of its own files as often as it must wait.
NOT_TOTALS = (
    "MAX_", "CONSEC_", "SEQ_", "RW_SWITCHES", "STRIDE", "ACCESS", "MEM_ALIGNMENT", "FILE_", "MODE", "RENAMED_FROM",
    "FASTEST_", "SLOWEST_", "STATS", "DATASPACE_", "DATATYPE_SIZE", "CHUNK_", "USE_", "NDIMS", "NPOINTS", "IS_RECORD_VAR",
)  # fmt: skip


def totals(log: Log, module: str) -> dict[str, int]:
    """The sums over all records of a module of what is counted for each call by itself."""
    table = log.records(module)
    names = [name for name in table.counter_names if not name.startswith(NOT_TOTALS)]
    return {name: int(table[name].sum()) for name in names}


def compare_totals(whole: Run, little: Run, modules: tuple[str, ...]) -> None:
    for module in modules:
        others = little.records(module, OTHERS)
        assert others, f"no record of other files in {module}"
        assert not whole.records(module, OTHERS)
        assert little.log.modules[module].partial
        assert not whole.log.modules[module].partial
        assert len(little.log.records(module).ids) < len(whole.log.records(module).ids)
        assert totals(little.log, module) == totals(whole.log, module)


@pytest.fixture(scope="module")
def serial(
    library: Path, compiled: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Run, Run]:
    program = compiled("many_files.c")
    whole = Profile(tmp_path_factory.mktemp("whole"))(program, "1000")
    little = Profile(tmp_path_factory.mktemp("little"))(program, "1000", options=LITTLE)
    return whole, little


def test_posix_and_stdio_lose_nothing(
    serial: tuple[Run, Run], same_for_pydarshan: Callable[[Path], dict[str, Any]]
) -> None:
    whole, little = serial
    compare_totals(whole, little, ("POSIX", "STDIO"))
    assert totals(little.log, "POSIX")["BYTES_WRITTEN"] == sum(
        1000 + i % 9 + 10 * (i % 2) for i in range(1000)
    )
    assert totals(little.log, "STDIO")["BYTES_WRITTEN"] == sum(100 + i % 9 + 7 for i in range(1000))
    assert little.stderr.count("no memory left") == 2  # once by each process
    same_for_pydarshan(little.logs[0])


def test_a_child_of_a_fork_counts_what_it_inherited(serial: tuple[Run, Run]) -> None:
    children = [replace(run, logs=run.logs[1:]) for run in serial]
    assert [totals(child.log, "POSIX")["BYTES_WRITTEN"] for child in children] == [77, 77]
    assert children[1].record("POSIX", OTHERS)["WRITES"] == 1


def test_a_killed_process_loses_nothing_either(
    library: Path, compiled: Callable[..., Path], profile: Profile, serial: tuple[Run, Run]
) -> None:
    killed = profile(compiled("many_files.c"), "1000", "kill", options=LITTLE, check=False)
    assert "incomplete" in killed.log.job.metadata
    assert killed.records("POSIX", OTHERS)
    for module in ("POSIX", "STDIO"):
        assert totals(killed.log, module) == totals(serial[0].log, module)


def test_traces_are_of_known_files_only(compiled: Callable[..., Path], profile: Profile) -> None:
    run = profile(compiled("many_files.c"), "1000", options=(*LITTLE, "--dxt"))
    log = run.log
    assert log.modules["DXT_POSIX"].partial
    others = next(number for number, name in log.names.items() if name == OTHERS)
    assert others in log.records("POSIX").ids.tolist()
    assert others not in log.dxt("DXT_POSIX").ids.tolist()


def test_characterize_says_what_the_workload_lacks(serial: tuple[Run, Run]) -> None:
    assert OTHER_FILES == OTHERS
    whole, little = (characterize([open_log(run.logs[0])]) for run in serial)
    assert whole.counted_together.modules == ()
    assert little.counted_together.modules == ("POSIX", "STDIO")
    # Bytes that are named in the workload and those that are not are all that the run moved.
    uncovered = {gap.reason: gap.bytes for gap in little.workload.uncovered}
    assert uncovered[Reason.PARTIAL_MODULE] == little.counted_together.bytes > 0
    moved = [
        sum(dump.bytes_written + dump.bytes_read for facts in found.families for dump in facts.dumps)
        + sum(gap.bytes for gap in found.workload.uncovered)
        for found in (whole, little)
    ]
    assert moved[0] == moved[1]
    assert not any(OTHERS in line for facts in little.families for line in facts.sentences())


def test_commands_say_it_in_one_line(serial: tuple[Run, Run], tmp_path: Path) -> None:
    done = subprocess.run(
        [*WORKALIKE, "characterize", str(serial[1].logs[0]), "-o", str(tmp_path / "app.yaml")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    lines = [line for line in done.stderr.splitlines() if "POSIX" in line]
    assert len(lines) == 1
    assert "since POSIX, STDIO had no room" in lines[0]
    assert "--max-memory" in lines[0]


@pytest.mark.mpi
@pytest.mark.system  # 400 files through each library
@pytest.mark.parametrize(
    ("define", "modules"),
    [
        ("MPI", ("MPI-IO", "POSIX")),
        ("HDF5", ("H5F", "H5D", "POSIX")),
        ("PNETCDF", ("PNETCDF_FILE", "PNETCDF_VAR", "MPI-IO")),
    ],
)
def test_libraries_lose_nothing(
    library: Path,
    compiled: Callable[..., Path],
    tmp_path_factory: pytest.TempPathFactory,
    define: str,
    modules: tuple[str, ...],
) -> None:
    if shutil.which("mpiexec") is None:
        pytest.skip("no MPI")
    if define == "PNETCDF" and not Path("/usr/include/pnetcdf.h").exists():
        pytest.skip("no PnetCDF (libpnetcdf-dev)")
    flags = {"MPI": [], "HDF5": hdf5_flags("openmpi"), "PNETCDF": ["-lpnetcdf"]}[define]
    program = compiled("many_files.c", f"-DWITH_{define}", *flags, compiler="mpicc")
    whole, little = (
        Profile(tmp_path_factory.mktemp(define))("mpiexec", "-n", "2", program, "400", options=options)
        for options in ((), LITTLE)
    )
    compare_totals(whole, little, modules)
