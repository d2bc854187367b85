"""Capture for all users: the module's environment, dated folders, the limit on logs, and what is not captured."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from workalike.capture.mapping import read_mapping
from workalike.darshan import open_log

from .conftest import MPI_ENVIRONMENT, WORKALIKE

REPOSITORY = Path(__file__).parents[2]
TEMPLATE = REPOSITORY / "tools" / "site" / "modulefile.in"
needs_mpi = pytest.mark.skipif(
    shutil.which("mpiexec") is None or shutil.which("mpicc") is None, reason="no MPI"
)

# What a module file may say, without a module system: it prints what it would set.
STUBS = """
proc module-whatis {words} {}
proc setenv {name value} {puts "$name=$value"}
proc prepend-path {name value} {puts "$name=$value"}
"""


class Site:
    """A machine where capture is on for everybody."""

    def __init__(self, library: Path, folder: Path) -> None:
        self.logs = folder / "logs"
        self.maps = folder / "maps"
        self.data = folder / "data"
        for row in (self.logs, self.maps, self.data):
            row.mkdir()
        self.words = {
            "LD_PRELOAD": str(library),
            "WORKALIKE_CAPTURE_LOG_DIR": f"{self.logs}/%Y/%m/%d",
            "WORKALIKE_CAPTURE_MAPS": str(self.maps),
        }

    def __call__(self, *command: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(word) for word in command], cwd=self.data, capture_output=True, text=True, check=False, timeout=100,
            env={**os.environ, **MPI_ENVIRONMENT, **self.words, **more},
        )  # fmt: skip
        left = [mapping for path in self.maps.iterdir() if (mapping := read_mapping(path))]
        # Of what went on by exec the mapping is the only trace; where serial programs do not matter there is none.
        assert all(row.whole for row in left) and not (left and "WORKALIKE_CAPTURE_MPI_ONLY" in self.words)
        return done

    def found(self) -> list[Path]:
        return sorted(self.logs.rglob("*.darshan"))


@pytest.fixture
def site(library: Path, tmp_path: Path) -> Site:
    return Site(library, tmp_path)


def module_environment(library: Path, logs: Path, folder: Path) -> dict[str, str]:
    """What the module file sets, said by the language that it is written in."""
    if shutil.which("tclsh") is None:
        pytest.skip("no tclsh")
    text = TEMPLATE.read_text().replace("@LIBRARY@", str(library)).replace("@LOGS@", str(logs))
    script = folder / "module.tcl"
    script.write_text(STUBS + text)
    said = subprocess.run(["tclsh", str(script)], check=True, capture_output=True, text=True).stdout
    return dict(line.split("=", 1) for line in said.splitlines())


@pytest.mark.mpi
@needs_mpi
def test_module_captures_mpi_jobs_only(
    site: Site, library: Path, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    words = module_environment(library, site.logs, tmp_path)
    assert all(name == "LD_PRELOAD" or name.startswith("WORKALIKE_CAPTURE_") for name in words)
    site.words |= words
    program = compiled("mpi_known.c", compiler="mpicc")
    assert site("bash", "-c", f"echo x > x; gzip x; exec mpiexec -n 2 {program}").returncode == 0
    (log,) = site.found()
    assert open_log(log).job.nprocs == 2
    year, month, day = log.relative_to(site.logs).parts[:3]
    assert (int(year), int(month), int(day)) == time.gmtime(open_log(log).job.start_time)[:3]
    folder = log.parent
    while folder != site.logs:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o1777
        folder = folder.parent
    assert stat.S_IMODE(log.stat().st_mode) == 0o400


def test_profile_under_the_module(site: Site) -> None:
    done = site(*WORKALIKE, "profile", "-o", "own.darshan", "--", "bash", "-c", "echo x > x")
    assert (site.data / "own.darshan").exists(), done.stderr
    logs = [open_log(path) for path in site.found()]
    assert not any("own.darshan" in log.job.exe and log.job.exe.startswith("bash") for log in logs)


def test_off_switch(site: Site) -> None:
    assert site("bash", "-c", "echo x > x", WORKALIKE_CAPTURE_OFF="1").returncode == 0
    assert not site.found()


@pytest.mark.parametrize(
    ("patterns", "captured"),
    [("", True), ("other:ba*", False), ("*/bash", False), ("bash", False), ("bas", True), ("/no/*", True)],
)
def test_programs_that_are_left_alone(site: Site, patterns: str, captured: bool) -> None:
    site("bash", "-c", "echo x > x", WORKALIKE_CAPTURE_PROGRAMS_EXCLUDE=patterns)
    assert len(site.found()) == captured


def test_percent_in_the_folder_of_one_run_is_a_percent(site: Site) -> None:
    folder = site.logs / "50%day"
    folder.mkdir()
    site("bash", "-c", "echo x > x", WORKALIKE_CAPTURE_DIR=str(folder))
    assert [log.parent for log in site.found()] == [folder]


def test_missing_folder_before_the_date_is_not_made(site: Site) -> None:
    done = site_without_log(site, WORKALIKE_CAPTURE_LOG_DIR=f"{site.logs}/missing/%Y")
    assert "cannot be written" in done.stderr and len(done.stderr.splitlines()) == 1


def site_without_log(site: Site, **more: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        ["bash", "-c", "echo x > x"], cwd=site.data, capture_output=True, text=True, check=False,
        env={**os.environ, **site.words, **more},
    )  # fmt: skip
    assert done.returncode == 0 and not site.found()
    return done


TRACED = ("dd", "if=/dev/zero", "of=data", "bs=10", "count=3000", "status=none")


def test_cap_takes_traces_first(site: Site) -> None:
    site(*TRACED, WORKALIKE_CAPTURE_DXT="1")
    (whole,) = site.found()
    assert "DXT_POSIX" in open_log(whole).modules
    cap = whole.stat().st_size - 1
    whole.unlink()
    site(*TRACED, WORKALIKE_CAPTURE_DXT="1", WORKALIKE_CAPTURE_MAX_LOG=str(cap // 2))
    (capped,) = site.found()
    log = open_log(capped)
    assert "DXT_POSIX" not in log.modules and "POSIX" in log.modules
    assert capped.stat().st_size <= cap // 2


def test_log_above_the_cap_is_not_written(site: Site) -> None:
    done = site("bash", "-c", "echo x > x", WORKALIKE_CAPTURE_MAX_LOG="1000")
    assert done.returncode == 0 and not site.found()
    assert "WORKALIKE_CAPTURE_MAX_LOG" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.mpi
@needs_mpi
@pytest.mark.parametrize(("cap", "logs"), [("1000", 0), ("1000000", 1)])
def test_cap_on_the_log_of_a_job(site: Site, compiled: Callable[..., Path], cap: str, logs: int) -> None:
    program = compiled("mpi_known.c", compiler="mpicc")
    done = site("mpiexec", "-n", "4", program, WORKALIKE_CAPTURE_MAX_LOG=cap)
    assert done.returncode == 0, done.stderr
    assert len(site.found()) == logs
    assert len(done.stderr.splitlines()) == 1 - logs
