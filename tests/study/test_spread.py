"""Blocks that are spread over time: when they run, what interrupts them, and what the page says of the system."""

from __future__ import annotations

import csv
import json
import math
import random
import signal
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from studies import command, trials_in, workalike, write_study

from workalike.errors import WorkalikeError
from workalike.study.journal import Finished
from workalike.study.results_page import write_results_page
from workalike.study.schema import study_schema
from workalike.study.spread import block_starts, due_at
from workalike.study.study_file import read_study


def trial(block: int, started: object, **more: object) -> Finished:
    return Finished({"block": block, "setting": "s", "arm": "", "started": started, **more}, [])


def an_hour_later(folder: Path) -> None:
    """Let all trials have begun long ago."""
    text = (folder / "trials.jsonl").read_text()
    (folder / "trials.jsonl").write_text(text.replace(f'"{datetime.now(UTC):%Y}-', '"2020-'))


def starts_of(folder: Path) -> list[datetime]:
    starts = block_starts(Finished(row, []) for row in trials_in(folder))
    return [starts[block] for block in sorted(starts)]


def test_a_number_and_a_number_with_a_pause_are_blocks(tmp_path: Path) -> None:
    plain = read_study(write_study(tmp_path, blocks=3))
    spread = read_study(write_study(tmp_path, blocks={"count": 3, "every": "6 h"}))
    assert (plain.study.blocks.count, plain.study.blocks.every) == (3, None)
    assert (spread.study.blocks.count, spread.study.blocks.every) == (3, 6 * 3600)
    assert plain.identity == spread.identity, "trials are the same, so results are resumed"
    assert read_study(write_study(tmp_path, blocks={"every": "6 h"})).study.blocks.count == 5


def test_editors_know_both_forms() -> None:
    number, spread = study_schema()["properties"]["blocks"]["anyOf"]
    assert (number["type"], number["default"]) == ("integer", 5) and spread == {"$ref": "#/$defs/Blocks"}


@pytest.mark.parametrize(
    "blocks",
    [{"every": "0 s"}, {"every": "soon"}, {"count": 0, "every": "1 h"}, {"evry": "1 h"}, [3], None, "x"],
)
def test_bad_blocks_are_refused_with_their_line(tmp_path: Path, blocks: object) -> None:
    path = write_study(tmp_path)
    path.write_text(path.read_text().replace("blocks: 2", f"blocks: {json.dumps(blocks)}"))
    with pytest.raises(WorkalikeError) as refused:
        read_study(path)
    assert "line" in str(refused.value.place) and "blocks" in str(refused.value.place)


def test_blocks_wait_for_their_time(tmp_path: Path) -> None:
    study = write_study(tmp_path, blocks={"count": 3, "every": "2 s"})
    done = workalike("study", study, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    first, second, third = starts_of(tmp_path / "out")
    assert min(second - first, third - second) >= timedelta(seconds=2)
    assert "block 2 begins at" in done.stderr and "Ctrl-C is safe" in done.stderr
    checked = workalike("study", "check", study)
    assert "blocks are spread over 4 s" in " ".join(checked.stdout.split())


def test_without_waiting_the_study_ends_until_its_next_block(tmp_path: Path) -> None:
    """As cron runs it: each call does what is due."""
    study, out = write_study(tmp_path, blocks={"count": 2, "every": "1 h"}), tmp_path / "out"
    done = workalike("study", study, "-o", out, "--no-wait", "--json")
    assert done.returncode == 0, done.stderr
    assert (json.loads(done.stdout)["state"], len(trials_in(out))) == ("waiting", 5)
    assert json.loads((out / "manifest.json").read_text())["state"] == "waiting"
    early = workalike("study", study, "-o", out, "--no-wait")
    assert early.returncode == 0 and "the next block is not due" in early.stdout
    an_hour_later(out)
    last = workalike("study", study, "-o", out, "--no-wait", "--json")
    assert (json.loads(last.stdout)["state"], len(trials_in(out))) == ("done", 10)


def test_an_interrupted_wait_and_an_interrupted_block_are_resumed(tmp_path: Path) -> None:
    """The rest of a block runs at once, however long the machine was away; the next one is as late as it was due."""
    study, out = write_study(tmp_path, blocks={"count": 2, "every": "1 h"}), tmp_path / "out"
    with subprocess.Popen(command("study", study, "-o", out), stderr=subprocess.PIPE, text=True) as driver:
        assert driver.stderr is not None
        for line in driver.stderr:
            if "begins at" in line:
                break
        driver.send_signal(signal.SIGTERM)
        assert "5 trials have finished" in driver.stderr.read()
    assert driver.returncode == 128 + signal.SIGTERM
    lines = (out / "trials.jsonl").read_text().splitlines(keepends=True)
    (out / "trials.jsonl").write_text("".join(lines[:3]))
    done = workalike("study", study, "-o", out, "--no-wait")
    assert done.returncode == 0 and len(trials_in(out)) == 5
    an_hour_later(out)
    begun = time.monotonic()
    assert workalike("study", study, "-o", out).returncode == 0
    assert len(trials_in(out)) == 10 and time.monotonic() - begun < 60


def test_times_that_cannot_be_true_make_no_study_wait_for_long() -> None:
    now = datetime.now(UTC)
    for strange in ("2099-01-01T00:00:00+00:00", "never", 7, None, "0001-01-01T00:00:00"):
        assert due_at([trial(0, strange)], 3600) is None
    due = due_at([trial(0, now.isoformat()), trial(1, "2099-01-01T00:00:00+00:00")], 3600)
    assert due is not None and due <= now + timedelta(hours=1)
    assert due_at([trial(0, now.isoformat(), reused_from="other")], 3600) is None
    due = due_at([trial(0, now.replace(tzinfo=None).isoformat())], 3600)
    assert due is not None and abs(due - now - timedelta(hours=1)) < timedelta(seconds=1)


def of_a_day(between: float, noise: float) -> list[Finished]:
    """Four settings in blocks six hours apart."""
    dice, rows = random.Random(5), []
    for block in range(8):
        level = math.exp(between * (-1) ** block)
        started = f"2026-11-{1 + block // 4:02}T{6 * (block % 4):02}:00:00+00:00"
        for number, setting in enumerate("abcd"):
            rate = 2**30 * (1 + number) * level * math.exp(dice.gauss(0, noise))
            row = {"block": block, "setting": setting, "arm": "", "counted": True, "started": started}
            row |= {"bandwidth": rate, "io_time_s": 1.0, "wall_s": 2.0, "slowest_dump_s": 1.0}
            rows.append(Finished(row, []))
    return rows


def test_the_page_says_how_variable_the_system_is(tmp_path: Path) -> None:
    page = write_results_page(tmp_path, "t", [], of_a_day(0.2, 0.03))
    assert page is not None
    text = page.read_text()
    assert "How variable is this system?" in text and "Between 8 blocks over 42 h the bandwidth" in text
    assert "changes by 2" in text and "The system over time" in text
    with (tmp_path / "figures" / "blocks.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["started_utc"] for row in rows[:2]] == ["2026-11-01 00:00", "2026-11-01 06:00"]
    assert float(rows[0]["level"]) > 1.15 and float(rows[1]["level"]) < 0.85
    steady = tmp_path / "steady"
    steady.mkdir()
    page = write_results_page(steady, "t", [], of_a_day(0.0, 0.03))
    assert page is not None and "do not differ by more than their trials do" in page.read_text()
