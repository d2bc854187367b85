"""What ranks do while they wait: the original's share of CPU time, or what the user says."""

from __future__ import annotations

from typing import Any

import pytest

from workalike.launch import waiting
from workalike.launch.waiting import schedule_words, waiting_words
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Workload


def workload(**more: Any) -> Workload:
    family = {
        "role": "output", "interface": "posix", "schedule": {"start": [1]},
        "content": {"streams": [{"direction": "write", "sizes": ["4 x 1 KiB"]}]},
    }  # fmt: skip
    return Workload.model_validate({"workalike": 2, "ranks": 4, "families": [family], **more})


@pytest.mark.parametrize(
    ("cpu_share", "asked", "planned"),
    [
        (None, "auto", ("sleep", None)),
        (0.3, "auto", ("busy", 0.3)),
        (0.0, "auto", ("busy", 0.0)),
        (0.3, "sleep", ("sleep", None)),
        (0.3, "busy", ("busy", None)),
        (None, "memory", ("memory", None)),
    ],
)
def test_the_share_of_the_workload(
    cpu_share: float | None, asked: Any, planned: tuple[str, float | None]
) -> None:
    plan = resolve(workload(cpu_share=cpu_share), Options(gap_fill=asked))
    assert (plan.gap_fill, plan.cpu_share) == planned


def test_the_user_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting.os, "cpu_count", lambda: 2)
    assert "ranks sleep" in str(waiting_words(workload(), "auto", 4, 1.0))
    words = str(waiting_words(workload(cpu_share=0.3), "auto", 4, 1.0))
    assert "30% of the time" in words and "4 ranks share 2 cores" in words
    assert "cores" not in str(waiting_words(workload(cpu_share=0.3), "auto", 2, 1.0))


def test_a_long_schedule_is_announced() -> None:
    assert (
        schedule_words(7140.0, 0.01)
        == "this takes about 71.4 s, less where calls are faster than the original's"
    )
    assert schedule_words(7140.0, 0.001) is None
    assert schedule_words(7140.0, 0.0) is None


@pytest.mark.parametrize(("asked", "time_scale"), [("sleep", 1.0), ("busy", 1.0), ("auto", 0.0)])
def test_nothing_to_say(asked: str, time_scale: float) -> None:
    assert waiting_words(workload(cpu_share=0.3), asked, 4, time_scale) is None
