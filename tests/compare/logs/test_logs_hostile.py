"""No log crashes the comparison, and what is shown of a log is bounded and printable."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import pytest
from darshan_mutate import spoil_file
from known_logs import ALL_LOGS, EVERY_LOG, OWN_LOGS, SHARED_WORKFLOWS
from logs_compared import builder, compared, with_writes
from rich.console import Console

from workalike.compare.logs.comparison import MOST_CHANGES, compare_logs
from workalike.compare.logs.schema import LogComparison, write_comparison
from workalike.compare.logs.side import side_of
from workalike.compare.logs.table import MOST_ROWS, print_comparison
from workalike.darshan import LogBuilder, layouts, open_logs
from workalike.errors import WorkalikeError
from workalike.report.logs_page import MOST_ROWS as MOST_ROWS_OF_PAGE
from workalike.report.logs_page import page_text

ABSURD = (-(2**63), -2, -1, 0, 1, 2**31, 2**53, 2**62, 2**63 - 1)


def printed(found: LogComparison, width: int = 100) -> str:
    out = io.StringIO()
    print_comparison(found, Console(file=out, width=width, markup=False, highlight=False))
    return out.getvalue()


@pytest.mark.parametrize("path", [*EVERY_LOG, *SHARED_WORKFLOWS], ids=lambda path: path.name)
def test_every_log_is_equal_to_itself(path: Path) -> None:
    sides = [side_of(open_logs([path]), path.name) for _ in range(2)]
    found = compare_logs([sides[0]], sides[1])
    assert found.word == found.program_start.word == "equal", printed(found)
    assert not found.compared.within and not found.program_start.within


def test_all_logs_compare_with_each_other() -> None:
    sides = [side_of(open_logs([path]), path.name) for path in ALL_LOGS]
    for place, first in enumerate(sides):
        second = sides[(place * 7 + 1) % len(sides)]
        there, back = compare_logs([first], second), compare_logs([second], first)
        assert there.word == back.word
        assert printed(there)


def absurd_log(dice: random.Random) -> LogBuilder:
    log = builder(nprocs=3)
    for module in ("POSIX", "STDIO", "MPI-IO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR"):
        layout = layouts.FIXED[module].current
        for number in range(3):
            values = {name: dice.choice(ABSURD) for name in layout.counters if dice.random() < 0.5}
            reals = {name: dice.choice([float("nan"), -1.0, 1e300, 0.5]) for name in layout.fcounters}
            name = f"/d/{number}"
            if layout.file_id:
                log.record(module, f"{name}:v", dice.randrange(-1, 3), file=name, **values, **reals)
            else:
                log.record(module, name, dice.randrange(-1, 3), **values, **reals)
    return log


@pytest.mark.parametrize("seed", range(12))
def test_absurd_counters(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    first, second = absurd_log(dice), absurd_log(dice)
    assert compared(tmp_path, first, first).word == "equal"
    found = compared(tmp_path, first, second)
    LogComparison.model_validate_json(json.dumps(found.model_dump(mode="json"), allow_nan=False))
    assert all(0 <= change.off_pct <= 100 for change in found.compared.changes)


def test_damaged_logs_give_a_comparison_or_an_error(tmp_path: Path) -> None:
    dice = random.Random(5)
    compared_at_all = 0
    for number in range(150):
        path = dice.choice(OWN_LOGS)
        damaged = tmp_path / "damaged.darshan"
        damaged.write_bytes(spoil_file(path.read_bytes(), dice).image)
        try:
            side = side_of(open_logs([damaged]), f"damaged {number}")
        except WorkalikeError as error:
            assert error.hint
            continue
        compare_logs([side_of(open_logs([path]), path.name)], side)
        compared_at_all += 1
    assert compared_at_all


def test_output_is_bounded_and_printable(tmp_path: Path) -> None:
    first, second = builder(), builder()
    for number in range(MOST_CHANGES):
        name = f"/d/{'x' * 600 if number % 2 else ''}\x1b[31m{number}<script>.dat"
        with_writes(first, name, 10)
        with_writes(second, name, 20)
    found = compared(tmp_path, first, second)
    changed = 7 * MOST_CHANGES  # calls, bytes, extent, order (2), the bin and the common size
    assert found.compared.changed == changed and len(found.compared.changes) == MOST_CHANGES
    text = printed(found)
    assert "\x1b" not in text
    assert f"and {changed - MOST_ROWS:,} more; most often: " in text
    page = page_text(found)
    assert page.count("<tr>") < MOST_ROWS_OF_PAGE + 10
    assert "\x1b" not in page and "<script>" not in page and "&lt;script&gt;" in page
    write_comparison(found, tmp_path / "out.json")
    assert LogComparison.model_validate_json((tmp_path / "out.json").read_bytes()) == found


def test_datasets_of_unknown_files(tmp_path: Path) -> None:
    def log() -> LogBuilder:
        return builder().record("H5D", "/d/f.h5:v", 0, WRITES=3)

    assert compared(tmp_path, log(), log()).word == "equal"
    assert compared(tmp_path, log(), with_writes(log(), "/d/f", 3)).word == "changed"


def test_a_log_without_data_or_files(tmp_path: Path) -> None:
    found = compared(tmp_path, builder(), builder())
    assert found.headline == "Equal: all 2 counters of 0 files."
    found = compared(tmp_path, builder(), with_writes(builder(), "/d/f", 3))
    assert found.headline == "Changed: 1 of 3 counters; 1 file more."
    assert printed(found)
    assert "<h1>Changed</h1>" in page_text(found)
