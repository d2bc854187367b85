"""Families whose files lie in several folders: of each rank, or with a number of files in each."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from workalike import _core

from .conftest import Engine, Result, content, family, make_plan, sharing, stream
from .conftest import dump as one_dump
from .test_directories import BACKENDS, here_and_there

KIB = 1024


def tree(result: Result) -> list[str]:
    """The files below the directory, without the plan's id."""
    found = [path.relative_to(result.data) for path in result.data.rglob("*") if path.is_file()]
    return sorted(re.sub(r"[0-9a-f]{8}", "ID", str(path)) for path in found)


def in_folders(
    folders: dict[str, Any], mode: str = "per-rank", dumps: int = 3, **more: Any
) -> dict[str, Any]:
    """Dumps of a file of each of two ranks, or of one file."""
    return make_plan(
        2,
        [family(sharing=sharing(mode), folders=folders, **more)],
        [content(stream([[4, KIB]]))],
        [one_dump(k, start_s=0.01 * k) for k in range(dumps)],
    )


@pytest.mark.parametrize(
    ("folders", "places"),
    [
        ({"per_rank": True}, ["r000000", "r000001"]),
        ({"files": 2}, ["0000", "0001"]),
        ({"files": 1, "per_rank": True}, [f"r{rank:06}.{dump:04}" for rank in range(2) for dump in range(3)]),
    ],
)
def test_files_of_each_rank(engine: Engine, folders: dict[str, Any], places: list[str]) -> None:
    result = engine(in_folders(folders), "--keep", "--verify")
    assert result.end["verified"]["errors"] == 0
    files = tree(result)
    assert len(files) == 6
    assert sorted({name.partition("/")[0] for name in files}) == [f"workalike-ID.folder.{p}" for p in places]
    assert sorted(re.sub(r"[0-9a-f]{8}", "ID", file["name"]) for file in result.end["files"]) == files


def test_one_file_of_all_ranks_in_each(engine: Engine) -> None:
    result = engine(in_folders({"files": 1}, "shared"), "--keep", "--verify")
    assert tree(result) == [f"workalike-ID.folder.{k:04}/checkpoint-1.{k:04}.ID.dat" for k in range(3)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_with_every_backend_and_nothing_is_left(engine: Engine, backend: str, tmp_path: Path) -> None:
    (tmp_path / "fast").mkdir()
    plan = here_and_there(backend, 2, sharing=sharing("per-rank"), folders={"per_rank": True})
    result = engine(plan, f"--dir=fast={tmp_path / 'fast'}", "--verify")
    assert result.end["verified"]["bytes"] > 0 == result.end["verified"]["errors"]
    assert not list(result.data.iterdir()) and not list((tmp_path / "fast").iterdir())


@pytest.mark.parametrize("more", [{"rename": True}, {"backup": True}, {"keep": 1}, {"removed": True}])
def test_renamed_and_deleted_files_leave_no_folder(engine: Engine, more: dict[str, Any]) -> None:
    result = engine(in_folders({"files": 1, "per_rank": True}, **more))
    assert not list(result.data.iterdir())


def test_prepared_files_lie_in_theirs(engine: Engine) -> None:
    plan = in_folders({"files": 1}, role="input")
    plan["contents"] = [content(stream([[4, KIB]], "read"))]
    for row in plan["dumps"]:
        row["prepare"] = True
    result = engine(plan, "--keep", "--verify")
    assert result.end["verified"]["bytes"] == 3 * 4 * KIB
    assert len(tree(result)) == 6


def test_files_in_a_folder_are_in_the_way(engine: Engine) -> None:
    plan = in_folders({"files": 1})
    kept = engine(plan, "--keep")
    before = tree(kept)
    again = engine(plan, data=kept.data, check=False)
    assert again.code == 2
    assert "exists already" in again.stderr
    assert tree(kept) == before


def test_a_link_in_place_of_a_folder_is_refused(engine: Engine, tmp_path: Path) -> None:
    """What lies at its other end is not touched."""
    plan = in_folders({"per_rank": True})
    kept = engine(plan, "--keep")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for folder in kept.data.iterdir():
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        folder.symlink_to(elsewhere)
    again = engine(plan, data=kept.data, check=False)
    assert again.code == 1
    assert "mkdir" in again.stderr
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize(
    ("folders", "mode", "words"),
    [
        ({}, "shared", "needs files or per_rank"),
        ({"files": 0}, "shared", "files"),
        ({"files": "../x"}, "shared", "files"),
        ({"per_rank": True}, "shared", "sharing per-rank"),
        ({"files": 1, "name": "/tmp"}, "shared", "name"),
    ],
)
def test_what_a_plan_may_not_say(engine: Engine, folders: dict[str, Any], mode: str, words: str) -> None:
    result = engine(in_folders(folders, mode), check=False)
    assert result.code == 2
    assert words in result.refusal


@pytest.mark.parametrize("call", ["opens", "stats"])
def test_files_of_which_a_dump_moves_nothing_are_made_in_theirs(engine: Engine, call: str) -> None:
    """The engine makes a file that is opened or looked at, although the plan does not ask for it."""
    plan = in_folders({"files": 1, "per_rank": True}, role="input")
    plan["contents"] = [content(**{call: 2})]
    result = engine(plan, "--keep")
    assert len(tree(result)) == 6


@pytest.mark.skipif("hdf5" not in BACKENDS, reason="the engine has no HDF5")
def test_a_library_is_measured_beside_the_files(engine: Engine) -> None:
    plan = make_plan(
        2,
        [family("hdf5", sharing=sharing("per-rank"), folders={"per_rank": True})],
        [content(fit={"bytes": 100_000, "datasets": 2, "element": 8})],
        [one_dump(0)],
    )
    result = engine(plan)
    assert not list(result.data.iterdir())


def test_folders_of_files_that_the_run_has_deleted_can_be_removed(engine: Engine) -> None:
    plan = in_folders({"files": 1}, keep=1)
    kept = engine(plan, "--keep")
    core = _core.Plan(json.dumps(plan))
    assert [name.count("/") for name in core.files_in(str(kept.data))] == [1, 1]
    core.remove_files(str(kept.data))
    assert not list(kept.data.iterdir())


def test_files_of_others_in_a_folder_stay(engine: Engine) -> None:
    kept = engine(in_folders({"files": 1}), "--keep")
    folder = min(kept.data.iterdir())
    (folder / "notes.txt").write_text("mine")
    _core.Plan(json.dumps(in_folders({"files": 1}))).remove_files(str(kept.data))
    assert [path.name for path in kept.data.rglob("*")] == [folder.name, "notes.txt"]
