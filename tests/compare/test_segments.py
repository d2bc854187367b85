"""A replica's trace is held against its plan: errors that leave all counters as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from needed import needs_engine, needs_mpiexec

from workalike.characterize import characterize
from workalike.compare.fidelity import fidelity_of
from workalike.compare.inputs import characterized_replica
from workalike.compare.pairing import pair_up
from workalike.compare.segments import segment_rows
from workalike.darshan import open_logs
from workalike.launch.run import REPLICA_LOG, RunOptions, run_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.replica.replicate import Sizing, replicate_into
from workalike.workload.model import Workload

pytestmark = [
    pytest.mark.mpi,
    needs_engine,
    needs_mpiexec,
]


def workload(interface: str, **of_streams: Any) -> Workload:
    """Each of four ranks writes its blocks of one file."""
    stream = {"direction": "write", "sizes": ["25/rank x 4 KiB"], **of_streams}
    family = {
        "role": "checkpoint",
        "interface": interface,
        "sharing": "shared",
        "schedule": {"count": 1, "first": "1 s"},
        "content": {"streams": [stream]},
    }
    return Workload.model_validate({"workalike": 2, "ranks": 4, "families": [family]})


def performed(plan: Plan, folder: Path) -> Path:
    """The log, with traces, of a run of the plan."""
    folder.mkdir()
    run_plan(plan, RunOptions(folder / "data", folder, quiet=True, capture=True, traces=True))
    return folder / REPLICA_LOG


def verdict(right: Workload, plan: Plan, log: Path) -> tuple[str, list[tuple[str, int | None, int | None]]]:
    fidelity = fidelity_of(pair_up(right, characterized_replica(open_logs([log])), plan=plan))
    return fidelity.verdict.grade, [(r.counter, r.expected, r.found) for r in fidelity.verdict.reasons]


def turned(plan: Plan) -> Plan:
    """The same plan with the ranks' places in the file turned by one."""
    (content,) = plan.contents
    size = 4096
    per_rank = [
        content.streams[0].model_copy(
            update={"ranks": [(rank, rank, 1)], "base": (rank + 1) % 4 * 25 * size, "entries": [(25, size)]}
        )
        for rank in range(4)
    ]
    return plan.model_copy(update={"contents": [content.model_copy(update={"streams": per_rank})]})


def test_ranks_that_only_join_collective_calls(tmp_path: Path) -> None:
    """26 calls for four ranks: two of them join the last one without data."""
    right = workload("mpiio", sizes=["26 x 4 KiB"], collective=True)
    plan = resolve(right, Options(time_scale=0))
    log = performed(plan, tmp_path / "right")
    pairing = pair_up(right, characterized_replica(open_logs([log])), plan=plan)
    assert [(row.expected, row.found) for row in segment_rows(pairing)] == [(26, 26)]


@pytest.mark.parametrize("interface", ["posix", "mpiio"])
def test_ranks_in_each_others_places(interface: str, tmp_path: Path) -> None:
    right = workload(interface)
    plan = resolve(right, Options(time_scale=0))
    assert verdict(right, plan, performed(plan, tmp_path / "right")) == ("exact", [])
    grade, reasons = verdict(right, plan, performed(turned(plan), tmp_path / "wrong"))
    assert grade in ("close", "different")
    assert reasons == [("SEGMENTS", 100, 0)]


def test_a_replica_of_a_traced_log_is_traced(tmp_path: Path) -> None:
    """The original's log has traces, so the replica's has them, too."""
    plan = resolve(workload("posix"), Options(time_scale=0))
    found = characterize(open_logs([performed(plan, tmp_path / "original")]))
    out = tmp_path / "out"
    out.mkdir()
    replica = replicate_into(
        found,
        Options(time_scale=0),
        RunOptions(out / "data", out, quiet=True, capture=True),
        sizing=Sizing(full=True, time=False),
        scratch=True,
    )
    assert replica.fidelity.verdict.grade == "exact"
    log = open_logs([out / REPLICA_LOG])[0]
    assert log.dxt("DXT_POSIX") is not None


def test_a_trace_that_is_not_complete_says_nothing(tmp_path: Path) -> None:
    """Files with fewer segments than calls: the counters alone are compared."""
    right = workload("posix")
    plan = resolve(right, Options(time_scale=0))
    log = performed(turned(plan), tmp_path / "wrong")
    replica = characterized_replica(open_logs([log]))
    for family in replica.families:
        for file in family.files():
            facts = file.modules["POSIX"]
            facts.counters[:, facts.counter_names.index("WRITES")] += 1
    rows = fidelity_of(replace(pair_up(right, replica, plan=plan))).verdict.reasons
    assert "SEGMENTS" not in {row.counter for row in rows}
