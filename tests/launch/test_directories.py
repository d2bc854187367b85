"""`--dir DIR` and `--dir NAME=DIR`: which folder a family's data go to, in every command that performs workloads."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from needed import needs_engine

from workalike.bundle.pack import pack
from workalike.cli import app
from workalike.errors import ErrorKind, WorkalikeError
from workalike.launch.directories import Directories, directories_of, each_once, names_of, plain_text
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.plan_file import plan_text, read_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.disclosure import disclose
from workalike.workload.summary import summarize
from workalike.workload.workload_file import parse_workload, read_workload, workload_text

TIERS = """\
workalike: 2
ranks: 1
families:
- role: checkpoint
  interface: posix
  directory: fast
  schedule: {count: 2, first: 0 s, every: 1 s}
  content: {streams: [{direction: write, sizes: [3/rank x 4 KiB]}]}
- role: output
  interface: posix
  schedule: {count: 1}
  content: {streams: [{direction: write, sizes: [1/rank x 8 KiB]}]}
"""


@pytest.fixture
def tiers(tmp_path: Path) -> Path:
    (tmp_path / "fast").mkdir()
    (tmp_path / "tiers.yaml").write_text(TIERS)
    return tmp_path / "tiers.yaml"


def plan_of(path: Path) -> Plan:
    return resolve(read_workload(path), Options())


def names_in(folder: Path) -> list[str]:
    return sorted(path.name.split(".")[0] for path in folder.iterdir())


def test_options_are_folders_and_names() -> None:
    found = directories_of(["/scratch", "fast=/bb/a=b", "b-2=rel"])
    assert found == Directories(Path("/scratch"), {"fast": Path("/bb/a=b"), "b-2": Path("rel")})
    assert found.arguments() == ["--dir", "/scratch", "--dir", "fast=/bb/a=b", "--dir", "b-2=rel"]
    assert directories_of(found.texts()) == found
    assert found.below("x").all() == [Path("/scratch/x"), Path("/bb/a=b/x"), Path("rel/x")]
    assert directories_of(["./a=b"]).plain == Path("a=b") and plain_text(Path("a=b")) == "./a=b"
    assert directories_of(["1=b"]).plain == Path("1=b") and plain_text(Path("1=b")) == "1=b"


@pytest.mark.parametrize("given", [["a", "b"], ["f=a", "f=b"], ["f="], [""]])
def test_options_that_are_refused(given: list[str]) -> None:
    with pytest.raises(WorkalikeError, match=r"twice|names no directory") as caught:
        directories_of(given)
    assert caught.value.exit_code == 2


def test_one_folder_by_two_paths(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert each_once([tmp_path / "a", tmp_path / "link", tmp_path]) == [tmp_path / "a", tmp_path]


def test_the_field_reaches_the_plan_and_is_left_out_without_it(tiers: Path) -> None:
    plan = plan_of(tiers)
    assert [family.directory for family in plan.families] == ["fast", None]
    assert names_of(plan) == ["", "fast"] and names_of(plan, "null") == []
    (tiers.parent / "plan.json").write_text(plan_text(plan))
    assert read_plan(tiers.parent / "plan.json") == plan
    plain = resolve(parse_workload(TIERS.replace("  directory: fast\n", "")), Options())
    assert "directory" not in plan_text(plain)


def test_it_is_written_read_and_disclosed(tiers: Path) -> None:
    workload = read_workload(tiers)
    assert parse_workload(workload_text(workload)) == workload
    assert any("--dir fast=DIR" in line for line in summarize(workload))
    (line,) = [d for d in disclose(workload) if d.field == "directory"]
    assert line.value == "fast" and line.marking == "fixed"


@pytest.mark.parametrize("word", ["no", "on", "true", "null-1", "A", "a" * 32, "e5"])
def test_words_that_yaml_reads_as_something_else_are_quoted(word: str) -> None:
    workload = parse_workload(TIERS.replace("fast", f"'{word}'"))
    assert workload.families[0].directory == word
    assert parse_workload(workload_text(workload)) == workload


@pytest.mark.parametrize(
    "name", ["..", "/bb", "a/b", "a=b", "1st", "-a", "a b", "fäst", "a" * 33, "$HOME", "a\\n", ""]
)
def test_hostile_names_are_refused(name: str) -> None:
    with pytest.raises(
        WorkalikeError, match=r"line 6.*a letter, then at most 31 letters, digits and -"
    ) as caught:
        parse_workload(TIERS.replace("fast", f'"{name}"'))
    assert caught.value.kind is ErrorKind.BAD_WORKLOAD


def test_an_unmapped_directory_is_refused_at_once(tiers: Path) -> None:
    plan = plan_of(tiers)
    with pytest.raises(WorkalikeError) as caught:
        Directories(Path("x"), {"slow": Path("y")}).of_plan(plan)
    assert caught.value.exit_code == 2
    assert "--dir fast=DIR is missing: where the data of families with the directory fast go" in str(
        caught.value
    )
    assert "the plan needs DIR, fast=DIR; given are DIR, slow=DIR" in caught.value.one_line()
    with pytest.raises(WorkalikeError, match="families without a directory") as caught:
        Directories(None, {"fast": Path("y")}).of_plan(plan)
    assert "given are fast=DIR" in caught.value.one_line()
    assert Directories().of_plan(plan, "null") == {}


@needs_engine
def test_run_puts_files_where_they_belong(tiers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tiers.parent)
    command = [
        "run",
        "tiers.yaml",
        "--dir",
        "data",
        "--dir",
        "fast=fast",
        "--time-scale",
        "0",
        "--keep",
        "-q",
    ]
    app(command, standalone_mode=False)
    assert names_in(Path("data")) == ["output-1"]
    assert names_in(Path("fast")) == ["checkpoint-1", "checkpoint-1"]
    with pytest.raises(WorkalikeError, match="in the way"):  # each is looked at
        for path in Path("data").iterdir():
            path.unlink()
        app(command, standalone_mode=False)


@needs_engine
def test_run_refuses_before_it_makes_anything(tiers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tiers.parent)
    with pytest.raises(WorkalikeError, match="--dir fast=DIR is missing"):
        app(["run", "tiers.yaml", "--dir", "data", "-o", "out"], standalone_mode=False)
    assert not Path("data").exists() and not Path("out").exists()
    app(["run", "tiers.yaml", "--dir", "data", "-o", "out", "--backend", "null", "-q"], standalone_mode=False)


@needs_engine
def test_all_files_are_captured_examined_and_removed(tiers: Path) -> None:
    from workalike.darshan import open_log

    folder = tiers.parent
    seen: list[str] = []
    options = RunOptions(
        folder / "data",
        folder / "out",
        {"fast": folder / "fast"},
        quiet=True,
        capture=True,
        examine=lambda paths: seen.extend(path.parent.name for path in paths),
    )
    record = run_plan(resolve(read_workload(tiers), Options()), options)
    assert seen == ["data", "fast", "fast"]
    assert not list((folder / "data").iterdir()) and not list((folder / "fast").iterdir())
    assert record.environment["file_system.fast"] == record.environment["file_system"]
    names = open_log(folder / "out" / "replica.darshan").names.values()
    assert {Path(name).parent for name in names if name.endswith(".dat")} == {
        folder / "data",
        folder / "fast",
    }


@needs_engine
def test_a_mix_has_a_folder_in_each(tiers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tiers.parent)
    Path("mix.yaml").write_text(
        "mix: 1\nrepeats: 1\ntime_scale: 0\nworkloads: [{name: a, file: tiers.yaml}]\n"
    )
    arguments = ["mix", "mix.yaml", "-o", "out", "-q", "--dir", "data"]
    with pytest.raises(WorkalikeError, match="--dir fast=DIR is missing"):
        app(arguments, standalone_mode=False)
    assert not Path("data").exists()
    app([*arguments, "--dir", "fast=fast"], standalone_mode=False)
    assert not list(Path("data").iterdir()) and not list(Path("fast").iterdir())


@needs_engine
def test_a_study_has_a_folder_in_each(tiers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tiers.parent)
    Path("study.yaml").write_text(
        "study: 1\nworkload: tiers.yaml\nfixed: {time_scale: 0}\nfactors: {scale_by: [count]}\nblocks: 1\na_a: false\n"
    )
    arguments = ["study", "study.yaml", "-o", "out", "-q", "--no-ceiling"]
    with pytest.raises(WorkalikeError, match="--dir fast=DIR is missing"):
        app(arguments, standalone_mode=False)
    app([*arguments, "--dir", "fast=fast"], standalone_mode=False)
    trial = json.loads(Path("out/trials.jsonl").read_text())["trial"]
    assert trial["state"] == "ok", trial["reasons"]
    assert "file_system.fast" in trial["found"]
    assert not list(Path("fast").iterdir())


@needs_engine
def test_the_script_of_a_bundle_takes_a_folder_for_each(tiers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is a stand-in, which writes down what it is called with."""
    monkeypatch.chdir(tiers.parent)
    packed = pack({"tiers": plan_of(tiers)}, 1, memory_factor=0)
    for name in ("plans/tiers/plan.json", "plans/LIST", "CHECKSUMS", "run.sh"):
        Path("tender", name).parent.mkdir(parents=True, exist_ok=True)
        Path("tender", name).write_bytes(packed.files[name])
    engine = Path("tender/build/workalike-engine")
    engine.parent.mkdir()
    engine.write_text(
        '#!/bin/sh\nfor word; do echo "$word"; done >"$CALLED"\nls -d "$4" >>"$CALLED"\nls -d "${6#*=}" >>"$CALLED"\n'
    )
    engine.chmod(0o755)
    Path("launch").write_text('#!/bin/sh\nshift\nexec "$@"\n')
    Path("launch").chmod(0o755)
    Path("my data").mkdir()
    environment = os.environ | {
        "LAUNCH": str(Path("launch").absolute()),
        "CALLED": str(Path("called").absolute()),
    }

    def run(*arguments: str) -> int:
        command = ["sh", "tender/run.sh", *arguments]
        return subprocess.run(
            command, env=environment, capture_output=True, timeout=60, check=False
        ).returncode

    for wrong in (
        [],
        ["my data"],
        ["fast=fast"],
        ["my data", "slow=fast"],
        ["my data", "fast=no"],
        ["no", "fast=fast"],
    ):
        assert run(*wrong) == 2
    assert run("my data", "fast=fast") == 0
    words = Path("called").read_text().splitlines()
    here, there = words[3], words[5].removeprefix("fast=")
    assert words[2] == words[4] == "--dir" and words[-2:] == [here, there]
    assert Path(here).parent == Path("my data").absolute() and Path(there).parent == Path("fast").absolute()
    assert not list(Path("my data").iterdir()) and not list(Path("fast").iterdir())
