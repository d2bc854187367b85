"""One storage target is slow."""

from __future__ import annotations

from statistics import median

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.costs import META, READ, WRITE, explained, seconds
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Answer, CannotTell, Found, Parameters, Rule, Seen, Sure
from workalike.facts.records import BoolArray, FloatArray
from workalike.text import seconds_text

LEAST_TARGETS = 3


class Limits(Parameters):
    ratio: float = Field(3.0, gt=0, description="Median file time of the target / median of the targets.")
    z: float = Field(8.0, gt=0, description="Robust z score of it.")
    files: int = Field(8, ge=2, description="Files on a target.")


def find(job: Job, limits: Limits) -> Found:
    """Median time of a family's files on each target, against those of the other targets."""
    times = seconds(job, READ, WRITE, META)
    few = CannotTell(f"no file family has {limits.files} files on each of 3 targets")
    used = (times > 0) & job.own
    if np.count_nonzero(used) < limits.files:
        return few
    on = _targets(job, used)
    out: list[Seen] = []
    compared = False
    spent = times.tolist()
    for _, targets in sorted(_by_family(on, job.family.tolist()).items()):
        medians = {t: median([spent[row] for row in r]) for t, r in targets.items() if len(r) >= limits.files}
        if len(medians) < LEAST_TARGETS:
            continue
        compared = True
        middle, slow = _slow(medians, limits)
        if slow:
            out.append(_seen(job, times, {t: targets[t] for t in slow}, medians, middle))
    return out if compared else few


def _targets(job: Job, used: BoolArray) -> dict[int, list[int]]:
    """Target -> rows of those used files that have a stripe on it."""
    on: dict[int, list[int]] = {}
    rows = {number: row for row, number in enumerate(job.facts.record_ids.tolist())}
    seen: set[int] = set()
    for log in job.logs:
        table = log.lustre()
        for place, number in enumerate(table.ids.tolist()):
            row = rows.get(number)
            if row is not None and used[row] and row not in seen:
                seen.add(row)
                for target in table[place].osts.tolist():
                    on.setdefault(target, []).append(row)
    return on


def _by_family(on: dict[int, list[int]], family_of: list[int]) -> dict[int, dict[int, list[int]]]:
    """Family -> target -> rows."""
    out: dict[int, dict[int, list[int]]] = {}
    for target, rows in on.items():
        for row in rows:
            out.setdefault(family_of[row], {}).setdefault(target, []).append(row)
    return out


def _slow(medians: dict[int, float], limits: Limits) -> tuple[float, list[int]]:
    """The median over the targets, and the targets far above it, slowest first."""
    values = np.array(list(medians.values()))
    middle = float(np.median(values))
    spread = max(1.4826 * float(np.median(np.abs(values - middle))), 0.01 * middle, 1e-9)
    slow = [t for t, m in medians.items() if m >= limits.ratio * middle and (m - middle) / spread >= limits.z]
    return middle, sorted(slow, key=lambda t: -medians[t])


def _seen(
    job: Job, times: FloatArray, slow: dict[int, list[int]], medians: dict[int, float], middle: float
) -> Seen:
    worst = next(iter(slow))
    here = np.zeros(len(job), dtype=bool)
    for rows in slow.values():
        here[rows] = True
    share = np.where(here, 1 - counts.ratio(np.full(len(job), middle), times), 0).clip(0)
    formula = "time of the files on it - median time on the targets"
    cost = explained(job, share, (READ, WRITE, META), formula, median_s=middle, slow_median_s=medians[worst])
    named = ", ".join(map(str, list(slow)[:4]))
    text = (
        f"target {named}: a file takes {seconds_text(medians[worst])}, on the median target "
        f"{seconds_text(middle)} ({medians[worst] / middle:.3g} times)"
    )
    evidence = {
        "target": float(worst),
        "slow_targets": float(len(slow)),
        "median_s": middle,
        "slow_median_s": medians[worst],
        "ratio": medians[worst] / middle,
        "files": float(here.sum()),
    }
    return Seen(text, cost, job.families_of(here), evidence, Sure.CERTAIN)


RULE = Rule(
    id="slow-target",
    find=find,
    parameters=Limits,
    title="one storage target is slow",
    seen_as="The median time of the files on one target far exceeds that of the other targets.",
    costs="Time of the files on the target, less the median of the others.",
    advice="Not your fault: report the target to the centre, and avoid it until then.",
    snippet="lfs setstripe -o 1,2,3 FOLDER",
    language="sh",
    needs=("LUSTRE",),
    uses=("POSIX",),
    answer=Answer.NOT_YOUR_FAULT,
)
