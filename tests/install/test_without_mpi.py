"""Source distribution and wheel on a machine without MPI: everything except performing a plan works.

Both are built and installed into empty virtual environments, where the demo's first half runs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
LOG = REPOSITORY / "tests/data/checkpoints-4.darshan"
LOG_BYTES = 3 * 4 * 8 * 64 * 1024
"""tests/data/README.md: dumps, ranks, blocks, bytes of a block."""

# No package of this environment may replace what was installed.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("WORKALIKE_", "PYTHON"))}
# Both packages compile the same sources, below two temporary folders: the second time ccache has them.
COMPILE_ONCE = {
    "CMAKE_C_COMPILER_LAUNCHER": "ccache",
    "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
    "CCACHE_BASEDIR": tempfile.gettempdir(),
    "CCACHE_NOHASHDIR": "1",
}
BUILDING = {**CLEAN, **(COMPILE_ONCE if shutil.which("ccache") else {})}

NOT_IN_SDIST = {".ci"}
FILTERED_ALONE = """workalike: 2
ranks: 4
families:
- role: checkpoint
  interface: hdf5
  level: h5d
  schedule: {count: 1, first: 0 s}
  content:
    arrays:
    - dims: [4096]
      access: [{direction: write, slabs: [{count: 4, shape: [1024]}]}]
  tunable: {deflate: 4}
"""


def do(*command: object, environment: dict[str, str] = BUILDING) -> str:
    done = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout + done.stderr


@dataclass(frozen=True)
class Packages:
    sdist: Path
    wheel: Path


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """The files of `make dist`."""
    folder = tmp_path_factory.mktemp("dist")
    do(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, REPOSITORY)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return Packages(sdist, wheel)


@dataclass(frozen=True)
class Installed:
    """An environment with only the package and its dependencies."""

    bin: Path

    def call(self, cwd: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.bin / "workalike"), *map(str, arguments)],
            cwd=cwd,
            env={**CLEAN, "PATH": f"{self.bin}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )

    def run(self, cwd: Path, *arguments: object) -> str:
        done = self.call(cwd, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refuses(self, cwd: Path, *arguments: object) -> str:
        """The single line of a command's error."""
        done = self.call(cwd, *arguments)
        assert done.returncode == 2, done.stdout + done.stderr
        (line,) = done.stderr.splitlines()
        return line


@pytest.fixture(scope="module", params=["wheel", "sdist"])
def installed(
    request: pytest.FixtureRequest, packages: Packages, tmp_path_factory: pytest.TempPathFactory
) -> Installed:
    folder = tmp_path_factory.mktemp(request.param)
    venv.create(folder, with_pip=True)
    do(folder / "bin/python", "-m", "pip", "install", "--quiet", getattr(packages, request.param))
    return Installed(folder / "bin")


@pytest.fixture
def no_engine(installed: Installed) -> None:
    assert not (installed.bin / "workalike-engine").exists()


@pytest.mark.system
def test_sdist_is_the_source_tree(packages: Packages) -> None:
    if shutil.which("git") is None or not (REPOSITORY / ".git").exists():
        pytest.skip("not a checkout")
    tracked = do(
        "git", "-C", REPOSITORY, "ls-files", "--cached", "--others", "--exclude-standard"
    ).splitlines()
    with tarfile.open(packages.sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {name for name in names if name.startswith("tests/data/") and name.endswith(".darshan")}
    assert names - {"PKG-INFO"} == {name for name in tracked if name.split("/")[0] not in NOT_IN_SDIST}


@pytest.mark.system
def test_wheel_holds_core_and_capture_but_no_engine(packages: Packages) -> None:
    names = {Path(name).name for name in zipfile.ZipFile(packages.wheel).namelist()}
    assert any(name.startswith("_core.") and name.endswith(".so") for name in names)
    assert {"libworkalike-capture.so", "libworkalike-capture.a", "report.html"} <= names
    assert "workalike-engine" not in names


@pytest.mark.system
@pytest.mark.usefixtures("no_engine")
class TestInstalled:
    def test_demo_up_to_the_engine(self, installed: Installed, tmp_path: Path) -> None:
        run: Callable[..., str] = lambda *words: installed.run(tmp_path, *words)  # noqa: E731
        run("characterize", LOG, "-o", "app.yaml")
        run("check", "app.yaml", "--audit", LOG)
        run("plan", "app.yaml", "-o", "plan.json")
        run("run", "plan.json", "--dir", "data", "-o", "out", "--backend", "null")
        record = json.loads((tmp_path / "out/run.json").read_text())
        assert sum(dump["bytes_written"] for dump in record["dumps"]) == LOG_BYTES
        run("compare", LOG, "out/run.json", "--require", "bytes=0%,ops=0%", "-o", "fidelity.json")
        assert (tmp_path / "fidelity.json").is_file()

    def test_a_bundle_can_be_made(self, installed: Installed, tmp_path: Path) -> None:
        installed.run(tmp_path, "characterize", LOG, "-o", "app.yaml")
        installed.run(tmp_path, "bundle", "app.yaml", "-o", "tender.tar.gz")
        with tarfile.open(tmp_path / "tender.tar.gz") as archive:
            assert {"tender/engine/main.cpp", "tender/LICENSES/workalike"} <= set(archive.getnames())

    def test_a_replica_says_which_extra_its_report_needs(self, installed: Installed, tmp_path: Path) -> None:
        line = installed.refuses(tmp_path, "replicate", LOG, "-o", "replica", "--backend", "null")
        assert "pip install 'workalike[report]'" in line
        assert list(tmp_path.iterdir()) == []

    def test_performing_says_what_to_install(self, installed: Installed, tmp_path: Path) -> None:
        installed.run(tmp_path, "characterize", LOG, "-o", "app.yaml")
        for words in (
            ("run", "app.yaml", "--dir", "data", "-o", "out"),
            ("run", "app.yaml", "--dir", "data", "-o", "out", "--backend", "posix"),
            ("replicate", LOG, "-o", "out"),
        ):
            assert "`workalike engine build`" in installed.refuses(tmp_path, *words)
        assert {path.name for path in tmp_path.iterdir()} == {"app.yaml"}

    def test_what_contradicts_itself_is_refused(self, installed: Installed, tmp_path: Path) -> None:
        (tmp_path / "filtered.yaml").write_text(FILTERED_ALONE)
        line = installed.refuses(tmp_path, "check", "filtered.yaml")
        assert (
            "filtered.yaml: checkpoint 1: filters in a file of several ranks need collective writes" in line
        )

    def test_serial_program_is_captured(self, installed: Installed, tmp_path: Path) -> None:
        program = "import os; f = os.open('state.dat', os.O_CREAT | os.O_WRONLY); os.write(f, bytes(4096))"
        installed.run(
            tmp_path,
            "profile",
            "--include",
            f"^{tmp_path}/",
            "-o",
            "app.darshan",
            "--",
            sys.executable,
            "-c",
            program,
        )
        installed.run(tmp_path, "characterize", "app.darshan", "-o", "app.yaml")
        installed.run(tmp_path, "run", "app.yaml", "--dir", "data", "-o", "out", "--backend", "null")
        record = json.loads((tmp_path / "out/run.json").read_text())
        assert sum(dump["bytes_written"] for dump in record["dumps"]) == 4096


@pytest.mark.system
def test_with_its_extra_a_replica_that_only_counts_has_a_report(packages: Packages, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    do(tmp_path / "venv/bin/python", "-m", "pip", "install", "--quiet", f"{packages.wheel}[report]")
    Installed(tmp_path / "venv/bin").run(tmp_path, "replicate", LOG, "-o", "replica", "--backend", "null")
    assert (tmp_path / "replica/report.html").is_file()


@pytest.mark.system
@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (("fmt",), "libfmt-dev"),
        (("fmt", "nlohmann_json"), "nlohmann-json3-dev"),
        (("CLI11",), "libcli11-dev"),
    ],
)
def test_what_the_build_needs_is_reported_on_one_line(
    tmp_path: Path, missing: tuple[str, ...], words: str
) -> None:
    hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in missing]
    done = subprocess.run(
        ["cmake", "-S", str(REPOSITORY), "-B", str(tmp_path), *hidden],
        capture_output=True,
        text=True,
        env=CLEAN,
        check=False,
    )
    if missing == ("CLI11",) and "Found MPI_C" not in done.stdout:
        pytest.skip("no MPI")
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if "install" in line]
    assert len(said) == 1, done.stderr
    assert words in said[0]
