"""The house of readings: each is a file that stands alone; the search over them has one cost and a budget."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from counted_logs import log_of
from truths import workload

from workalike.characterize import CharacterizeOptions, characterize, readings
from workalike.characterize.options import CounterGroup
from workalike.characterize.readings.evidence import evidence_of
from workalike.characterize.readings.loss import Loss
from workalike.characterize.readings.reading import Case
from workalike.characterize.readings.registry import FOLDERS, all_readings, reading_of
from workalike.characterize.readings.search import candidates
from workalike.darshan import open_log
from workalike.facts.jobs import job_of
from workalike.facts.thresholds import THRESHOLDS

(HOUSE,) = map(Path, readings.__path__)
FILES = [path for folder in FOLDERS for path in (HOUSE / folder).glob("*.py") if path.name != "__init__.py"]


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield str(node.module)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_reading_imports_another(path: Path) -> None:
    inside = tuple(f"{readings.__name__}.{folder}" for folder in FOLDERS)
    assert [name for name in imported(path) if name.startswith(inside)] == []


def test_each_file_is_one_reading() -> None:
    found = all_readings()
    assert len(found) == len(FILES)
    assert len({reading.id for reading in found}) == len(found)
    assert len({reading.rank for reading in found}) == len(found), "the order of two must not hang on names"
    assert all(reading.sentence and reading.evidence.endswith(".") for reading in found)
    assert [reading.rank for reading in found] == sorted(reading.rank for reading in found)
    with pytest.raises(KeyError):
        reading_of("unknown")


PASSES: dict[str, Any] = {"streams": [{"direction": "write", "sizes": ["64 x 64 KiB"]}], "passes": 5}


def test_a_budget_ends_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_of(workload(PASSES), tmp_path / "app.darshan")
    (facts,) = characterize([open_log(log)]).families
    assert facts.family.all_contents()[0].passes == 5
    monkeypatch.setattr(THRESHOLDS, "readings_predicted", 1)
    (facts,) = characterize([open_log(log)]).families
    assert facts.family.all_contents()[0].passes == 1


def test_each_candidate_is_tried_once(tmp_path: Path) -> None:
    log = open_log(log_of(workload(PASSES), tmp_path / "app.darshan"))
    (facts,) = characterize([log], CharacterizeOptions(refine=False)).families
    evidence = evidence_of(facts, job_of([log]))
    assert evidence is not None
    off = [row.counter for row in Loss(evidence).residuals(facts.family) or ()]
    found = [family for _, family in candidates(Case(evidence, facts.family, off))]
    assert found
    assert all(other not in found[:place] for place, other in enumerate(found))
    assert facts.family not in found


def test_counters_that_are_left_out_do_not_count(tmp_path: Path) -> None:
    """Where only offsets tell the passes, a search without them stays with what the rules have read."""
    log = open_log(log_of(workload(PASSES), tmp_path / "app.darshan"))
    (plain,) = characterize([log], CharacterizeOptions(refine=False)).families
    (found,) = characterize(
        [log], CharacterizeOptions(leave_out=(CounterGroup.ORDER, CounterGroup.EXTENTS))
    ).families
    assert found.family.content == plain.family.content
    assert {row.counter for row in found.misfit or ()} & {"MAX_BYTE_WRITTEN", "CONSEC_WRITES"}
