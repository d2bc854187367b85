"""The calls of a rank as objects: made in parts, none lost, and refused beyond a limit before the first is given."""

from __future__ import annotations

import pytest

from workalike.errors import WorkalikeError
from workalike.plan import timeline as module
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.plan.timeline import timeline
from workalike.workload.model import Workload


@pytest.fixture
def plan() -> Plan:
    family = {
        "role": "output",
        "interface": "posix",
        "sharing": "per-rank",
        "schedule": {"count": 2, "first": "1 s", "every": "5 s"},
        "content": {"streams": [{"direction": "write", "sizes": ["10/rank x 4 KiB"]}]},
    }
    return resolve(Workload.model_validate({"workalike": 2, "ranks": 2, "families": [family]}), Options())


@pytest.mark.parametrize("at_once", [1, 7, 1000])
def test_all_calls_in_order(plan: Plan, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", at_once)
    calls = list(timeline(plan, 1))
    writes = [(call.dump, call.offset, call.length) for call in calls if call.call == "write"]
    assert writes == [(dump, 4096 * i, 4096) for dump in range(2) for i in range(10)]
    assert [call.start_s for call in calls] == sorted(call.start_s for call in calls)


def test_a_rank_with_more_calls_is_refused_at_once(plan: Plan) -> None:
    with pytest.raises(WorkalikeError, match="more than 5 operations"):
        timeline(plan, 0, most=5)
