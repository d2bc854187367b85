"""What a study will take, before it runs: trials, bytes, core-hours and wall time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from workalike.study.document import Assumed
from workalike.study.prepare import Prepared

SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True)
class SettingEstimate:
    """One trial of a setting: `seconds` are waiting of the plan, its bytes at the assumed bandwidth, and the launch."""

    setting: str
    ranks: int
    dumps: int
    bytes: int
    seconds: float

    @property
    def core_hours(self) -> float:
        return self.ranks * self.seconds / SECONDS_PER_HOUR


@dataclass(frozen=True)
class Estimate:
    """A whole study; `basis` says where the times come from."""

    settings: list[SettingEstimate]
    a_a: str | None
    blocks: int
    trials_per_block: int
    trials: int
    bytes: int
    seconds: float
    core_hours: float
    largest_trial_bytes: int
    basis: str

    def document(self) -> dict[str, Any]:
        """For JSON."""
        document = asdict(self)
        for shown, setting in zip(document["settings"], self.settings, strict=True):
            shown["core_hours"] = setting.core_hours
        return document


def estimate(
    settings: Sequence[Prepared],
    a_a: str | None,
    blocks: int,
    assumed: Assumed,
    bandwidth: float | None = None,
) -> Estimate:
    """The estimate of a study. A measured `bandwidth` (bytes per second) replaces the assumed one."""
    rate = bandwidth or float(assumed.bandwidth)
    each = [_of_setting(prepared, rate, assumed.launch) for prepared in settings]
    arms = each + [arm for arm in each if arm.setting == a_a]
    what = "measured" if bandwidth else "assumed"
    return Estimate(
        settings=each,
        a_a=a_a,
        blocks=blocks,
        trials_per_block=len(arms),
        trials=blocks * len(arms),
        bytes=blocks * sum(arm.bytes for arm in arms),
        seconds=blocks * sum(arm.seconds for arm in arms),
        core_hours=blocks * sum(arm.core_hours for arm in arms),
        largest_trial_bytes=max((arm.bytes for arm in each), default=0),
        basis=f"waiting of the plan, {rate / 2**20:.0f} MiB/s {what}, {assumed.launch:g} s to launch",
    )


def _of_setting(prepared: Prepared, rate: float, launch_s: float) -> SettingEstimate:
    moved = prepared.bytes
    io_s = 0.0 if prepared.counts_only else moved / rate + launch_s
    return SettingEstimate(
        setting=prepared.setting.id,
        ranks=prepared.plan.ranks,
        dumps=len(prepared.plan.dumps),
        bytes=moved,
        seconds=prepared.waiting_s + io_s,
    )
