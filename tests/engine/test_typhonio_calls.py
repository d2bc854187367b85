"""The calls that write TyphonIO files, counted by the capture library, and compared with a log of the real library."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workalike.darshan import open_log

from .conftest import MPI_ENVIRONMENT, SINGLETON_ENVIRONMENT
from .typhonio_files import find_program, run_program

pytestmark = pytest.mark.system  # whole programs under capture

# Deck C of the paper at part sizes 4700 and 2267, as MACSio's branch shapes its parts; 4 ranks. The log of that run is
# mphys-c-small-typhonio-4, made with HDF5 1.10.8 and an MPI whose MPI-IO is ROMIO; what is asked for is in it.
FIRST, FIFTH = "21x28", "6x269"
STATES = (
    "4x71 4x71 5x71 6x61 4x101 19x41 34x36 10x151 3x557 14x127 40x47 40x47 37x51 33x58 4x479 42x46 43x45 10x199 "
    "3x691 6x347 14x149 6x349 43x49 37x57 14x151 46x46 29x73 11x193"
)
ROMIO = "romio321"  # in Open MPI 4


@pytest.fixture
def captured(tmp_path: Path) -> Callable[..., tuple[dict[str, int], dict[str, int]]]:
    def run(pattern: str, *what: object, ranks: int = 4) -> tuple[dict[str, int], dict[str, int]]:
        """Counters of the one file, at MPI-IO and at POSIX level."""
        log, file = tmp_path / f"{pattern}.darshan", tmp_path / f"{pattern}.h5"
        workalike = str(Path(sys.executable).with_name("workalike"))
        run_program(pattern, file, *what, ranks=ranks, prefix=(workalike, "profile", "-o", str(log), "--"))
        read = open_log(log)
        levels = []
        for module in ("MPI-IO", "POSIX"):
            table = read.records(module)
            (row,) = [i for i, n in enumerate(table.ids.tolist()) if read.names.get(n) == str(file)]
            levels.append({name: int(table[name][row]) for name in table.counter_names})
        return levels[0], levels[1]

    return run


def known_hdf5() -> bool:
    """HDF5 decides how metadata is split into writes, and this differs between its versions."""
    environment = {**os.environ, **MPI_ENVIRONMENT, **SINGLETON_ENVIRONMENT}
    command = [str(find_program()), "faithful", "-", "version"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip() == "1.10.8"


def expect(seen: dict[str, int], **wanted: int) -> None:
    assert {name: seen[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("size", "file_size", "sizes"),
    [(FIRST, 878_717, (81, 172, 192, 0)), (FIFTH, 2_206_237, (81, 172, 28, 164))],
)
def test_faithful_checkpoints_write_as_the_library_does(
    captured: Any, tmp_path: Path, size: str, file_size: int, sizes: tuple[int, ...]
) -> None:
    if not known_hdf5():
        pytest.skip("counts are those of HDF5 1.10.8")
    mpiio, posix = captured("faithful", "deck", 43, size)
    expect(
        mpiio, COLL_WRITES=200, INDEP_WRITES=245, COLL_READS=0, INDEP_READS=0, SYNCS=4, VIEWS=400, COLL_OPENS=4,
        SIZE_WRITE_AGG_0_100=sizes[0], SIZE_WRITE_AGG_100_1K=sizes[1], SIZE_WRITE_AGG_1K_10K=sizes[2],
        SIZE_WRITE_AGG_10K_100K=sizes[3], BYTES_WRITTEN=file_size - 1617,
    )  # fmt: skip
    assert (tmp_path / "faithful.h5").stat().st_size == file_size
    assert posix["MAX_BYTE_WRITTEN"] == file_size - 1


def has_romio() -> bool:
    info = shutil.which("ompi_info")
    return (
        info is not None
        and ROMIO in subprocess.run([info], capture_output=True, text=True, check=True).stdout
    )


def test_faithful_states_are_appended_as_the_library_does(
    captured: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not known_hdf5():
        pytest.skip("counts are those of HDF5 1.10.8")
    romio = has_romio()
    if romio:
        monkeypatch.setenv("OMPI_MCA_io", ROMIO)
    mpiio, posix = captured("faithful", "deck", 43, *STATES.split())
    expect(
        mpiio, COLL_WRITES=5600, INDEP_WRITES=7229, COLL_READS=108, INDEP_READS=0, SYNCS=112, VIEWS=11416,
        BYTES_WRITTEN=63_552_677, BYTES_READ=96_768, RW_SWITCHES=216, SIZE_WRITE_AGG_0_100=2580,
        SIZE_WRITE_AGG_100_1K=4921, SIZE_WRITE_AGG_1K_10K=1948, SIZE_WRITE_AGG_10K_100K=3380,
        SIZE_READ_AGG_0_100=4, SIZE_READ_AGG_100_1K=60, SIZE_READ_AGG_1K_10K=44,
    )  # fmt: skip
    assert (tmp_path / "faithful.h5").stat().st_size == 63_481_788
    if romio:  # below MPI-IO the implementation decides; with the original's, sieving too is the same
        expect(
            posix,
            WRITES=12_829,
            READS=57,
            BYTES_READ=664_607_432,
            MAX_BYTE_READ=60_485_099,
            CONSEC_WRITES=2476,
        )


@pytest.mark.parametrize("many", [4, 16])
def test_optimised_writes_little_that_is_small(captured: Any, many: int) -> None:
    """All data of this size are pieces of more than 10 KiB, so small writes are those of tables and metadata."""
    small = []
    for pattern in ("faithful", "optimised"):
        _, posix = captured(pattern, "deck", 43, "60x65", ranks=many)
        small.append(sum(posix[f"SIZE_WRITE_{size}"] for size in ("0_100", "100_1K", "1K_10K")))
    assert small[0] >= 200
    assert small[1] * 5 <= small[0], small
