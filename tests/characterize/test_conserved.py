"""Nothing is lost between any known log and the plan at full scale."""

from __future__ import annotations

from pathlib import Path

import pytest
from known_logs import ALL_LOGS, WORKFLOW, characterized, characterized_workflow
from plan_totals import totals_of

from workalike.characterize import Characterization
from workalike.characterize.result import FamilyFacts
from workalike.errors import ErrorKind, WorkalikeError
from workalike.facts.counters import bytes_name, histogram_names, operations_of
from workalike.facts.records import MODULE_OF_LEVEL
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Direction, Level, Workload
from workalike.workload.workload_file import workload_text

NOTHING = {"empty-4.darshan", "ior-dfs-16.darshan"}
SMALL_FILE_BYTES = 512 * 1024


@pytest.fixture(params=[*ALL_LOGS, None], ids=lambda p: p.name[:50] if p else "workflow of 24 logs")
def found(request: pytest.FixtureRequest) -> Characterization:
    path: Path | None = request.param
    if path is None:
        if not WORKFLOW:
            pytest.skip("no logs of a workflow in ../shared")
        return characterized_workflow()
    if path.name in NOTHING:
        with pytest.raises(WorkalikeError) as caught:
            characterized(path)
        assert caught.value.kind is ErrorKind.NOTHING_TO_REPLICATE
        pytest.skip("nothing in it to replicate, as the error says")
    return characterized(path)


def moved_in_log(family: FamilyFacts, direction: Direction) -> tuple[int, int, list[int]]:
    """Bytes, operations and histogram of a family's files at its level; zeros where it lacks the direction.

    At POSIX a family has operations that moved nothing, too, unless another level moved data there.
    """
    level = family.family.counted_at
    if not any((d.bytes_read if direction is Direction.READ else d.bytes_written) for d in family.dumps) and (
        level is not Level.POSIX
        or any(f.modules[m].total(bytes_name(direction)) for f in family.files() for m in f.modules)
    ):
        return 0, 0, [0] * 10
    parts = [f.modules[MODULE_OF_LEVEL[level]] for f in family.files()]
    names = histogram_names(MODULE_OF_LEVEL[level], direction)
    bins = [sum(p.total(name) for p in parts) for name in names]
    total = sum(f.bytes_at(level, direction) for f in family.files())
    if any(content.buffered for content in family.family.all_contents()):  # STDIO counts no sizes
        parts += [f.modules["STDIO"] for f in family.files() if "STDIO" in f.modules]
        total += sum(f.bytes_at(Level.STDIO, direction) for f in family.files())
        bins = []
    return total, sum(operations_of(p, direction) for p in parts), bins


def variation(a: list[int], b: list[int]) -> float:
    return sum(abs(x / sum(a) - y / sum(b)) for x, y in zip(a, b, strict=True)) / 2


def test_plan_holds_the_log(found: Characterization) -> None:
    totals = totals_of(resolve(found.workload, Options()))
    for family in found.families:
        planned = totals[family.family.role, family.family.number]
        for direction in Direction:
            total, operations, bins = moved_in_log(family, direction)
            assert planned[direction].bytes == pytest.approx(total, rel=0.001)
            assert planned[direction].operations == pytest.approx(operations, rel=0.01)
            if sum(bins):
                assert variation(planned[direction].bins, bins) <= 0.02


def test_every_file_is_somewhere(found: Characterization) -> None:
    """Every file is data of a family, or noise, or its traffic was a library's."""
    files = {f.record_id for family in found.families for f in family.files()}
    noise = sum(number for _, number, _ in found.noise)
    everything = {number for log in found.logs for module in log.modules for number in _ids(log, module)}
    assert len(files) <= len(everything)
    assert len(files) + noise <= 2 * len(everything)
    assert files <= everything


def _ids(log: object, module: str) -> list[int]:
    if module not in ("POSIX", "STDIO", "MPI-IO"):
        return []
    table = log.records(module)  # type: ignore[attr-defined]
    return table.ids.tolist() if table is not None else []


def test_workload_is_valid_and_small(found: Characterization) -> None:
    again = Workload.model_validate(found.workload.model_dump(mode="json"))
    assert again.model_dump(mode="json") == found.workload.model_dump(mode="json")
    assert len(workload_text(found.workload)) < SMALL_FILE_BYTES


def test_dumps_are_within_the_run(found: Characterization) -> None:
    for family in found.families:
        schedule = family.family.schedule
        assert len(schedule.starts()) == len(family.dumps)
        assert all(0 <= start <= end for start, end in zip(schedule.starts(), schedule.ends(), strict=True))
        assert max(schedule.ends()) <= found.workload.runtime + 2  # ranks' clocks differ


def test_every_family_says_why(found: Characterization) -> None:
    for family in found.families:
        assert any(rule.startswith("level ") for rule in family.sentences())
        assert any(rule.startswith("role: ") for rule in family.sentences())
