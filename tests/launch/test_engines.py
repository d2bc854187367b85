"""Engines of several MPIs: which one a run takes, what is built where, and what is said when that cannot be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from workalike.commands.engine import show
from workalike.engine_build.build import BuildOptions, build
from workalike.errors import WorkalikeError
from workalike.files import alone_in
from workalike.launch import engines, launchers
from workalike.launch.possible import refuse_impossible
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.options import Options
from workalike.plan.resolve import resolve
from workalike.workload.workload_file import parse_workload

OPEN_MPI, MPICH = "Open MPI v4.1.4", "MPICH 4.0.2"
LAUNCHERS = {OPEN_MPI: "mpiexec (OpenRTE) 4.1.4", MPICH: "HYDRA build details:\n    Version: 4.0.2"}

ONE = """\
workalike: 2
ranks: 2
families:
- role: checkpoint
  interface: posix
  schedule: {count: 1}
  content: {streams: [{direction: write, sizes: [1/rank x 4 KiB]}]}
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def engine(path: Path, mpi: str) -> Path:
    return program(path, f"echo 'mpi {mpi}'\necho 'hdf5 1.10.8'")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without any engine, whose programs are in `bin`."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("WORKALIKE_ENGINE", raising=False)
    monkeypatch.delenv("WORKALIKE_ENGINES", raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setattr(engines.sysconfig, "get_path", lambda _: str(tmp_path / "bin"))
    return tmp_path


def use_mpiexec(home: Path, mpi: str) -> None:
    program(home / "bin" / "mpiexec", f"cat <<'END'\n{LAUNCHERS[mpi]}\nEND")
    engines.launcher_family.cache_clear()


@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_a_run_takes_the_engine_of_the_mpiexec_in_use(home: Path, mpi: str) -> None:
    own = {
        each: engine(engines.home() / name / engines.NAME, each)
        for name, each in (("a-open-mpi", OPEN_MPI), ("b-mpich", MPICH))
    }
    use_mpiexec(home, mpi)
    assert engines.find_engine() == own[mpi]
    engines.refuse_wrong_pair(own[mpi], "mpiexec")


def test_a_wrong_pair_is_named(home: Path) -> None:
    path = engine(engines.home() / "mpich-4" / engines.NAME, MPICH)
    use_mpiexec(home, OPEN_MPI)
    with pytest.raises(WorkalikeError) as refused:
        engines.refuse_wrong_pair(engines.find_engine(), "mpiexec")
    line = refused.value.one_line()
    assert MPICH in line and "mpiexec is that of Open MPI" in line and str(path) in line
    engines.refuse_wrong_pair(path, "srun")


def test_an_engine_that_says_no_mpi_is_no_wrong_pair(home: Path) -> None:
    path = program(engines.home() / "old" / engines.NAME, "echo 'hdf5 1.10.8'")
    use_mpiexec(home, OPEN_MPI)
    engines.refuse_wrong_pair(path, "mpiexec")


def test_no_engine_and_a_wrong_name(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WorkalikeError, match="workalike engine build"):
        engines.find_engine()
    monkeypatch.setenv("WORKALIKE_ENGINE", str(home / "gone"))
    with pytest.raises(WorkalikeError, match="WORKALIKE_ENGINE names no program"):
        engines.find_engine()


def test_folders_of_engines_come_before_the_users_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = engine(home / "site" / "open-mpi-5" / engines.NAME, OPEN_MPI)
    engine(engines.home() / "open-mpi-4" / engines.NAME, OPEN_MPI)
    monkeypatch.setenv("WORKALIKE_ENGINES", f"{home / 'none'}:{home / 'site'}")
    use_mpiexec(home, OPEN_MPI)
    assert engines.find_engine() == site


def test_a_program_that_is_no_engine_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is to blame, and the workload is not."""
    other = program(home / "ls", "echo 'ls: unknown option' >&2; exit 2")
    monkeypatch.setenv("WORKALIKE_ENGINE", str(other))
    with pytest.raises(WorkalikeError) as refused:
        refuse_impossible(engines.find_engine(), resolve(parse_workload(ONE), Options()), "app.yaml")
    line = refused.value.one_line()
    assert f"{other}: is not an engine of workalike" in line and "correct or unset WORKALIKE_ENGINE" in line
    assert "app.yaml" not in line


def test_what_an_engine_refuses_is_still_said_of_the_workload(home: Path) -> None:
    path = program(
        engines.home() / "a" / engines.NAME,
        f'[ "$1" = --features ] && echo "mpi {OPEN_MPI}" && exit 0\necho "no such thing; leave it out" >&2; exit 2',
    )
    with pytest.raises(WorkalikeError, match="no such thing") as refused:
        refuse_impossible(path, resolve(parse_workload(ONE), Options()), "app.yaml")
    assert refused.value.file == "app.yaml"


def test_list_stars_the_engine_that_runs_take(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = engine(engines.home() / "a" / engines.NAME, OPEN_MPI)
    use_mpiexec(home, OPEN_MPI)
    show()
    assert capsys.readouterr().out == f"* {OPEN_MPI}: {path}\n"


def test_list_has_no_star_where_no_run_can_start(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = engine(engines.home() / "a" / engines.NAME, OPEN_MPI)
    use_mpiexec(home, MPICH)
    show()
    assert capsys.readouterr().out.splitlines() == [
        f"  {OPEN_MPI}: {path}",
        f"no run of several ranks can start: the engine was built with {OPEN_MPI}, and mpiexec is that of MPICH "
        "(build another with `workalike engine build`, or put the other MPI first in PATH)",
    ]
    monkeypatch.setattr(launchers.shutil, "which", lambda _: None)
    engines.launcher_family.cache_clear()
    show()
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"  {OPEN_MPI}: {path}"
    assert "mpiexec is not installed" in shown[1]


# What CMake is asked, and what it makes: an engine, unless FATE says otherwise.
CMAKE = """
echo "$*" >> "$ASKED"
[ "$1" = --build ] || { [ "$FATE" = unconfigured ] && { echo "CMake Error: Could NOT find MPI_C" >&2; exit 1; }; exit 0; }
echo "[ 50%] Building CXX object rank.cpp.o"
[ "$FATE" = uncompiled ] && { echo "rank.cpp:7: error: no member named 'x'"; echo "make: *** Error 2"; exit 2; }
mkdir -p "$2"
printf '#!/bin/sh\\necho "mpi Open MPI v4.1.4"\\n' > "$2/workalike-engine"; chmod +x "$2/workalike-engine"
echo "[100%] Built target workalike-engine"
"""


@pytest.fixture
def tools(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A made-up cmake and mpicc."""
    program(home / "bin" / "cmake", CMAKE)
    program(home / "bin" / "mpicc", "echo loading the module of an MPI >&2")
    monkeypatch.setenv("ASKED", str(home / "asked"))
    monkeypatch.setenv("FATE", "")
    return home


def test_what_is_built_is_found(tools: Path) -> None:
    shares: list[float] = []
    (tools / "hdf5").mkdir()
    built = build(BuildOptions(hdf5=tools / "hdf5", jobs=3), lambda _: None, shares.append)
    assert built.path == engines.home() / "open-mpi-4.1.4" / engines.NAME
    assert engines.find_engine() == built.path and shares == [0.5, 1.0]
    asked = (tools / "asked").read_text()
    assert f"-DHDF5_ROOT={tools / 'hdf5'}" in asked and "--parallel 3" in asked
    assert [path.name for path in built.path.parent.iterdir()] == [engines.NAME]


@pytest.mark.parametrize(
    ("fate", "words"),
    [
        ("unconfigured", "cannot be configured: CMake Error: Could NOT find MPI_C"),
        ("uncompiled", "does not compile: rank.cpp:7: error: no member named 'x'"),
    ],
)
def test_the_compilers_words(tools: Path, monkeypatch: pytest.MonkeyPatch, fate: str, words: str) -> None:
    monkeypatch.setenv("FATE", fate)
    with pytest.raises(WorkalikeError) as failed:
        build(BuildOptions(), lambda _: None, lambda _: None)
    what, reason = words.split(": ", 1)
    assert what in failed.value.one_line() and reason in failed.value.one_line()
    assert not list(engines.home().glob("*/*")), "nothing is left"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (BuildOptions(mpicc="no-such-mpicc"), "name its compiler with --mpicc"),
        (BuildOptions(compiler="no-such-compiler"), "name it with --compiler"),
        (BuildOptions(compiler="false"), "load GCC 10"),
        (BuildOptions(hdf5=Path("/proc/nowhere")), "name that of a parallel HDF5"),
        (BuildOptions(prefix=Path("/proc/nowhere")), "choose another folder with --prefix"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_built(
    tools: Path, options: BuildOptions, words: str
) -> None:
    with pytest.raises(WorkalikeError) as refused:
        build(options, lambda _: None, lambda _: None)
    assert words in refused.value.one_line() and "\n" not in refused.value.one_line()
    assert not (tools / "asked").exists()


def test_without_cmake(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(home / "bin"))
    with pytest.raises(WorkalikeError, match="pip install cmake"):
        build(BuildOptions(), lambda _: None, lambda _: None)


def test_two_people_build_into_one_prefix(tools: Path) -> None:
    prefix = tools / "shared"
    prefix.mkdir()
    with alone_in(prefix, "busy"), pytest.raises(WorkalikeError, match="another command is building"):
        build(BuildOptions(prefix=prefix), lambda _: None, lambda _: None)
    assert build(BuildOptions(prefix=prefix), lambda _: None, lambda _: None).path.is_file()


def test_a_run_refuses_the_wrong_pair_before_anything_is_launched(home: Path) -> None:
    path = engine(home / "mpich" / engines.NAME, MPICH)
    use_mpiexec(home, OPEN_MPI)
    plan = resolve(parse_workload(ONE), Options())
    with pytest.raises(WorkalikeError, match="mpiexec is that of Open MPI"):
        run_plan(plan, RunOptions(data=home / "data", out=home / "out", engine=path))
