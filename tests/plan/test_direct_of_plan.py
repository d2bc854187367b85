"""`direct`: from the workload to the plan, and to the job files of other tools."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from needed import needs_engine

from workalike.cli import app
from workalike.errors import ErrorKind, WorkalikeError
from workalike.exchange.fio import write_fio
from workalike.exchange.h5bench import write_h5bench
from workalike.exchange.ior import write_ior
from workalike.plan.core import core_plan
from workalike.plan.plan_file import plan_text, read_plan
from workalike.plan.resolve import Options, resolve
from workalike.plan.scale import ScaleBy
from workalike.workload.disclosure import disclose
from workalike.workload.model import Workload
from workalike.workload.summary import summarize
from workalike.workload.workload_file import parse_workload, workload_text

WORKLOAD = """\
workalike: 2
ranks: 4
families:
- role: checkpoint
  interface: posix
  direct: true
  schedule: {count: 2, first: 0 s, every: 1 s}
  content: {streams: [{direction: write, sizes: [16/rank x 64 KiB]}]}
"""


@pytest.fixture
def workload() -> Workload:
    return parse_workload(WORKLOAD)


def test_it_reaches_the_plan_and_is_left_out_without_it(workload: Workload, tmp_path: Path) -> None:
    plan = resolve(workload, Options())
    assert plan.families[0].direct is True
    (tmp_path / "plan.json").write_text(plan_text(plan))
    assert read_plan(tmp_path / "plan.json") == plan
    plain = resolve(parse_workload(WORKLOAD.replace("  direct: true\n", "")), Options())
    assert 'direct"' not in plan_text(plain) and plain.families[0].direct is None


def test_it_is_written_said_and_disclosed(workload: Workload) -> None:
    assert parse_workload(workload_text(workload)) == workload
    assert any("O_DIRECT" in line for line in summarize(workload))
    assert [d.value for d in disclose(workload) if d.field == "direct"] == ["True"]


@pytest.mark.parametrize("by", ["count", "size"])
@pytest.mark.parametrize(
    "more", [{"bytes_scale": Fraction(1, 100)}, {"ranks": 3}, {"bytes_scale": Fraction(7, 3), "ranks": 5}]
)
def test_at_another_scale_blocks_stay_whole(by: ScaleBy, more: dict[str, Any]) -> None:
    text = WORKLOAD.replace(
        "sizes: [16/rank x 64 KiB]", "sizes: [5/rank x 64 KiB, 3 x 512 B], base: 4 KiB, repeat: 3"
    )
    workload = parse_workload(text)
    plan = resolve(workload, Options(scale_by=by, **more))
    core_plan(plan)  # which refuses other sizes
    moved = sum(c * s for stream in plan.contents[0].streams for c, s in stream.entries)
    stated = 3 * (20 * 65536 + 3 * 512) * more.get("bytes_scale", 1)
    ranks = more.get("ranks", 4)
    assert abs(moved - stated) <= 512 * len(plan.contents[0].streams) * ranks or "ranks" in more
    plain = resolve(parse_workload(text.replace("  direct: true\n", "")), Options(scale_by=by, **more))
    assert (
        any(size % 512 for c in plain.contents for s in c.streams for _, size in s.entries)
        or "bytes_scale" not in more
    )


def test_growth_is_in_blocks() -> None:
    text = WORKLOAD.replace("  content:", "  sizes: 4 MiB\n  growth: [1.0123]\n  content:")
    plan = resolve(parse_workload(text), Options())
    core_plan(plan)
    sizes = [sum(c * s for stream in content.streams for c, s in stream.entries) for content in plan.contents]
    assert sizes[0] == 4 * 2**20 and abs(4 * 2**20 * 1.0123 - sizes[1]) < 512


def test_a_stated_size_that_is_no_block_is_refused() -> None:
    plan = resolve(
        parse_workload(WORKLOAD.replace("  content:", "  sizes: 4000001 B\n  content:")), Options()
    )
    with pytest.raises(WorkalikeError, match="no multiple of 512"):
        core_plan(plan)


@pytest.mark.parametrize("interface", ["stdio", "mpiio"])
def test_another_interface_is_refused(interface: str) -> None:
    with pytest.raises(
        WorkalikeError, match="`direct` opens files with O_DIRECT: it needs `interface: posix`"
    ) as caught:
        parse_workload(WORKLOAD.replace("posix", interface))
    assert caught.value.kind is ErrorKind.BAD_WORKLOAD


def test_check_names_the_stream(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(WORKLOAD.replace("64 KiB", "1000 B"))
    with pytest.raises(WorkalikeError) as caught:
        app(["check", str(path)], standalone_mode=False)
    line = caught.value.one_line()
    assert caught.value.exit_code == 2
    assert "contents[0].streams[0].entries[0]: checkpoint 1 is direct, and an operation of 1000 bytes" in line
    path.write_text(WORKLOAD)
    app(["check", str(path)], standalone_mode=False)


def test_other_tools_get_it_where_they_have_it(workload: Workload) -> None:
    plain = parse_workload(WORKLOAD.replace("  direct: true\n", ""))
    assert write_fio(workload).text.count("direct=1\n") == 2 and "direct=1" not in write_fio(plain).text
    assert "--posix.odirect" in write_ior(workload).text and "odirect" not in write_ior(plain).text
    for exported, said in (
        (write_fio(workload), False),
        (write_ior(workload), False),
        (write_h5bench(workload), True),
    ):
        assert any("O_DIRECT" in note.text for note in exported.notes.all) is said


@needs_engine
def test_the_record_says_so(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(WORKLOAD)
    command = [
        "run",
        str(tmp_path / "app.yaml"),
        "--dir",
        str(tmp_path / "data"),
        "-o",
        str(tmp_path),
        "-q",
        "-n",
        "1",
    ]
    app([*command, "--time-scale", "0"], standalone_mode=False)
    record = json.loads((tmp_path / "run.json").read_text())
    assert [dump["direct"] for dump in record["dumps"]] == [True, True]


def test_another_backend_is_refused(workload: Workload) -> None:
    core = core_plan(resolve(workload, Options()))
    core.refuse("posix")
    core.refuse("null")
    with pytest.raises(Exception, match="the backend stdio opens no files with O_DIRECT"):
        core.refuse("stdio")
