"""`workalike-cc` and `workalike-fc`: programs of MPI, HDF5 and PnetCDF that capture themselves, without a preload."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from workalike.capture.compiler import command, libraries, makes_program
from workalike.capture.event_list import read_events
from workalike.capture.library import LinkedIn

from .conftest import Profile, Run
from .test_hdf5 import FIELD, FILE, LINE, hdf5_flags
from .test_mpi import SHARED_MPIIO
from .test_pnetcdf import FILE as NETCDF_FILE
from .test_pnetcdf import GRID, SERIES

CC, FC = (str(Path(sys.executable).with_name(f"workalike-{word}")) for word in ("cc", "fc"))
RANKS = 4
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
HDF5_ARCHIVE = LIBRARIES / "hdf5" / "openmpi" / "libhdf5.a"
PNETCDF_ARCHIVE = LIBRARIES / "libpnetcdf.a"

pytestmark = pytest.mark.mpi
needs_pnetcdf = pytest.mark.skipif(not Path("/usr/include/pnetcdf.h").exists(), reason="no PnetCDF")


@pytest.fixture
def launch(profile: Profile) -> Callable[..., Run]:
    if shutil.which("mpiexec") is None:
        pytest.skip("no MPI")

    def run(program: Path, *options: str) -> Run:
        command = ("mpiexec", "-n", str(RANKS), "env", "-u", "LD_PRELOAD", program)
        done = profile(*command, options=options)
        assert len([log for log in done.logs if log.suffix != ".json"]) == 1
        return done

    return run


def test_mpi_from_c(launch: Callable[..., Run], compiled: Callable[..., Path]) -> None:
    run = launch(compiled("mpi_known.c", compiler=CC))
    record = run.record("MPI-IO", "shared")
    assert {key: record[key] for key in SHARED_MPIIO} == SHARED_MPIIO


@pytest.mark.parametrize("source", ["mpi_fortran.f90", "mpi_fortran08.f90"])
def test_mpi_from_fortran(source: str, launch: Callable[..., Run], compiled: Callable[..., Path]) -> None:
    run = launch(compiled(source, compiler=FC))
    record = run.record("MPI-IO", "fortran")
    assert (record["rank"], record["COLL_OPENS"], record["COLL_WRITES"]) == (-1, RANKS, 5 * RANKS)
    assert record["BYTES_WRITTEN"] == 5 * RANKS * 1000
    assert record["F_CLOSE_END_TIMESTAMP"] > record["F_OPEN_START_TIMESTAMP"] > 0


@pytest.mark.parametrize(
    ("source", "compiler", "seen"), [("mpi_fortran.f90", FC, False), ("mpi_known.c", CC, True)]
)
def test_messages_of_a_linked_fortran_program_are_said_to_be_unseen(
    source: str, compiler: str, seen: bool, launch: Callable[..., Run], compiled: Callable[..., Path]
) -> None:
    run = launch(compiled(source, compiler=compiler), "--events")
    events = read_events(run.logs[0], RANKS, [])
    assert events is not None
    assert {row.rank for row in events.messages if row.flow == "unseen"} == set(() if seen else range(RANKS))
    assert any(row.flow == "all" for row in events.messages) is seen


def hdf5_archive() -> list[str]:
    """The flags for HDF5 as an archive, with what the archive needs, as HDF5's own compiler wrapper has it."""
    wrapper = shutil.which("h5pcc")
    if wrapper is None or not HDF5_ARCHIVE.exists():
        pytest.skip("no archive of HDF5, or no h5pcc to say what it needs")
    answer = subprocess.run([wrapper, "-show"], capture_output=True, text=True, check=True).stdout.split()
    include = next(flag for flag in hdf5_flags("openmpi") if flag.startswith("-I"))
    return [include, str(HDF5_ARCHIVE), *(word for word in answer if word.startswith("-l"))]


@pytest.mark.parametrize("kind", ["shared", "archive"])
def test_hdf5(kind: str, launch: Callable[..., Run], compiled: Callable[..., Path]) -> None:
    flags = hdf5_flags("openmpi") if kind == "shared" else hdf5_archive()
    run = launch(compiled("hdf5_known.c", "-DPARALLEL", *flags, compiler=CC))
    for module, name, expected in (
        ("H5F", "data.h5", FILE),
        ("H5D", "data.h5:/stepfield", FIELD),
        ("H5D", "data.h5://line", LINE),
    ):
        record = run.record(module, name)
        assert {key: record[key] for key in expected} == expected
    assert run.logs[0].with_name("app.darshan.extra.json").exists()  # attributes and groups
    written = sum(record["BYTES_WRITTEN"] for record in run.records("MPI-IO", "data.h5"))
    assert (written > 0) == (kind == "archive")  # calls within a shared library cannot be wrapped


@needs_pnetcdf
@pytest.mark.parametrize("kind", ["shared", "archive"])
def test_pnetcdf(kind: str, launch: Callable[..., Run], compiled: Callable[..., Path]) -> None:
    flags = ["-lpnetcdf"] if kind == "shared" else [str(PNETCDF_ARCHIVE), "-lm"]
    run = launch(compiled("pnetcdf_known.c", *flags, compiler=CC))
    for module, name, expected in (
        ("PNETCDF_FILE", "data.nc", NETCDF_FILE),
        ("PNETCDF_VAR", "data.nc:grid", GRID),
        ("PNETCDF_VAR", "data.nc:series", SERIES),
    ):
        record = run.record(module, name)
        assert {key: record[key] for key in expected} == expected


@needs_pnetcdf
def test_pnetcdf_from_fortran(launch: Callable[..., Run], compiled: Callable[..., Path]) -> None:
    """Its Fortran bindings call those of C, in the same archive."""
    flags = ["-I/usr/include/x86_64-linux-gnu", str(PNETCDF_ARCHIVE), "-lm"]
    run = launch(compiled("pnetcdf_fortran.F90", *flags, compiler=FC))
    field = run.record("PNETCDF_VAR", "fortran.nc:field")
    assert (field["PUT_VARA"], field["BYTES_WRITTEN"], field["NPOINTS"]) == (RANKS, 32 * RANKS, 32)


OURS = LinkedIn(Path("/o"), Path("/w.a"), Path("/l.a"))


def test_libraries_come_after_the_archive() -> None:
    words = command("gcc", ["a.o", "-L/x", "-lhdf5", "-l", "z", "b.a", "-o", "app.a"], OURS)
    assert words[:10] == ["gcc", "a.o", "-L/x", "-lhdf5", "-l", "z", "b.a", "-o", "app.a", "-Wl,@/o"]
    start = words.index("-Wl,--start-group")
    assert words[start:] == [
        "-Wl,--start-group",
        "/l.a",
        "-L/x",
        "-lhdf5",
        "-l",
        "z",
        "b.a",
        "-Wl,--end-group",
    ]
    assert libraries(["x.c", "-lm", "-Wl,-Bstatic", "libx.so.2"]) == ["-lm", "-Wl,-Bstatic", "libx.so.2"]


@pytest.mark.parametrize(
    "arguments", [["-c", "a.c"], ["--version"], ["-E", "a.c"], ["-shared", "a.o", "-o", "a.so"], []]
)
def test_nothing_is_added_where_no_program_is_linked(arguments: list[str]) -> None:
    assert not makes_program(arguments)
    assert command("mpicc", arguments, OURS) == ["mpicc", *arguments]


def test_another_compiler_and_one_that_is_missing(compiled: Callable[..., Path], tmp_path: Path) -> None:
    source = tmp_path / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    build = [CC, str(source), "-o", str(tmp_path / "empty")]
    for compiler, code in (("gcc", 0), ("no-such-compiler", 127)):
        done = subprocess.run(
            build,
            env={"PATH": "/usr/bin:/bin", "WORKALIKE_CC": compiler},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
    assert "no-such-compiler: No such file or directory" in done.stderr
    symbols = subprocess.run(
        ["nm", str(tmp_path / "empty")], capture_output=True, text=True, check=True
    ).stdout
    assert "capture_modules" in symbols
