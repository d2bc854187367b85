"""Files that each dump empties: only files of single ranks, written by calls that can."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Workload


def workload(ranks: int = 1, direction: str = "write", **family: Any) -> Workload:
    document = {
        "role": "checkpoint", "interface": "posix", "lifetime": "reused", "truncate": True,
        "schedule": {"count": 3, "every": "1 s"},
        "content": {"streams": [{"direction": direction, "sizes": ["4/rank x 1 KiB"]}]}, **family,
    }  # fmt: skip
    return Workload.model_validate({"workalike": 2, "ranks": ranks, "families": [document]})


@pytest.mark.parametrize(
    ("ranks", "family", "backend", "emptied"),
    [
        (1, {}, None, True),
        (4, {"sharing": "per-rank"}, None, True),
        (4, {"sharing": {"mode": "root", "ranks": 2}, "interface": "stdio"}, None, True),
        (4, {}, None, False),  # other ranks write into the file
        (1, {}, "null", True),
        (1, {}, "mpiio", False),
    ],
)
def test_files_of_single_ranks_are_emptied(
    ranks: int, family: dict[str, Any], backend: str | None, emptied: bool
) -> None:
    plan = resolve(workload(ranks, **family), Options(backend=backend))
    assert [family.truncate for family in plan.families] == [emptied]


@pytest.mark.parametrize(
    "wrong", [{"lifetime": "appended"}, {"interface": "mpiio"}, {"direction": "read"}], ids=str
)
def test_what_cannot_be_emptied_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="`truncate` empties a file at each dump"):
        workload(**wrong)
