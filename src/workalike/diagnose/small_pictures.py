"""Small pictures of a finding's files: the sizes of their operations, or the ranks' times."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from markupsafe import Markup

from workalike.darshan.bins import SIZE_BINS
from workalike.diagnose import counts
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Picture
from workalike.facts.records import FloatArray

HEIGHT_IN = 1.3
MOST_BARS = 256
"""Bars of ranks; of more ranks, neighbours share a bar with the largest time."""
BIN_LABELS = (
    "≤ 100 B",
    "≤ 1 KiB",
    "≤ 10 KiB",
    "≤ 100 KiB",
    "≤ 1 MiB",
    "≤ 4 MiB",
    "≤ 10 MiB",
    "≤ 100 MiB",
    "≤ 1 GiB",
    "> 1 GiB",
)
READ_COLOR, WRITE_COLOR = "#4f8a4b", "#1f6f8b"
RANK_MODULES = ("POSIX", "STDIO")
TIMERS = ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")


def small_picture(kind: Picture, job: Job, families: Collection[str], name: str) -> tuple[str, Markup] | None:
    """(title, picture) of the files of some families; None where the log has nothing to draw.

    Args:
        kind: what the rule is about.
        job: the facts.
        families: labels.
        name: of the figure, for its identifiers.
    """
    numbers = {family.number for family in job.families if family.label in families}
    if kind is Picture.SIZES:
        return _sizes(job, numbers, name)
    if kind is Picture.RANKS:
        return _ranks(job, numbers, name)
    return None


def _sizes(job: Job, families: Collection[int], name: str) -> tuple[str, Markup] | None:
    """Operations of POSIX by their size."""
    from workalike.report.canvas import drawing, whole_ticks

    files = np.isin(job.family, list(families)) & job.own
    operations = {
        kind: np.array([job.total("POSIX", f"SIZE_{kind}_{suffix}")[files].sum() for suffix in SIZE_BINS])
        for kind in ("READ", "WRITE")
    }
    if not sum(values.sum() for values in operations.values()):
        return None
    with drawing(name, HEIGHT_IN) as drawn:
        axes = drawn.axes[0]
        places = np.arange(len(SIZE_BINS))
        shown = [(k, c) for k, c in (("READ", READ_COLOR), ("WRITE", WRITE_COLOR)) if operations[k].any()]
        width = 0.8 / len(shown)
        for place, (kind, color) in enumerate(shown):
            left = places - 0.4 + width * (place + 0.5)
            axes.bar(left, operations[kind], width=width, color=color, label=f"{kind.lower()}s")
        axes.set_xticks(places, BIN_LABELS, fontsize=7.5)
        axes.set_ylabel("calls")
        whole_ticks(axes.yaxis)
        axes.locator_params(axis="y", nbins=4)
        axes.legend(loc="upper right")
    return "Calls of POSIX on these files by their size", drawn.svg


def _ranks(job: Job, families: Collection[int], name: str) -> tuple[str, Markup] | None:
    """Seconds of each rank in calls; None where a record is of all ranks together."""
    from workalike.report.canvas import drawing

    by_rank: FloatArray = np.zeros(job.nprocs)
    for module in RANK_MODULES:
        table = job.module(module)
        if table is None:
            continue
        here = np.isin(job.family[table.file], list(families)) & job.own[table.file]
        if (table.ranks[here] < 0).any():
            return None
        for family, seconds in counts.by_rank(job, module, TIMERS).items():
            if family in families:
                by_rank += seconds
    if not by_rank.any():
        return None
    bars = min(job.nprocs, MOST_BARS)
    starts = np.linspace(0, job.nprocs, bars, endpoint=False).astype(int)
    heights = np.maximum.reduceat(by_rank, starts)
    with drawing(name, HEIGHT_IN) as drawn:
        axes = drawn.axes[0]
        width = job.nprocs / bars
        axes.bar(starts + width / 2 - 0.5, heights, width=0.85 * width, color=WRITE_COLOR)
        mean = float(by_rank.mean())
        axes.axhline(mean, color="#b3261e", linewidth=1)
        axes.text(job.nprocs - 0.5, mean, " mean", va="bottom", ha="right", fontsize=7.5, color="#b3261e")
        axes.set_xlim(-0.5, job.nprocs - 0.5)
        axes.set_xlabel("rank")
        axes.set_ylabel("s in calls")
        axes.locator_params(axis="y", nbins=4)
        if job.nprocs <= 16:
            axes.set_xticks(range(job.nprocs))
    return "Seconds of each rank in calls of POSIX and STDIO on these files", drawn.svg
