"""The figure of the bytes of each rank over time, where the records of a log have no windows of single ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.colors import LogNorm
from matplotlib.ticker import FuncFormatter

from workalike.characterize.result import Characterization
from workalike.compare.pairing import Pairing
from workalike.facts.bytes_over_time import bytes_over_time
from workalike.facts.jobs import job_of
from workalike.facts.records import FloatArray
from workalike.report.canvas import drawing, time_unit
from workalike.report.palette import INK
from workalike.text import plural, size_text

ROWS = 128
"""Groups of ranks that are shown; with fewer ranks, each has its row."""
COLUMNS = 240


def bytes_of_ranks(pairing: Pairing) -> Markup | None:
    """Bytes of each rank over time, the original above the replica, on one axis in time of the original.

    None where the original's log has neither a trace nor a heatmap; the replica is left out where its log has none, or
    where it did not wait.
    """
    scale = pairing.factors.time
    if pairing.log is None:
        return None
    longest = pairing.log.workload.runtime
    if scale and pairing.replica_log is not None:
        after = job_of(pairing.replica_log.logs).run_time - pairing.replica.moved_s
        longest = max(longest, after / scale)
    if longest <= 0:
        return None
    sides = {"original": _side(pairing.log, longest)}
    if scale and pairing.replica_log is not None:
        sides["replica"] = _side(pairing.replica_log, longest * scale, pairing.replica.moved_s)
    shown = {word: side for word, side in sides.items() if side is not None}
    if "original" not in shown:
        return None
    return _drawn(shown, longest)


def _side(log: Characterization, until_s: float, moved_s: float = 0.0) -> tuple[int, FloatArray] | None:
    """The ranks of a log, and their bytes as rows x columns."""
    job = job_of(log.logs)
    found = bytes_over_time(job, min(job.nprocs, ROWS), COLUMNS, until_s, moved_s)
    return None if found is None else (job.nprocs, found)


def _drawn(sides: dict[str, tuple[int, FloatArray]], longest: float) -> Markup:
    unit, word = time_unit(longest)
    seen = np.concatenate([values[values > 0] for _, values in sides.values()])
    least, most = float(seen.min()), max(float(seen.max()), float(seen.min()) * 1.01)
    colors = LogNorm(least, most)
    with drawing("rank-bytes", 0.7 + 2.0 * len(sides), rows=len(sides), sharex=True) as drawn:
        for axes, (name, (ranks, values)) in zip(drawn.axes, sides.items(), strict=True):
            mesh = _draw(axes, ranks, values, longest / unit, colors)
            axes.set_title(f"{name}, {plural(ranks, 'rank')}", fontsize=9.5, color=INK, loc="left")
        drawn.axes[-1].set_xlabel(f"time since the start of the run ({word})")
        bar = drawn.figure.colorbar(mesh, ax=drawn.axes, aspect=30, pad=0.01)
        bar.ax.minorticks_off()
        bar.set_ticks(np.geomspace(least, most, 5).tolist())
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: size_text(round(value))))
        bar.outline.set_visible(False)
    return drawn.svg


def _draw(axes: Any, ranks: int, values: FloatArray, longest: float, colors: LogNorm) -> Any:
    axes.grid(False)
    axes.set_yticks(np.unique(np.linspace(0, ranks, 5).round().astype(int)))
    axes.set_ylabel("rank")
    return axes.pcolormesh(
        np.linspace(0, longest, COLUMNS + 1),
        np.linspace(0, ranks, len(values) + 1),
        np.ma.masked_equal(values, 0),
        cmap="viridis_r",
        norm=colors,
        rasterized=True,
    )
