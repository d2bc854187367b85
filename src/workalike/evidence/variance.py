"""The same workload again and again: how much its bandwidth varies."""

from __future__ import annotations

from workalike.evidence.bench import Bench, NotMeasured, reported
from workalike.evidence.document import LeftOut, Variance, spread_of
from workalike.evidence.programs import REPEATED, bytes_of, plan_of
from workalike.evidence.words import Part, Reason


def measure_variance(bench: Bench, repeats: int) -> tuple[Variance, list[LeftOut]]:
    """The bandwidths of the runs that there was time for, and what is missing."""
    plan = plan_of(REPEATED, bench.placement.ranks)
    values: list[float] = []
    reason: Reason | None = None
    needed = bench.seconds_of(plan)
    for number in range(repeats):
        try:
            with reported(bench, f"repeat {number + 1}"):
                if bench.left_s < needed:
                    raise NotMeasured(Reason.NO_TIME)
                ran = bench.run(plan, "repeat")
        except NotMeasured as error:
            reason = error.reason
            bench.skip(repeats - number)
            break
        needed = max(needed, ran.took_s)
        if ran.bandwidth is not None:
            values.append(ran.bandwidth)
    missing = repeats - len(values)
    variance = Variance(
        workload=REPEATED,
        bytes=bytes_of(plan),
        bandwidth=spread_of(values) if values else None,
        not_measured=None if values else reason or Reason.FAILED,
    )
    if not missing:
        return variance, []
    return variance, [
        LeftOut(part=Part.VARIANCE, program=None, missing=missing, reason=reason or Reason.FAILED)
    ]
