"""The page of a study, made from its finished trials."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from workalike.study.driver import DECIDED
from workalike.study.in_memory import in_memory_text
from workalike.study.journal import MANIFEST, Finished, Row, read_manifest
from workalike.study.machine_file import read_machines
from workalike.study.measured import counted_value, objective_value
from workalike.study.objective import DEFAULT, Objective
from workalike.study.report.page import write_study_report
from workalike.study.report.scaling import STRONG, WEAK
from workalike.study.report.table import COUNTS, DumpTable, StudyTable
from workalike.study.share_of_ceiling import possible_of
from workalike.study.spread import started_at
from workalike.study.statistics.any_look import ONE_LOOK
from workalike.study.statistics.intervals import Method
from workalike.study.stopping import Stopping
from workalike.study.trial import A_A, FAILED, OK


def write_results_page(
    folder: Path,
    title: str,
    factors: Sequence[str],
    finished: Sequence[Finished],
    stopping: Stopping | None = None,
    *,
    ended: bool = False,
    search: str = "",
    objectives: tuple[Objective, ...] = DEFAULT,
    counts: Mapping[str, str] = COUNTS,
    method: Method = Method.STUDENT,
) -> Path | None:
    """Write `report.html` and its figures; None where no trial that counts has a value of the objective.

    Args:
        folder: of the study's results.
        title: of the page.
        factors: their names.
        finished: the trials.
        stopping: of a study that ends by its results.
        ended: its budget ended before.
        search: what the search found that chose the settings.
        objectives: what settings are compared by; the first decides.
        method: of intervals.
        counts: factors that set `ranks` or `nodes`; by default those of these names.

    Raises:
        WorkalikeError: NOT_INSTALLED without scipy; CANNOT_WRITE; BAD_STUDY for a damaged machine file.
    """
    ordered = sorted(finished, key=lambda row: (row.trial["block"], row.trial.get("position", 0)))
    if not any(objective_value(row, objectives[0]) > 0 for row in ordered):
        return None
    table = study_table(
        title,
        factors,
        ordered,
        stopping,
        ended=ended,
        search=search,
        objectives=objectives,
        counts=counts,
        method=method,
    )
    manifest = read_manifest(folder) if (folder / MANIFEST).exists() else {}
    table = replace(table, planned=_planned(manifest), in_memory=in_memory_text(ordered, manifest))
    if machines := read_machines(folder):
        study = manifest.get("study")
        drops = isinstance(study, dict) and study.get("caches") == "drop"
        table = replace(table, possible=possible_of(ordered, machines, drops_caches=drops))
    return write_study_report(folder, table)


def _planned(manifest: Mapping[str, Any]) -> int:
    """Trials of all blocks; 0 where the manifest does not say, and where results have ended the study."""
    settings, blocks = manifest.get("settings"), manifest.get("blocks")
    if manifest.get("state") == DECIDED or not isinstance(settings, list) or not isinstance(blocks, int):
        return 0
    return blocks * (len(settings) + bool(manifest.get("a_a")))


def study_table(
    title: str,
    factors: Sequence[str],
    finished: Sequence[Finished],
    stopping: Stopping | None = None,
    *,
    ended: bool = False,
    search: str = "",
    objectives: tuple[Objective, ...] = DEFAULT,
    counts: Mapping[str, str] = COUNTS,
    method: Method = Method.STUDENT,
) -> StudyTable:
    """The columns of a study. Trials that do not count have no values, which makes them failed ones for the statistics."""
    rows = [row.trial for row in finished]
    settings = [str(row["setting"]) for row in rows]
    copies = [str(row["setting"]) for row in rows if row.get("arm")]
    originals = [name.removesuffix(f" ({A_A})") for name in copies]
    same = (originals[0], copies[0]) if copies and originals[0] in settings else None
    reviews = None
    if stopping is not None and stopping.reference in settings:
        reviews = stopping.reviews(finished, copies[0] if same else None, ended=ended)
    return StudyTable(
        block=np.array([row["block"] for row in rows], dtype=np.int64),
        setting=settings,
        bandwidth=_column(finished, Objective.BANDWIDTH),
        wall_s=_column(finished, Objective.WALL_TIME),
        io_time_s=_column(finished, Objective.IO_TIME),
        slowest_dump_s=_column(finished, Objective.SLOWEST_DUMP),
        factors={name: [str(row.get(name)) for row in rows] for name in factors},
        dumps=_dumps(finished),
        reference=same[0] if same else reviews.reference if reviews else None,
        same=same,
        title=title,
        reviews=reviews,
        looks=stopping.looks(finished) if stopping is not None else ONE_LOOK,
        search=search,
        objectives=objectives,
        scaling=[_scaling_of(row) for row in rows],
        counts=counts,
        method=method,
        write_time_s=np.array([counted_value(row, "write_time_s") for row in rows], dtype=np.float64),
        started=np.array([_seconds_of(started_at(row)) for row in finished], dtype=np.float64),
        states=[state_of(row) for row in rows],
    )


def state_of(row: Row) -> str:
    """Why a trial does not count, or `ok`."""
    return OK if row.get("counted") else str(row.get("state") or FAILED)


def _seconds_of(moment: datetime | None) -> float:
    """Seconds since 1970; NaN without a time."""
    return math.nan if moment is None else moment.timestamp()


def _scaling_of(row: Row) -> str:
    """Weak or strong, as a trial was asked for; empty where its ranks are not set, or not known."""
    asked = row.get("asked")
    if not isinstance(asked, dict) or "ranks" not in asked:
        return ""
    word = asked.get("scaling", STRONG)
    return word if word in (WEAK, STRONG) else ""


def _column(finished: Sequence[Finished], objective: Objective) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([objective_value(row, objective) for row in finished], dtype=np.float64)


def _dumps(finished: Sequence[Finished]) -> DumpTable:
    """The dumps of trials, numbered in the order of their starts; those of trials that do not count have no time."""
    rows = [
        (trial, index, *_dump_values(dump, is_counted=bool(row.trial.get("counted"))))
        for trial, row in enumerate(finished)
        for index, dump in enumerate(sorted(row.dumps, key=lambda dump: dump["start_s"]))
        if dump["io_time_s"] is not None
    ]
    columns = np.array(rows, dtype=np.float64).reshape(-1, 7).T
    return DumpTable(columns[0].astype(np.int64), columns[1].astype(np.int64), *columns[2:])


def _dump_values(dump: Row, *, is_counted: bool) -> tuple[float, ...]:
    """Bytes, seconds, bytes written, seconds of the run at its end, and bytes planned; NaN where not known."""
    planned = dump.get("planned_bytes")  # earlier versions did not write it
    return (
        dump["bytes_written"] + dump["bytes_read"],
        dump["io_time_s"] if is_counted else math.nan,
        dump["bytes_written"],
        dump["end_s"],
        math.nan if planned is None else planned,
    )
