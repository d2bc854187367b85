"""Rounds of operations that move nothing, as reads at the end of a file do."""

from __future__ import annotations

import pytest

from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Family, Workload


@pytest.mark.parametrize("ranks", [3, 6])
def test_rounds_that_move_nothing_keep_their_distance(ranks: int) -> None:
    stream = {"direction": "read", "pattern": "interleaved", "sizes": ["6 x 0 B"], "stride": 700, "repeat": 2}
    family = Family.model_validate(
        {"role": "input", "interface": "posix", "schedule": {"count": 1}, "content": {"streams": [stream]}}
    )
    plan = resolve(Workload(ranks=3, families=[family]), Options(ranks=ranks))
    (content,) = plan.contents
    assert {planned.stride for planned in content.streams} == {700}
