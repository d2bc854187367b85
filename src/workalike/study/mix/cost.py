"""What a mix will take, before it runs: runs, bytes, and the time that its plans wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from workalike.plan.core import core_plan
from workalike.plan.plan_schema import Plan
from workalike.record.counted import counted_dumps
from workalike.study.mix.document import Mix
from workalike.text import plural, seconds_text, size_text


@dataclass(frozen=True)
class Cost:
    """All rounds of a mix.

    Attributes:
        rounds: as the mix says.
        runs: of all rounds, alone and side by side.
        bytes: written and read by all runs.
        waiting_s: seconds that the plans wait between their dumps, runs after each other added up. I/O comes on top.
    """

    rounds: int
    runs: int
    bytes: int
    waiting_s: float

    def text(self) -> str:
        """In one line."""
        return (
            f"{plural(self.rounds, 'round')} of {plural(self.runs // self.rounds, 'run')}: {size_text(self.bytes)} in "
            f"all, {seconds_text(self.waiting_s)} of waiting, and the time of the I/O"
        )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def cost_of(mix: Mix, plans: Sequence[Plan]) -> Cost:
    """The cost of a mix, of which these are the plans.

    Raises:
        WorkalikeError: as `core_plan`.
    """
    moved, runs, longest, alone_s = 0, 0, 0.0, 0.0
    for part, plan in zip(mix.workloads, plans, strict=True):
        core = core_plan(plan)
        dumps = counted_dumps(plan, core)
        moved += (1 + part.weight) * sum(dump["bytes_written"] + dump["bytes_read"] for dump in dumps)
        runs += 1 + part.weight
        starts = core.times()["start_s"]
        waits = float(starts.max()) * plan.time_scale if len(starts) else 0.0
        alone_s += waits
        longest = max(longest, part.start * mix.time_scale + waits)
    n = mix.repeats
    return Cost(n, n * runs, n * moved, n * (alone_s + longest))
