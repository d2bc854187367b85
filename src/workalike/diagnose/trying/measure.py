"""Runs what the log's workload does and what a change makes of it, block by block, and compares their times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from workalike.diagnose.change import Change
from workalike.diagnose.finding import Tried
from workalike.diagnose.trying.workloads import changed_workload
from workalike.files import make_folder, write_text
from workalike.plan.resolve import Options
from workalike.replica.machine import fit_to_machine
from workalike.study.driver import DriverOptions, run_study
from workalike.study.journal import Finished
from workalike.study.results_page import write_results_page
from workalike.study.statistics.ratios import Ratio, paired_ratio
from workalike.study.statistics.table import Trials
from workalike.study.study_file import read_study
from workalike.workload.model import Workload
from workalike.workload.workload_file import write_workload
from workalike.workload.yaml_text import block

AS_IS = "as-is"
BLOCKS = 6


@dataclass(frozen=True)
class TryOptions:
    """How to try changes: `out` gets the study, its workloads and results; `directory` the data (default: in `out`)."""

    out: Path
    directory: Path | None = None
    ranks: int | None = None
    bytes_scale: Fraction | None = None
    blocks: int = BLOCKS
    report: Callable[[str], None] = lambda _: None


def try_changes(
    workload: Workload, changes: Sequence[tuple[str, Change]], options: TryOptions
) -> list[Tried]:
    """What each change gains, by (rule, change).

    Returns:
        One result for each change, in their order; those that cannot be made have the reason, and no numbers.

    Raises:
        WorkalikeError: as `run_study`.
    """
    make_folder(options.out)
    wanted = {change.name: change for _, change in changes}
    made: dict[str, Workload] = {}
    reasons: dict[str, str] = {}
    for name, change in wanted.items():
        after = changed_workload(workload, change)
        if isinstance(after, str):
            reasons[name] = after
        else:
            made[name] = after
    times: dict[str, Trials] = {}
    scale = _scale(workload, options)
    if made:
        times = _measured(workload, made, scale, options)
    return [
        Tried(rule=rule, change=change.name, says=change.says, reason=reasons[change.name])
        if change.name in reasons
        else _result(rule, change, times[change.name], scale)
        for rule, change in changes
    ]


def _scale(workload: Workload, options: TryOptions) -> Options:
    """Ranks and bytes as in a replica that fits this machine, unless they are given; no waiting."""
    given = Options(ranks=options.ranks, bytes_scale=options.bytes_scale or Fraction(1), time_scale=0.0)
    place = options.directory or options.out
    return fit_to_machine(workload, given, place, scale_bytes=options.bytes_scale is None, scale_time=False)


def _measured(
    workload: Workload, made: dict[str, Workload], scale: Options, options: TryOptions
) -> dict[str, Trials]:
    files = {AS_IS: workload, **made}
    for name, one in files.items():
        write_workload(one, options.out / f"{name}.yaml")
    document = {
        "study": 1,
        "title": "What changes gain",
        "workloads": {name: f"{name}.yaml" for name in files},
        "fixed": {"ranks": scale.ranks, "bytes_scale": str(scale.bytes_scale), "time_scale": 0},
        "blocks": options.blocks,
        "a_a": False,
    }
    path = options.out / "study.yaml"
    write_text(path, block(document))
    results = options.out / "results"
    outcome = run_study(
        read_study(path),
        DriverOptions(out=results, directory=options.directory, report=options.report),
    )
    write_results_page(results, "What changes gain", ["workload"], outcome.finished)
    return {name: _times(outcome.finished, name) for name in made}


def _times(finished: Sequence[Finished], name: str) -> Trials:
    """The I/O times of the workload as it is and of one change, by block."""
    rows = [one.trial for one in finished if one.trial["workload"] in (AS_IS, name)]
    seconds = [row["io_time_s"] if row.get("counted") and row["io_time_s"] else math.nan for row in rows]
    return Trials(
        np.array([row["block"] for row in rows], dtype=np.int64),
        [str(row["workload"]) for row in rows],
        np.array(seconds, dtype=np.float64),
    )


def _result(rule: str, change: Change, trials: Trials, scale: Options) -> Tried:
    found: Ratio = paired_ratio(trials, change.name, AS_IS)
    tried = Tried(
        rule=rule,
        change=change.name,
        says=change.says,
        ranks=scale.ranks,
        bytes_scale=float(scale.bytes_scale),
        blocks=found.pairs,
    )
    if not found.is_known:
        return tried.model_copy(update={"reason": "too few trials of both succeeded"})
    before = [v for v, name in zip(trials.value, trials.setting, strict=True) if name == AS_IS]
    mean = math.exp(float(np.nanmean(np.log(before))))
    return tried.model_copy(
        update={
            "io_time_s": mean,
            "ratio": found.ratio,
            "low": found.low,
            "high": found.high,
            "saved_s": (1 - found.ratio) * mean,
            "saved_low_s": (1 - found.high) * mean,
            "saved_high_s": (1 - found.low) * mean,
            "pays": True if found.high < 1 else False if found.low > 1 else None,
        }
    )
