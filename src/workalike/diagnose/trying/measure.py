"""Runs what the log's workload does and what a change makes of it, block by block, and compares their times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from workalike.diagnose.change import Change
from workalike.diagnose.finding import Tried
from workalike.diagnose.trying.workloads import changed_workload
from workalike.errors import WorkalikeError
from workalike.files import make_folder, write_text
from workalike.launch.possible import refuse_impossible
from workalike.launch.run import engine_if_built
from workalike.leftovers import scratch_folder
from workalike.plan.resolve import Options, resolve
from workalike.replica.machine import fit_to_machine
from workalike.study.driver import DriverOptions, run_study
from workalike.study.journal import Finished
from workalike.study.layouts.base import CannotSet
from workalike.study.layouts.registry import kind_of, layout_of
from workalike.study.results_page import write_results_page
from workalike.study.statistics.ratios import Ratio, paired_ratio
from workalike.study.statistics.table import Trials
from workalike.study.study_file import read_study
from workalike.study.system import file_system_of, node_count
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
    scale = _scale(workload, options)
    wanted = {change.name: change for _, change in changes}
    made: dict[str, Workload] = {}
    reasons: dict[str, str] = {}
    for name, change in wanted.items():
        after = changed_workload(workload, change)
        impossible = after if isinstance(after, str) else _impossible(after, change, scale, options)
        if isinstance(after, str) or impossible:
            reasons[name] = impossible
        else:
            made[name] = after
    times: dict[str, Trials] = {}
    if made:
        layouts = {name: wanted[name].layout for name in made}
        times = _measured(workload, made, layouts, scale, options)
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


def _impossible(after: Workload, change: Change, scale: Options, options: TryOptions) -> str:
    """Why the engine or the file system cannot do what a change asks for; empty if they can."""
    try:
        refuse_impossible(engine_if_built(), resolve(after, scale), None)
    except WorkalikeError as error:
        return f"it cannot be run here: {error.message}"
    if not change.layout:
        return ""
    place = options.directory or options.out
    kind = kind_of(place, file_system_of(place)["type"])
    with scratch_folder(place) as folder:
        try:
            asked = layout_of(
                dict(change.layout), kind, folder, ranks=scale.ranks or after.ranks, nodes=node_count()
            )
            kind.apply(folder, asked)
        except CannotSet as error:
            return str(error)
    return ""


def _measured(
    workload: Workload,
    made: dict[str, Workload],
    layouts: Mapping[str, Mapping[str, Any]],
    scale: Options,
    options: TryOptions,
) -> dict[str, Trials]:
    files = {AS_IS: workload, **made}
    for name, one in files.items():
        write_workload(one, options.out / f"{name}.yaml")
    document = {
        "study": 1,
        "title": "What changes gain",
        "workloads": {name: f"{name}.yaml" for name in files},
        "factors": _factors(layouts),
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


def _factors(layouts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The factors of a study that give a workload of a name its layout, and others none."""
    wanted = [(name, field, value) for name, layout in layouts.items() for field, value in layout.items()]
    return {
        f"{field}_{number}": {"set": f"layout.{field}", "levels": [value], "when": f"workload == '{name}'"}
        for number, (name, field, value) in enumerate(wanted)
    }


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
