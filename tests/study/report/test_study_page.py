"""The page of generated studies: what it says is what was planted, and nothing in it is acted upon."""

from __future__ import annotations

import csv
import dataclasses
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from study_pages import generated_study

from workalike.errors import WorkalikeError
from workalike.study.report import StudyTable, write_study_report
from workalike.study.report.findings import findings_of
from workalike.study.report.table import shown

HOSTILE = "<script>alert(1)</script>&$x^2$\x1b[31m"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study_report(tmp_path_factory.mktemp("page"), generated_study(12))


def test_the_findings_are_those_planted() -> None:
    found = findings_of(generated_study(12))
    answers = {a.question: a.text for a in found.answers}
    assert found.rows[0].name in ("stripes 4, aligned yes, 64 ranks", "stripes 8, aligned yes, 64 ranks")
    assert found.rows[0].p_best + found.rows[1].p_best > 0.98
    assert [(k.factor, k.level, k.highest) for k in found.knees] == [("stripes", "4", False)]
    assert answers["What matters most?"].startswith("ranks: 64 is")
    assert answers["Do the factors depend on each other?"].startswith("Yes: ")
    assert found.same is not None and found.same.is_equal
    assert sum(row.failed for row in found.rows) == 2
    assert not any("again" in row.name for row in found.rows)  # the A/A copy has no other part
    faster = next(r for r in found.rows if r.name == "stripes 2, aligned no, 4 ranks")
    assert (
        faster.ratio is not None and faster.ratio.low < 1.6 < faster.ratio.high and faster.verdict == "faster"
    )


def test_the_page_is_one_file_without_scripts(page: Path) -> None:
    text = page.read_text()
    assert "<script" not in text and not re.search(r"(src|href)=\"(?!#)", text)
    assert text.count("<svg") == 14
    assert (
        "stop paying?" in text
        and "under two names: no difference was found" in text
        and "Weak scaling" in text
    )


def test_every_figure_is_saved_with_its_numbers(page: Path) -> None:
    folder = page.parent / "figures"
    names = {path.stem for path in folder.glob("*.svg")}
    assert names == {
        *("ratios", "means", "spread", "effects", "interactions", "scaling", "efficiency", "lines"),
        *("dumps", "sizes", "growth", "output", "errors", "blocks"),
    }
    for name in names:
        assert ET.parse(folder / f"{name}.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
        with (folder / f"{name}.csv").open() as file:
            rows = list(csv.reader(file))
        assert len(rows) > 2 and {len(row) for row in rows} == {len(rows[0])}


def test_the_means_are_those_of_the_table(page: Path) -> None:
    table = generated_study(12)
    with (page.parent / "figures" / "means.csv").open() as file:
        rows = {row["setting"]: row for row in csv.DictReader(file)}
    values = [
        v
        for s, v in zip(table.setting, table.bandwidth, strict=True)
        if s == "stripes 8, aligned no, 16 ranks"
    ]
    row = rows["stripes 8, aligned no, 16 ranks"]
    assert float(row["mean_bytes_per_s"]) == pytest.approx(np.mean(values))
    assert float(row["standard_error"]) == pytest.approx(np.std(values, ddof=1) / np.sqrt(12))


def test_hostile_names_are_text(tmp_path: Path) -> None:
    table = dataclasses.replace(generated_study(3, dumps=2, more=HOSTILE), title=HOSTILE)
    place = write_study_report(tmp_path, table)
    for path in [place, *(tmp_path / "figures").glob("*.svg")]:
        text = path.read_text()
        assert "<script" not in text and "\x1b" not in text
    for path in (tmp_path / "figures").glob("*.svg"):
        ET.parse(path)
    assert "&lt;script&gt;" in place.read_text()


def test_formulas_of_spreadsheets_are_quoted(tmp_path: Path) -> None:
    table = small(["=1+1", "_b"] * 3, [1.0, 2.0] * 3)
    write_study_report(tmp_path, table)
    assert "'=1+1" in (tmp_path / "figures" / "means.csv").read_text()
    assert shown("x" * 1000) == "x" * 22 + "…" + "x" * 22 and shown("") == "(no name)"


def small(names: list[str], rates: list[float], **more: object) -> StudyTable:
    nothing = np.full(len(names), np.nan)
    block = np.arange(len(names)) // 2
    return StudyTable(block, names, np.array(rates) * 1e6, nothing, nothing, nothing, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("names", "rates", "said"),
    [
        (["a", "b"], [1.0, 2.0], "Nothing can be said"),
        (["a", "b"] * 2, [np.nan] * 4, "No trial succeeded"),
        (["a", "a"], [1.0, 1.0], "Only a was measured"),
        (["a", "b"] * 4, [1.0, np.nan] * 4, "Nothing can be said"),
        (["a", "b"] * 4, [1.0, 1.1, 1.1, 1.0, 1.0, 1.05, 1.06, 1.0], "may have been missed"),
    ],
)
def test_small_and_failed_studies_say_so(
    tmp_path: Path, names: list[str], rates: list[float], said: str
) -> None:
    assert said in write_study_report(tmp_path, small(names, rates)).read_text()


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(WorkalikeError, match="rows"):
        small(["a", "b"], [1.0])
    with pytest.raises(WorkalikeError, match="without trials"):
        small([], [])
    with pytest.raises(WorkalikeError, match="no trial has the setting 'z'"):
        small(["a", "b"], [1.0, 2.0], reference="z")
