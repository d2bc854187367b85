"""What a study will take, before it runs: trials, bytes, core-hours and wall time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from workalike.study.document import Assumed, Blocks
from workalike.study.known_times import Known
from workalike.study.prepare import Prepared
from workalike.text import plural, rate_text

SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True)
class SettingEstimate:
    """One trial of a setting; `basis` says where its seconds come from."""

    setting: str
    ranks: int
    dumps: int
    bytes: int
    seconds: float
    basis: str

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
    spread_s: float = 0.0
    """From the start of the first block to that of the last, where they are spread; else 0."""

    def document(self) -> dict[str, Any]:
        """For JSON."""
        document = asdict(self)
        for shown, setting in zip(document["settings"], self.settings, strict=True):
            shown["core_hours"] = setting.core_hours
        return document


def estimate(
    settings: Sequence[Prepared],
    a_a: str | None,
    blocks: Blocks,
    assumed: Assumed,
    known: Known | None = None,
) -> Estimate:
    """The estimate of a study, by what is `known` of it, else by what it assumes."""
    rate = known.rate_of_trials(settings) if known is not None else None
    each = [_of_setting(prepared, assumed, known or Known(), rate) for prepared in settings]
    arms = each + [arm for arm in each if arm.setting == a_a]
    return Estimate(
        settings=each,
        a_a=a_a,
        blocks=blocks.count,
        trials_per_block=len(arms),
        trials=blocks.count * len(arms),
        bytes=blocks.count * sum(arm.bytes for arm in arms),
        seconds=blocks.count * sum(arm.seconds for arm in arms),
        core_hours=blocks.count * sum(arm.core_hours for arm in arms),
        largest_trial_bytes=max((arm.bytes for arm in each), default=0),
        basis=_basis(each),
        spread_s=(blocks.every or 0.0) * (blocks.count - 1),
    )


def _basis(each: Sequence[SettingEstimate]) -> str:
    """Where the times of all settings come from; how many settings, where there are several sources."""
    counts = Counter(setting.basis for setting in each)
    if len(counts) < 2:
        return next(iter(counts), "")
    return "; ".join(f"{plural(count, 'setting')}: {basis}" for basis, count in counts.items())


def _of_setting(
    prepared: Prepared, assumed: Assumed, known: Known, rate_of_trials: float | None
) -> SettingEstimate:
    seconds, basis = _time_of(prepared, assumed, known, rate_of_trials)
    return SettingEstimate(
        setting=prepared.setting.id,
        ranks=prepared.plan.ranks,
        dumps=len(prepared.plan.dumps),
        bytes=prepared.bytes,
        seconds=seconds,
        basis=basis,
    )


def _time_of(
    prepared: Prepared, assumed: Assumed, known: Known, rate_of_trials: float | None
) -> tuple[float, str]:
    """(seconds of a trial, where they come from)."""
    waiting, launch = prepared.waiting_s, f"{assumed.launch:g} s to launch"
    finished = known.seconds_of(prepared)
    if finished is not None:
        return finished, "mean of the finished trials of the same plan"
    if prepared.counts_only:
        return waiting, "waiting of the plan, which is only counted"
    if rate_of_trials is not None:
        shown = f"{rate_text(rate_of_trials)} of {plural(known.trials, 'finished trial')}"
        return waiting + prepared.bytes / rate_of_trials, f"waiting of the plan, {shown}"
    named = known.machine_of(prepared)
    io = known.io_seconds(prepared, named[1]) if named is not None else None
    if named is not None and io is not None:
        shown = f"{io[1]}, which one process gets by {named[0]}"
        return waiting + io[0] + assumed.launch, f"waiting of the plan, {shown}, {launch}"
    rate = float(assumed.bandwidth)
    shown = f"{rate / 2**20:.0f} MiB/s assumed"
    return waiting + prepared.bytes / rate + assumed.launch, f"waiting of the plan, {shown}, {launch}"
