"""The programs of the package: small workloads that the engine performs, resolved for given ranks."""

from __future__ import annotations

from pathlib import Path

from workalike.evidence.words import Program
from workalike.plan.core import core_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.record.counted import counted_dumps
from workalike.workload.model import Workload
from workalike.workload.workload_file import read_workload

FOLDER = Path(__file__).parent / "workloads"
REPEATED = Program.SHARED_COLLECTIVE
"""The workload whose variance is measured."""


def workload_of(program: Program) -> Workload:
    """The workload as shipped."""
    return read_workload(FOLDER / f"{program.value}.yaml")


def plan_of(program: Program, ranks: int) -> Plan:
    """The plan for a number of ranks: the bytes of a rank stay as they are, and so do the times."""
    return resolve(workload_of(program), Options(ranks=ranks, scaling="weak", time_scale=1.0))


def bytes_of(plan: Plan) -> int:
    """Bytes that a plan writes and reads."""
    dumps = counted_dumps(plan, core_plan(plan))
    return sum(dump["bytes_written"] + dump["bytes_read"] for dump in dumps)
