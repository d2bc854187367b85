"""Runs what the log's workload does and what a change makes of it, block by block, and compares their times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from workalike.diagnose.change import Change
from workalike.diagnose.finding import Tried
from workalike.diagnose.trying.workloads import changed_workload
from workalike.errors import WorkalikeError
from workalike.files import make_folder, write_text
from workalike.launch.engines import engine_if_built
from workalike.launch.possible import refuse_impossible
from workalike.leftovers import scratch_folder
from workalike.plan.resolve import Options, resolve
from workalike.replica.machine import fit_to_machine
from workalike.study.driver import DriverOptions, run_study
from workalike.study.journal import Finished
from workalike.study.layouts.base import CannotSet
from workalike.study.layouts.registry import kind_of, layout_of
from workalike.study.objective import Objective
from workalike.study.results_page import write_results_page
from workalike.study.statistics.ratios import Ratio, paired_ratio
from workalike.study.statistics.table import Trials, geometric_means
from workalike.study.study_file import read_study
from workalike.study.system import file_system_of, node_count
from workalike.study.targets import wanted
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


@dataclass(frozen=True)
class Made:
    """What a change made of a workload. `layout` is that of its files on servers; empty: the file system's own."""

    workload: Workload
    layout: Mapping[str, Any] = field(default_factory=dict)


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
    scale = _scale(workload, options)
    made: dict[str, Made] = {}
    reasons: dict[str, str] = {}
    for name, change in {change.name: change for _, change in changes}.items():
        after = _make(workload, change, scale, options)
        if isinstance(after, str):
            reasons[name] = after
        else:
            made[name] = after
    times = _measured(workload, made, scale, options) if made else {}
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


def _make(workload: Workload, change: Change, scale: Options, options: TryOptions) -> Made | str:
    """What a change makes of a workload; or why the workload, the engine or the file system cannot do it."""
    after = changed_workload(workload, change, scale.ranks)
    if isinstance(after, str):
        return after
    try:
        refuse_impossible(engine_if_built(), resolve(after, scale), None)
    except WorkalikeError as error:
        return f"it cannot be run here: {error.message}"
    if not change.layouts:
        return Made(after)
    reason = ""
    for layout in change.layouts:
        reason = _refused(layout, options.directory or options.out, scale.ranks or after.ranks)
        if not reason:
            return Made(after, layout)
    return reason


def _refused(layout: Mapping[str, Any], place: Path, ranks: int) -> str:
    """Why a file system does not take a layout; empty if it does."""
    kind = kind_of(place, file_system_of(place)["type"])
    asked = wanted({f"layout.{name}": value for name, value in layout.items()}).layout
    with scratch_folder(place) as folder:
        try:
            kind.apply(folder, layout_of(asked, kind, folder, ranks=ranks, nodes=node_count()))
        except CannotSet as error:
            return str(error)
    return ""


def _measured(
    workload: Workload, made: Mapping[str, Made], scale: Options, options: TryOptions
) -> dict[str, Trials]:
    files = {AS_IS: workload} | {name: after.workload for name, after in made.items()}
    for name, changed in files.items():
        write_workload(changed, options.out / f"{name}.yaml")
    document = {
        "study": 1,
        "title": "What changes gain",
        "objective": Objective.IO_TIME.value,
        "workloads": {name: f"{name}.yaml" for name in files},
        "factors": _factors({name: after.layout for name, after in made.items()}),
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
    write_results_page(
        results, "What changes gain", ["workload"], outcome.finished, objectives=(Objective.IO_TIME,)
    )
    return {name: _times(outcome.finished, name) for name in made}


def _factors(layouts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The factors of a study that give a workload of a name its layout, and others none."""
    values = [(name, field, value) for name, layout in layouts.items() for field, value in layout.items()]
    return {
        f"{field}_{number}": {"set": f"layout.{field}", "levels": [value], "when": f"workload == '{name}'"}
        for number, (name, field, value) in enumerate(values)
    }


def _times(finished: Sequence[Finished], name: str) -> Trials:
    """The I/O times of the workload as it is and of one change, by block."""
    rows = [row.trial for row in finished if row.trial["workload"] in (AS_IS, name)]
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
    mean = geometric_means(trials)[AS_IS]
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
