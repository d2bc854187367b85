"""Plans stay small, and are read back from their files unchanged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from known_logs import JOBS, characterized_or_skip, job_name

from workalike import _core
from workalike.cli import app
from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan.core import core_plan
from workalike.plan.plan_file import plan_text, read_plan, write_plan
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import Record
from workalike.workload.model import (
    Content,
    Direction,
    Entry,
    Family,
    Interface,
    Level,
    Role,
    Schedule,
    Stream,
    Workload,
)
from workalike.workload.workload_file import parse_workload

LARGEST = 10 * 10**6  # bytes


@pytest.mark.parametrize("logs", JOBS, ids=job_name)
def test_full_plans_of_real_logs_are_small(logs: tuple[Path, ...], tmp_path: Path) -> None:
    plan = resolve(characterized_or_skip(logs).workload, Options())
    write_plan(plan, tmp_path / "plan.json")
    assert (tmp_path / "plan.json").stat().st_size < LARGEST
    assert read_plan(tmp_path / "plan.json") == plan


def test_a_plan_does_not_grow_with_ranks() -> None:
    stream = Stream(direction=Direction.WRITE, sizes=[Entry(count=8, size=2**20, per_rank=True)])
    family = Family(
        role=Role.CHECKPOINT,
        interface=Interface.POSIX,
        sharing="per-rank",  # type: ignore[arg-type]
        schedule=Schedule(count=10, every=60.0),
        content=Content(streams=[stream]),
    )
    small, large = (
        len(plan_text(resolve(Workload(ranks=ranks, families=[family]), Options()))) for ranks in (8, 2**20)
    )
    assert large - small < 200


def test_twenty_thousand_dumps_of_many_sizes() -> None:
    """A long run: 20,000 dumps, each of its own size, in 100 families."""
    families = [
        Family(
            role=Role.CHECKPOINT,
            number=number,
            interface=Interface.POSIX,
            schedule=Schedule(start=[i * 1.000001 for i in range(200)], duration=0.25),
            sizes=[1_000_000 + 7 * (200 * number + i) for i in range(200)],
            content=Content(streams=[Stream(direction=Direction.WRITE, sizes=[Entry(count=64, size=4096)])]),
        )
        for number in range(1, 101)
    ]
    plan = resolve(Workload(ranks=2048, families=families), Options())
    assert len(plan.dumps) == 20_000
    assert len(plan_text(plan)) < LARGEST


SIMPLE = """\
workalike: 2
ranks: 4
families:
- role: checkpoint
  schedule: {count: 3, first: 5 s, every: 10 s, duration: 2 s}
  content: {streams: [{direction: write, sizes: [4/rank x 1 MiB]}]}
- role: visualization
  lifetime: appended
  schedule: {start: [6 s, 30 s]}
  content: {streams: [{direction: write, sizes: [1/rank x 1 MiB]}]}
"""


def test_order_and_bases() -> None:
    plan = resolve(parse_workload(SIMPLE), Options())
    assert [(d.family, d.index) for d in plan.dumps] == [(0, 0), (1, 0), (0, 1), (0, 2), (1, 1)]
    states = [d for d in plan.dumps if d.family == 1]
    assert [(d.file, d.base) for d in states] == [(0, 0), (0, 4 * 2**20)]
    assert [d.file for d in plan.dumps if d.family == 0] == [0, 1, 2]


READS = """\
workalike: 2
ranks: 4
families:
- role: restart
  schedule: {count: 1}
  content: {streams: [{direction: read, sizes: [1/rank x 1 MiB]}]}
- role: scratch
  lifetime: reused
  schedule: {count: 2, every: 5 s}
  contents:
  - {streams: [{direction: write, sizes: [1/rank x 1 MiB]}]}
  - {streams: [{direction: read, sizes: [1/rank x 1 MiB]}]}
"""


def test_only_files_that_nothing_wrote_are_prepared() -> None:
    plan = resolve(parse_workload(READS), Options())
    assert {(d.family, d.index): d.prepare for d in plan.dumps} == {
        (0, 0): True,
        (1, 0): False,
        (1, 1): False,
    }


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{}", "ranks"),
        ("[]", ""),
        ("not json", ""),
        ('{"ranks": 4, "families": [], "contents": [], "dumps": [], "version": 3}', "version"),
        ('{"ranks": 4, "families": [], "contents": [], "dumps": [], "host": "x"}', "host"),
    ],
)
def test_a_bad_plan_is_one_line(text: str, place: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(WorkalikeError) as caught:
        read_plan(path)
    assert caught.value.kind is ErrorKind.BAD_PLAN
    assert place in (caught.value.place or "")
    assert caught.value.one_line().isprintable()


S = ("contents", 0, "streams", 0)
CONTRADICTIONS = {
    "content that is not there": (("dumps", 0, "content"), 9, "dumps[0].content"),
    "content counted from the end": (("dumps", 0, "content"), -1, "dumps[0].content"),
    "family that is not there": (("dumps", 1, "family"), 9, "dumps[1].family"),
    "one id twice": (("families", 1, "id"), 0, "families[1].id"),
    "one name twice": (("families", 1, "role"), "checkpoint", "families[1].number"),
    "rank beyond": (("families", 0, "sharing", "ranks"), [[0, 4, 1]], "families[0].sharing.ranks"),
    "no ranks at all": (("families", 0, "sharing", "ranks"), [], "families[0].sharing.ranks"),
    "a step of zero": (("families", 0, "sharing", "ranks"), [[0, 3, 0]], "families[0].sharing.ranks"),
    "a stream's rank beyond": ((*S, "ranks"), [[0, 2**23, 1]], "contents[0]"),
    "no files": (("families", 0, "sharing", "files"), 0, "families[0].sharing.files"),
    "negative size": ((*S, "entries"), [[4, -1]], "contents[0].streams[0].entries[0][1]"),
    "no pieces": ((*S, "pieces"), 0, "contents[0].streams[0].pieces"),
    "no ranks": (("ranks",), 0, "ranks"),
    "no bytes": (("scale", "bytes"), 0, "scale.bytes"),
    "a start that is not a number": (("dumps", 0, "start_s"), float("nan"), "dumps[0].start_s"),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_a_plan_that_contradicts_itself_is_one_line_of_compare(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`compare --plan` counts a plan's operations: a plan from elsewhere must not cause a traceback."""
    (*steps, last), value, place = CONTRADICTIONS[case]
    document = json.loads(plan_text(resolve(parse_workload(SIMPLE), Options())))
    target = document
    for step in steps:
        target = target[step]
    target[last] = value
    (tmp_path / "app.yaml").write_text(SIMPLE)
    (tmp_path / "plan.json").write_text(json.dumps(document))
    (tmp_path / "run.json").write_text(
        Record(plan_ranks=4, processes=1, backend="null").model_dump_json(exclude_none=True)
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WorkalikeError) as caught:
        app(["compare", "app.yaml", "run.json", "--plan", "plan.json"], standalone_mode=False)
    assert caught.value.kind is ErrorKind.BAD_PLAN
    assert place in (caught.value.place or "")


@pytest.mark.parametrize("change", ["role: restart", "count: 2"])
def test_a_plan_of_another_workload_is_refused_by_compare(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = (
        SIMPLE.replace("role: checkpoint", change) if "role" in change else SIMPLE.replace("count: 3", change)
    )
    (tmp_path / "app.yaml").write_text(other)
    (tmp_path / "plan.json").write_text(plan_text(resolve(parse_workload(SIMPLE), Options())))
    (tmp_path / "run.json").write_text(Record(plan_ranks=4, processes=1, backend="null").model_dump_json())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WorkalikeError, match="the plan of another workload") as caught:
        app(["compare", "app.yaml", "run.json", "--plan", "plan.json"], standalone_mode=False)
    assert caught.value.kind is ErrorKind.BAD_PLAN


@pytest.mark.parametrize("level", [None, Level.PNETCDF])
def test_streams_of_pnetcdf_are_planned_for_the_level_of_their_counts(level: Level | None) -> None:
    """At MPI-IO, the default, one call may move more than 2 GiB; one call of PnetCDF may not."""
    stream = Stream(direction=Direction.WRITE, sizes=[Entry(count=1, size=3 * 2**30)])
    family = Family(
        role=Role.OUTPUT,
        interface=Interface.PNETCDF,
        level=level,
        schedule=Schedule(count=1),
        content=Content(streams=[stream]),
    )
    plan = resolve(Workload(ranks=1, families=[family]), Options())
    assert plan.families[0].backend == ("mpiio" if level is None else "pnetcdf")
    core = core_plan(plan)
    if level is None:
        core.refuse(None)
    else:
        with pytest.raises(_core.PlanError, match="less than 2 GiB in one operation"):
            core.refuse(None)


def one_dump() -> dict[str, Any]:
    """The plan of one dump, as a document."""
    stream = Stream(direction=Direction.WRITE, sizes=[Entry(count=8, size=2**20)])
    family = Family(
        role=Role.CHECKPOINT,
        interface=Interface.POSIX,
        schedule=Schedule(start=[1.0]),
        content=Content(streams=[stream]),
    )
    text = plan_text(resolve(Workload(ranks=4, families=[family]), Options()))
    document: dict[str, Any] = json.loads(text)
    return document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("ranks",), True),
        (("seed",), -1),
        (("seed",), 2.0),
        (("time_scale",), False),
        (("time_scale",), 1e18),
        (("scale", "ranks"), 1e300),
        (("payload", "compressibility"), True),
        (("dumps", 0, "index"), 0.0),
        (("dumps", 0, "compute_s"), 1e300),
        (("dumps", 0, "prepare"), 0),
        (("families", 0, "keep"), 10**12),
        (("families", 0, "rename"), 1),
        (("contents", 0, "opens"), True),
    ],
    ids=str,
)
def test_what_the_core_refuses_is_no_plan(path: tuple[str | int, ...], value: object, tmp_path: Path) -> None:
    """Types and limits that a model of Python lets pass: a truth value for a number, 2.0 for 2, too many of something."""
    document = one_dump()
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(document))
    assert read_plan(file).ranks == 4
    part: Any = document
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    text = json.dumps(document)
    file.write_text(text)
    with pytest.raises(_core.PlanError):
        _core.Plan(text)
    with pytest.raises(WorkalikeError) as refused:
        read_plan(file)
    assert refused.value.kind is ErrorKind.BAD_PLAN


@pytest.mark.parametrize("field", ["format", "version"])
def test_a_plan_says_what_it_is(field: str, tmp_path: Path) -> None:
    document = one_dump()
    del document[field]
    (tmp_path / "plan.json").write_text(json.dumps(document))
    with pytest.raises(WorkalikeError, match=field):
        read_plan(tmp_path / "plan.json")
