"""Acceptance: whether the bandwidths that came back reach what a tender requires (docs/acceptance.md).

The repeats of a workload give an interval of its mean bandwidth. A requirement inside of the interval is undecided: a
bundle with more repeats decides it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import BeforeValidator, Field, ValidationError

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import read_text
from workalike.study.statistics.intervals import interval_of_mean
from workalike.study.statistics.ratios import exp
from workalike.text import plural
from workalike.workload import units
from workalike.workload.quantities import Strict
from workalike.workload.workload_file import first_error, load_yaml

if TYPE_CHECKING:
    from workalike.bundle.collect import Collected

LEAST_RUNS = 3
"""Runs below which the spread of repeats is unknown."""
HINT = "docs/acceptance.md has an example"


class Verdict(Enum):
    PASSED = "pass"
    FAILED = "fail"
    UNDECIDED = "undecided"


def _bandwidth(value: object) -> object:
    if not isinstance(value, str) or not value.rstrip().endswith("/s"):
        raise ValueError("a bandwidth is a size per second, such as 400 MiB/s")
    return units.parse_size(value.rstrip().removesuffix("/s"))


class Requirement(Strict):
    """What a tender requires of one workload: bytes per second, and the workload's share of the score."""

    at_least: Annotated[int, BeforeValidator(_bandwidth), Field(gt=0)]
    weight: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] = 1.0


class Criteria(Strict):
    """An acceptance file. `confidence` is that of the intervals."""

    acceptance: Literal[1]
    confidence: Annotated[float, Field(ge=0.5, le=0.999, allow_inf_nan=False)] = 0.95
    workloads: Annotated[dict[str, Requirement], Field(min_length=1, max_length=1000)]


@dataclass(frozen=True)
class Judged:
    """A workload against its requirement; bandwidths in bytes per second, NaN where no run counts."""

    workload: str
    weight: float
    at_least: float
    bandwidth: float
    low: float
    high: float
    runs: int
    left_out: int
    verdict: Verdict

    @property
    def reason(self) -> str:
        if self.left_out:
            return f"{self.left_out} of {self.runs + self.left_out} runs are left out"
        if self.runs < LEAST_RUNS:
            return f"{plural(self.runs, 'run')} cannot show how far repeats differ: {LEAST_RUNS} at least"
        return {
            Verdict.PASSED: "the whole interval reaches the requirement",
            Verdict.FAILED: "the whole interval is below the requirement",
            Verdict.UNDECIDED: "the requirement is inside of the interval: send a bundle with more repeats",
        }[self.verdict]


@dataclass(frozen=True)
class Acceptance:
    """All workloads. `score`: the geometric mean of bandwidth / requirement, weighted; NaN where one has no run."""

    workloads: tuple[Judged, ...]
    score: float
    confidence: float

    @property
    def verdict(self) -> Verdict:
        """Passed where all workloads are, failed where one is."""
        verdicts = {judged.verdict for judged in self.workloads}
        if Verdict.FAILED in verdicts:
            return Verdict.FAILED
        return Verdict.UNDECIDED if Verdict.UNDECIDED in verdicts else Verdict.PASSED

    def document(self) -> dict[str, object]:
        """For JSON: what is unknown is null."""
        rows = [
            {
                **{key: None if _is_unknown(value) else value for key, value in asdict(judgement).items()},
                "verdict": judgement.verdict.value,
                "reason": judgement.reason,
            }
            for judgement in self.workloads
        ]
        score = None if _is_unknown(self.score) else self.score
        return {
            "verdict": self.verdict.value,
            "score": score,
            "confidence": self.confidence,
            "workloads": rows,
        }


def _is_unknown(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def read_criteria(path: Path) -> Criteria:
    """Read an acceptance file.

    Raises:
        WorkalikeError: MISSING, or BAD_STUDY naming the place.
    """
    try:
        _, document = load_yaml(read_text(path, ErrorKind.BAD_STUDY), path, HINT)
        return Criteria.model_validate(document)
    except ValidationError as error:
        place, message = first_error(error)
        raise WorkalikeError(ErrorKind.BAD_STUDY, message, file=path, place=place, hint=HINT) from error


def refuse_other_workloads(criteria: Criteria, names: Sequence[str], file: Path) -> None:
    """Refuse criteria that name other workloads than a bundle has.

    Args:
        names: the workloads of the bundle.
        file: the criteria's, for messages.

    Raises:
        WorkalikeError: BAD_STUDY.
    """
    if set(names) != set(criteria.workloads):
        odd = sorted(set(names) ^ set(criteria.workloads))
        raise WorkalikeError(
            ErrorKind.BAD_STUDY,
            f"the bundle and the criteria differ in workloads: {', '.join(odd)[:200]}",
            file=file,
            hint="name each workload of the bundle once",
        )


def judge(criteria: Criteria, collected: Collected) -> Acceptance:
    """Judge what was collected of the criteria's workloads."""
    judged = tuple(_judged(name, criteria, collected) for name in criteria.workloads)
    whole = sum(judgement.weight for judgement in judged)
    logs = [
        judgement.weight / whole * math.log(judgement.bandwidth / judgement.at_least) for judgement in judged
    ]
    return Acceptance(judged, exp(sum(logs)), criteria.confidence)


def _judged(name: str, criteria: Criteria, collected: Collected) -> Judged:
    required = criteria.workloads[name]
    rates, left_out = collected.bandwidths(name)
    low = high = mean = math.nan
    if rates:
        logs = np.log(np.array(rates))
        mean = exp(float(np.mean(logs)))
    if len(rates) >= LEAST_RUNS:
        low, high = (exp(end) for end in interval_of_mean(logs, criteria.confidence))
    return Judged(
        workload=name,
        weight=required.weight,
        at_least=required.at_least,
        bandwidth=mean,
        low=low,
        high=high,
        runs=len(rates),
        left_out=left_out,
        verdict=_verdict(required.at_least, low, high, left_out),
    )


def _verdict(at_least: float, low: float, high: float, left_out: int) -> Verdict:
    if left_out or high < at_least:
        return Verdict.FAILED
    return Verdict.PASSED if low >= at_least else Verdict.UNDECIDED
