"""Tables and sentences on a terminal of 40 columns: nothing is cut, and no line is longer."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from command_line import workalike
from known_logs import own
from narrow_terminal import on_terminal
from rich.console import Console
from rich.text import Text

from workalike.columns import NARROW, Column, broken, table_of
from workalike.fleet.report.whole import LONGEST_CELL, table_lines

LOG = own("checkpoints-4")
COLUMNS = 40
STUDY = """\
study: 1
workload: app.yaml
fixed: {time_scale: 0, backend: "null"}
factors:
  ranks: [2, 4]
  files: {set: sharing, levels: {one file for all ranks: shared, a file for each rank: per-rank}}
blocks: 2
a_a: false
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workload, a record of its count, a study and a database."""
    made = tmp_path_factory.mktemp("narrow")
    (made / "study.yaml").write_text(STUDY)
    for arguments in (
        ("characterize", LOG, "-o", "app.yaml"),
        ("run", "app.yaml", "--dir", "data", "--backend", "null", "-o", "out"),
        ("fleet", "generate", "-o", "made", "--jobs", "20"),
        ("fleet", "ingest", "made/logs", "--db", "fleet", "--site", "made/site.yaml"),
    ):
        done = workalike(*arguments, cwd=made)
        assert done.returncode == 0, done.stderr
    return made


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "app.yaml"),
        ("characterize", LOG, "-o", "again.yaml"),
        ("compare", LOG, "out/run.json"),
        ("compare", LOG, own("hdf5-states-4")),
        ("fleet", "report", "--db", "fleet"),
        ("study", "check", "study.yaml"),
    ],
    ids=lambda words: " ".join(word for word in words[:2] if isinstance(word, str)),
)
def test_no_line_is_longer_than_the_terminal(folder: Path, arguments: tuple[object, ...]) -> None:
    lines = on_terminal(*arguments, cwd=folder, columns=COLUMNS)
    sentences = ("4 settings, ",)  # the terminal breaks it
    assert [line for line in lines if len(line) > COLUMNS and not line.startswith(sentences)] == []


def test_a_narrow_table_of_counters_has_every_column_and_whole_words(folder: Path) -> None:
    text = "\n".join(on_terminal("compare", LOG, own("hdf5-states-4"), cwd=folder, columns=COLUMNS))
    assert "MPI-IO SIZE_WRITE_AGG_100K_1M" in text.replace("\n", " ")
    assert "  was  " in text and "  is   " in text and "  off  " in text
    study = "\n".join(on_terminal("study", "check", "study.yaml", cwd=folder, columns=COLUMNS))
    assert "ranks=2 files=one file for all ranks" in study and "  a trial  " in study


def columns(text: str = "a name of medium length") -> list[Column]:
    return [
        Column("name", [Text(text), Text("short")], left=True),
        Column("least", [Text("1"), Text("22")], rank=2),
        Column("most", [Text("3,000,000"), Text("4")]),
    ]


def shown(table_columns: list[Column], width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(table_of("A title", table_columns, width))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_table_that_fits_is_a_table() -> None:
    for width in (50, 80):
        assert shown(columns(), width)[1].split() == ["name", "least", "most"]


def test_a_table_that_does_not_fit_in_little_width_is_lines_of_all_columns() -> None:
    assert shown(columns(), 30) == [
        "A title",
        "a name of medium length",
        "  least  1",
        "  most   3,000,000",
        "short",
        "  least  22",
        "  most   4",
    ]


def test_in_more_width_columns_are_left_out_before_text_is_broken() -> None:
    assert shown(columns("x" * 45), NARROW)[1].split() == ["name", "most"]
    assert len(shown(columns("x" * 55), NARROW)) > 5
    numbers = [Column(str(n), [Text("1,000,000,000,000")]) for n in range(4)]
    assert "  1  1,000,000,000,000" in shown(numbers, NARROW)


def test_a_sentence_is_broken_between_words_and_indented() -> None:
    assert broken("    how      32 writes of 64 KiB", 20) == [
        "    how      32",
        "      writes of 64",
        "      KiB",
    ]
    assert broken("short", 20) == ["short"] and broken("x" * 50, None) == ["x" * 50]
    assert broken("x" * 25, 20) == ["x" * 20, "  xxxxx"]


def test_a_row_of_a_report_becomes_lines_and_a_long_cell_has_a_mark() -> None:
    rows = [{"name": "ada", "summary": "x" * (LONGEST_CELL + 1), "jobs": 7}]
    assert list(table_lines("Users", rows))[-1] == f"  ada   {'x' * (LONGEST_CELL - 1)}…  7"
    assert list(table_lines("Users", rows, COLUMNS)) == [
        "",
        "Users",
        "  ada",
        f"    summary  {'x' * 27}",
        f"      {'x' * 32}…",
        "    jobs     7",
    ]
    assert list(table_lines("Users", rows[:0], COLUMNS)) == ["", "Users", "  none"]
