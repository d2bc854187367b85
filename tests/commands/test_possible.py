"""`check` refuses what the installed libraries cannot do, and so does `run`, before it launches or writes anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from workalike.errors import WorkalikeError
from workalike.launch import engines
from workalike.launch.engines import engine_if_built
from workalike.launch.possible import refuse_impossible
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.workload_file import read_workload

WORKALIKE = Path(sys.executable).with_name("workalike")
HACC = Path(__file__).parents[2] / "workloads/hacc"
FILTERED = """workalike: 2
ranks: 4
families:
- role: checkpoint
  interface: hdf5
  level: h5d
  schedule: {{count: 1, first: 0 s}}
  content:
    arrays:
    - dims: [4096]
      access: [{{direction: write, collective: {collective}, slabs: [{{count: 4, shape: [1024]}}]}}]
  tunable: {tunable}
"""


def features() -> dict[str, str]:
    engine = engine_if_built()
    if engine is None:
        pytest.skip("the engine is not built")
    done = subprocess.run([str(engine), "--features"], capture_output=True, text=True, check=True)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def call(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(WORKALIKE), *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False
    )


def refused(folder: Path, name: str, words: str) -> None:
    """One line that names the file, from `check` and from `run`, which writes nothing."""
    for command in (("check", name), ("run", name, "--dir", "data", "-o", "out")):
        done = call(*command, cwd=folder)
        assert done.returncode == 2, done.stdout
        (line,) = done.stderr.splitlines()
        assert words in line
        assert name in line
    assert not (folder / "data").exists()
    assert not (folder / "out").exists()


def test_multi(tmp_path: Path) -> None:
    (tmp_path / "multi.yaml").write_text((HACC / "hdf5-multi.yaml").read_text())
    if features()["hdf5.multi"] == "yes":
        assert call("check", "multi.yaml", cwd=tmp_path).returncode == 0
    else:
        refused(tmp_path, "multi.yaml", "checkpoint 1: one call over several datasets needs HDF5 1.14")
    # Counting needs no library.
    counted = call("run", "multi.yaml", "--dir", "data", "--backend", "null", "--quiet", cwd=tmp_path)
    assert counted.returncode == 0, counted.stderr


def test_filters_under_independent_writes(tmp_path: Path) -> None:
    features()
    name = "filters.yaml"
    for tunable in ("{deflate: 4}", "{shuffle: true}"):
        (tmp_path / name).write_text(FILTERED.format(collective="false", tunable=tunable))
        refused(tmp_path, name, "need collective writes")
    (tmp_path / name).write_text(FILTERED.format(collective="true", tunable="{deflate: 4, shuffle: true}"))
    assert call("check", name, cwd=tmp_path).returncode == 0


def test_subfiling(tmp_path: Path) -> None:
    (tmp_path / "sub.yaml").write_text(FILTERED.format(collective="true", tunable="{subfiling: true}"))
    if features()["hdf5.subfiling"] == "no":
        refused(tmp_path, "sub.yaml", "subfiling needs an HDF5 that was built with it")
    else:
        assert call("check", "sub.yaml", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("{tunable}", "{{deflate: 4, layout: contiguous}}", "they need `layout: chunked`"),
        ("{tunable}", "{{page_size: 4 KiB}}", "page_size needs"),
        ("{tunable}", "{{threshold: 4 KiB}}", "threshold needs alignment"),
        ("{tunable}", "{{metadata_block: 2 TiB}}", "at most 1 GiB"),
        ("dims: [4096]", "dims: [4096]\n      members: 3", "no 3 equal members"),
        ("dims: [4096]", "dims: [4096]\n      datasets: 3\n      multi: true", "multiples of `datasets`"),
        ("interface: hdf5", "interface: posix", "need `interface: hdf5`, pnetcdf or adios2"),
        ("direction: write", "direction: write, nonblocking: true", "need `interface: pnetcdf`"),
    ],
)
def test_contradictions(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = FILTERED.replace(old, new).format(collective="true", tunable="{}")
    (tmp_path / "w.yaml").write_text(text)
    done = call("check", "w.yaml", cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert words in line
    assert line.startswith("workalike: bad workload: w.yaml: line ")


def without_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "engine_if_built", lambda: None)


@pytest.mark.parametrize(
    ("tunable", "collective", "words"),
    [
        ("{deflate: 4}", "false", "filters in a file of several ranks need collective writes"),
        ("{subfiling: true}\n  keep: 1", "true", "HDF5 chooses the names of subfiles"),
    ],
)
def test_contradictions_need_no_engine(tmp_path: Path, tunable: str, collective: str, words: str) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(FILTERED.format(collective=collective, tunable=tunable))
    plan = resolve(read_workload(path), Options())
    with pytest.raises(WorkalikeError, match=words) as refusal:
        refuse_impossible(None, plan, path)
    assert refusal.value.one_line().startswith(f"bad usage: {path}: checkpoint 1: {words}")
    assert refusal.value.exit_code == 2
    refuse_impossible(None, plan, path, backend="posix")


def test_without_engine_a_run_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_engine(monkeypatch)
    path = tmp_path / "w.yaml"
    path.write_text(FILTERED.format(collective="true", tunable="{}"))
    plan = resolve(read_workload(path), Options())
    with pytest.raises(WorkalikeError) as refusal:
        run_plan(plan, RunOptions(data=tmp_path / "data", out=tmp_path / "out", source=path))
    line = refusal.value.one_line()
    assert "workalike engine build" in line
    assert refusal.value.exit_code == 2
    assert [p.name for p in tmp_path.iterdir()] == ["w.yaml"]
    record = run_plan(plan, RunOptions(data=tmp_path / "data", out=tmp_path / "out", backend="null"))
    assert sum(dump.bytes_written for dump in record.dumps) == 4096 * 8
