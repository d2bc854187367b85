"""Joined machines, each by itself: ceilings, shares of the possible, best settings, slow dumps and scaling, planted."""

from __future__ import annotations

import csv
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from workalike.errors import WorkalikeError
from workalike.study.merge import merge
from workalike.study.report.systems_page import write_systems_page

MIB = 2.0**20
EFFICIENCY = {"here": {1: 1.0, 2: 0.98, 4: 0.95}, "there": {1: 1.0, 2: 0.5, 4: 0.3}}
SLOWEST = {"here": 3.0, "there": 1.5}
"""Seconds of the slowest of three dumps; the others take one."""
CEILING = {"here": 200 * MIB, "there": 100 * MIB}
RATE = 50 * MIB
"""Of one rank, on both machines."""


def machine(system: str, rate: float) -> dict[str, Any]:
    ceilings = {"write": {"unit": "B/s", "median": rate, "values": [0.9 * rate, rate, 1.1 * rate]}}
    ceilings["sync_latency"] = {"unit": "s", "median": 0.002, "values": [0.001, 0.002, 0.003]}
    return {"format": "workalike-machine", "version": 1, "system_id": system, "ceilings": ceilings}


def results(folder: Path, blocks: int = 6, objective: str | None = None) -> Path:
    """A study of 1, 2 and 4 ranks under weak scaling, with its machine file."""
    name = folder.name
    folder.mkdir()
    study: dict[str, Any] = {"factors": {"procs": {"set": "ranks", "levels": [1, 2, 4]}}}
    study |= {"objective": objective} if objective else {}
    manifest = {"format": "workalike-study", "version": 1, "id": name, "identity": "i", "created": "c"}
    manifest |= {"system": {"host": name}, "factors": ["procs"], "study": study}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "MACHINE.json").write_text(json.dumps(machine(name, CEILING[name])))
    dice, lines = random.Random(name), []
    for block in range(blocks):
        for ranks, share in EFFICIENCY[name].items():
            noise = math.exp(dice.gauss(0, 0.02))
            seconds = 4.0 * noise / share
            row = {
                "block": block,
                "setting": f"procs={ranks}",
                "arm": "",
                "trial": len(lines),
                "procs": ranks,
            }
            row |= {"bandwidth": RATE * ranks * share / noise, "io_time_s": seconds, "wall_s": 5 * noise}
            row |= {"slowest_dump_s": SLOWEST[name] * noise, "counted": True, "state": "ok", "system": name}
            row |= {"asked": {"ranks": str(ranks), "scaling": "weak"}}
            dumps = [
                {
                    "bytes_written": int(ranks * MIB),
                    "bytes_read": 0,
                    "fsyncs": 1,
                    "start_s": i,
                    "end_s": i + 1.0,
                }
                | {"io_time_s": (SLOWEST[name] if i == 2 else 1.0) * noise}
                for i in range(3)
            ]
            lines.append(json.dumps({"trial": row, "dumps": dumps}) + "\n")
    (folder / "trials.jsonl").write_text("".join(lines))
    return folder


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("joined")
    merge([results(folder / "here"), results(folder / "there")], folder / "both")
    written = write_systems_page(folder / "both")
    assert written is not None
    return written


def numbers(page: Path, name: str) -> list[dict[str, str]]:
    with (page.parent / "figures" / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def test_the_best_setting_of_each_system_with_its_share_and_tails(page: Path) -> None:
    """One rank writes at 50 MiB/s; `here` four do 190, of 200 that one process gets, and `there` 60 of 100."""
    rows = {row["system"]: row for row in numbers(page, "best_of_systems")}
    assert [rows[name]["setting"] for name in ("here", "there")] == ["procs=4", "procs=4"]
    assert all(float(row["p_best"]) > 0.95 and row["settings"] == "3" for row in rows.values())
    assert float(rows["here"]["share_of_possible"]) == pytest.approx(190 / 200, rel=0.03)
    assert float(rows["there"]["share_of_possible"]) == pytest.approx(60 / 100, rel=0.03)
    for name, seconds in SLOWEST.items():
        assert float(rows[name]["slowest_dump_s"]) == pytest.approx(seconds, rel=0.03)
        assert float(rows[name]["p95_dump_s"]) == pytest.approx(1 + 0.9 * (seconds - 1), rel=0.03)
    text = page.read_text()
    assert "Which setting is the best on each?" in text and "here: procs=4, 19" in text
    assert "% of what one process gets there; there: " in text


def test_ceilings_of_each_system(page: Path) -> None:
    rows = {(row["system"], row["what"]): row for row in numbers(page, "ceilings")}
    assert float(rows["there", "write"]["median"]) == CEILING["there"]
    assert float(rows["here", "write"]["high"]) == pytest.approx(1.1 * CEILING["here"])
    text = page.read_text()
    assert (
        "sequential writes with a sync" in text
        and '200 MiB/s<br><span class="soft">180 MiB/s to 220 MiB/s</span>' in text
    )
    assert '2 ms<br><span class="soft">1 ms to 3 ms</span>' in text


def test_slow_dumps_are_compared_between_systems(page: Path) -> None:
    """In three settings the slowest dump takes half the time; their intervals hold at once."""
    rows = [row for row in numbers(page, "tails") if row["objective"] == "slowest-dump"]
    assert {row["setting"] for row in rows} == {"procs=1", "procs=2", "procs=4"}
    assert all(float(row["low"]) < 0.5 < float(row["high"]) for row in rows)
    text = page.read_text()
    assert "And the slowest dump of there?" in text and "faster in 3 settings of 3" in text
    assert "And the 95th percentile of dumps of there?" not in text, "one answer on the tail"
    assert "The 95th percentile of dumps says the same." in text
    assert {row["value"] for row in numbers(page, "slow_dumps")} == {"slowest_dump_s"}


def test_how_far_each_system_scales(page: Path) -> None:
    points = {(row["group"], row["count"]): row for row in numbers(page, "efficiency")}
    for name, shares in EFFICIENCY.items():
        for ranks in (2, 4):
            row = points[name, str(ranks)]
            assert float(row["low"]) < shares[ranks] < float(row["high"])
    assert len(numbers(page, "scaling")) == 6
    text = page.read_text()
    assert "How far does each scale?" in text
    assert "here: Weak scaling, beside 1 rank: efficiency stays above 80 % up to" in text
    assert "there: Weak scaling, beside 1 rank: efficiency is below 80 % with as few as 2 ranks" in text


def test_joined_studies_of_one_objective_compare_by_it(tmp_path: Path) -> None:
    for name in ("here", "there"):
        results(tmp_path / name, objective="slowest-dump")
    merge([tmp_path / "here", tmp_path / "there"], tmp_path / "both")
    page = write_systems_page(tmp_path / "both")
    assert page is not None
    text = page.read_text()
    assert "compared by slowest dump (seconds, less is better)" in text
    assert "Beside here: faster in 3 settings of 3" in text and "times its slowest dump" in text
    assert {row["objective"] for row in numbers(page, "tails")} == {"p95-dump"}


def test_different_objectives_are_compared_by_bandwidth(tmp_path: Path) -> None:
    merge([results(tmp_path / "here", objective="io-time"), results(tmp_path / "there")], tmp_path / "both")
    page = write_systems_page(tmp_path / "both")
    assert page is not None and "compared by bandwidth" in page.read_text()


def test_a_damaged_machine_file_is_named(tmp_path: Path) -> None:
    here, there = results(tmp_path / "here"), results(tmp_path / "there")
    (there / "MACHINE.json").write_text("{}")
    with pytest.raises(WorkalikeError, match="not a machine file"):
        merge([here, there], tmp_path / "both")


def test_machine_files_are_read_from_the_folder_only(tmp_path: Path) -> None:
    """A manifest is untrusted: it names no file outside, and fields of a wrong type are passed over."""
    merge([results(tmp_path / "here"), results(tmp_path / "there")], tmp_path / "both")
    path = tmp_path / "both" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["sources"][0]["machines"] = ["../here/MACHINE.json", 3, None]
    manifest["sources"][1] |= {"machines": 7, "study": {"factors": [1], "objective": {"a": 1}}}
    path.write_text(json.dumps(manifest))
    page = write_systems_page(tmp_path / "both")
    assert page is not None and "What one process gets" not in page.read_text()


def test_each_of_many_machines_has_an_efficiency_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of more than have a line each where other factors are concerned."""
    names = [f"machine{number}" for number in range(8)]
    for number, name in enumerate(names):
        monkeypatch.setitem(EFFICIENCY, name, EFFICIENCY["there" if number == 7 else "here"])
        monkeypatch.setitem(SLOWEST, name, 1.5)
        monkeypatch.setitem(CEILING, name, 100 * MIB)
    merge([results(tmp_path / name, 4) for name in names], tmp_path / "all")
    written = write_systems_page(tmp_path / "all")
    assert written is not None
    rows = {(row["group"], row["count"]): float(row["efficiency"]) for row in numbers(written, "efficiency")}
    assert {group for group, _ in rows} == set(names)
    assert rows["machine0", "4"] == pytest.approx(0.95, rel=0.05)
    assert rows["machine7", "4"] == pytest.approx(0.3, rel=0.05)
