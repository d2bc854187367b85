"""Results of strangers and damaged ones: one line that names the file and the place, and a retry that is not refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from studies import workalike

from workalike.errors import WorkalikeError
from workalike.study.journal import read_finished, read_manifest
from workalike.study.merge import merge

Change = Callable[[dict[str, Any]], object]


def results(folder: Path, line: Change = lambda _: None, manifest: Change = lambda _: None) -> Path:
    """Two trials, as written by a study; the second line and the manifest are changed."""
    folder.mkdir()
    about = {"format": "workalike-study", "version": 1, "id": folder.name, "identity": "i", "created": "now"}
    about |= {"factors": ["ranks"], "system": {"memory_bytes": 2**30}}
    manifest(about)
    (folder / "manifest.json").write_text(json.dumps(about))
    lines = []
    for number in range(2):
        times = {"io_time_s": 1.0, "bytes_written": 100, "bytes_read": 0}
        trial = {"trial": number, "block": number, "position": 0, "setting": "ranks=1", "arm": "", "ranks": 1}
        trial |= times | {"bandwidth": 100.0, "slowest_dump_s": 1.0, "wall_s": 2.0}
        trial |= {"state": "ok", "reasons": [], "counted": True}
        dumps = [{"start_s": 0.0, "end_s": 1.0} | times]
        lines.append({"trial": trial, "dumps": dumps})
    line(lines[1])
    (folder / "trials.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    return folder


def trial(**values: Any) -> Change:
    return lambda row: row["trial"].update(values)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (trial(block=10**30), "trial.block: "),
        (trial(block=-1), "trial.block: "),
        (trial(bandwidth="x"), "trial.bandwidth: "),
        (trial(bandwidth=10**400), "trial.bandwidth: "),
        (trial(bandwidth=1e308), "trial.bandwidth: "),
        (trial(wall_s=float("nan")), "trial.wall_s: "),
        (trial(trial="a"), "trial.trial: "),
        (trial(position="a"), "trial.position: "),
        (trial(setting=1), "trial.setting: "),
        (trial(ranks=10**400), "ranks is not a number that a table holds"),
        (trial(found={"a": [float("inf")]}), "found.a[0] is not a number that a table holds"),
        (lambda row: row["dumps"].__setitem__(0, {}), "dumps[0].bytes_written: is missing"),
        (lambda row: row["dumps"][0].update(io_time_s="a"), "dumps[0].io_time_s: "),
        (lambda row: row.update(dumps={}), "dumps: "),
        (lambda row: row.pop("trial"), "trial: is missing"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: Change, place: str) -> None:
    folder = results(tmp_path / "a", line)
    with pytest.raises(WorkalikeError) as caught:
        read_finished(folder)
    text = str(caught.value)
    assert "a/trials.jsonl: line 2: is not a trial: " in text and place in text and "\n" not in text


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"factors": [{}]}, "`factors` is not a list of names"),
        ({"factors": "abc"}, "`factors` is not a list of names"),
        ({"system": [1]}, "`study` or `system`"),
        ({"system": {"memory_bytes": 10**400}}, "system.memory_bytes is too large a number"),
        ({"settings": [{"bytes": float("inf")}]}, "settings[0].bytes is too large a number"),
    ],
)
def test_a_damaged_manifest_is_named(tmp_path: Path, values: dict[str, Any], message: str) -> None:
    folder = results(tmp_path / "a", manifest=lambda about: about.update(values))
    with pytest.raises(WorkalikeError) as caught:
        read_manifest(folder)
    assert "a/manifest.json: " in str(caught.value) and message in str(caught.value)


def test_what_fails_leaves_the_folder_empty(tmp_path: Path) -> None:
    folders, out = [results(tmp_path / "a"), results(tmp_path / "b")], tmp_path / "out"

    def fails(folder: Path) -> None:
        assert len(read_finished(folder)) == 4
        raise ValueError("no page")

    with pytest.raises(ValueError, match="no page"):
        merge(folders, out, fails)
    assert not list(out.iterdir())
    assert merge(folders, out) == 4
    assert {path.name for path in out.iterdir()} >= {"manifest.json", "trials.jsonl", "trials.parquet"}


def test_a_merge_again_after_a_repair(tmp_path: Path) -> None:
    results(tmp_path / "a")
    damaged = results(tmp_path / "b", trial(bandwidth=1e308))
    join = ("study", "merge", tmp_path / "a", damaged, "-o", tmp_path / "out")
    refused = workalike(*join)
    (line,) = refused.stderr.strip().splitlines()
    assert refused.returncode == 2 and "b/trials.jsonl: line 2" in line
    text = (damaged / "trials.jsonl").read_text().splitlines()[0] + "\n"
    (damaged / "trials.jsonl").write_text(text)
    joined = workalike(*join)
    assert joined.returncode == 0, joined.stderr
    assert (tmp_path / "out/report.html").exists() and "page: " in joined.stdout
