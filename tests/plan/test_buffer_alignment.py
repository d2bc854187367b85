"""Where buffers of reads begin: a setting of the workload that reaches the plan, the engine and the record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from workalike.launch.run import RunOptions, run_plan
from workalike.plan.plan_file import plan_text, read_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import assemble
from workalike.workload.tunable import Tunable
from workalike.workload.workload_file import read_workload

WORKLOAD = """\
workalike: 2
ranks: 1
families:
- role: input
  interface: {interface}
  sharing: per-rank
  schedule: {{count: 1, first: 0 s, every: 1 s}}
  content: {{streams: [{{direction: read, sizes: [3/rank x 12 KiB, 1/rank x 1 MiB]}}]}}
  {tunable}
"""


def plan_of(folder: Path, interface: str, tunable: str = "") -> Plan:
    (folder / "app.yaml").write_text(WORKLOAD.format(interface=interface, tunable=tunable))
    return resolve(read_workload(folder / "app.yaml"), Options())


def test_it_is_left_out_where_it_is_the_default(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "posix")
    assert "buffer_alignment" not in plan_text(plan)
    aligned = plan_of(tmp_path, "posix", "tunable: {buffer_alignment: 4 KiB}")
    assert aligned.families[0].buffer_alignment == 4096
    (tmp_path / "plan.json").write_text(plan_text(aligned))
    assert read_plan(tmp_path / "plan.json") == aligned


@pytest.mark.parametrize("size", [3, 0, 2**31, 4097])
def test_it_is_a_power_of_two(tmp_path: Path, size: int) -> None:
    with pytest.raises(ValidationError, match="power of two"):
        Tunable(buffer_alignment=size)


@pytest.mark.mpi
@pytest.mark.parametrize("interface", ["posix", "mpiio", "stdio"])
@pytest.mark.parametrize("alignment", [None, 64, 4096, 2**30])
def test_the_engine_reads_and_the_record_states_it(
    tmp_path: Path, interface: str, alignment: int | None
) -> None:
    tunable = f"tunable: {{buffer_alignment: {alignment} B}}" if alignment else ""
    run_plan(plan_of(tmp_path, interface, tunable), RunOptions(tmp_path / "data", tmp_path, quiet=True))
    (dump,) = assemble(tmp_path / "run.jsonl").dumps
    assert dump.bytes_read == 3 * 12288 + 2**20 and dump.buffer_alignment == alignment
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    stated: list[dict[str, Any]] = [line for line in lines if "buffer_alignment" in line]
    assert len(stated) == (1 if alignment else 0)


@pytest.mark.mpi
def test_the_core_refuses_another_number(tmp_path: Path) -> None:
    from workalike.errors import WorkalikeError
    from workalike.plan.core import core_plan

    plan = plan_of(tmp_path, "posix")
    plan.families[0].buffer_alignment = 48
    with pytest.raises(WorkalikeError, match="power of two"):
        core_plan(plan)
