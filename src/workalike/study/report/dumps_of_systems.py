"""Bandwidth and size of each dump over the run, by setting and system: the figure of joined studies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.ticker import LogLocator, NullLocator

from workalike.report.canvas import drawing, size_axis, whole_ticks
from workalike.report.palette import MUTED
from workalike.study.journal import Finished
from workalike.study.report.chart import COLORS, Chart, label
from workalike.study.report.numbers import Row
from workalike.study.report.table import shown
from workalike.study.statistics.table import Floats

MOST_PANELS, COLUMNS, MOST_SYSTEMS = 9, 3, 8
LEAST_DUMPS = 3
"""A curve of fewer dumps shows nothing."""
PANEL_IN = 2.1
SIZES = "#d5dde5"


@dataclass(frozen=True)
class _Curve:
    """Medians over the trials of a setting on a system: bytes and bytes per second of each dump of its main family."""

    setting: str
    source: str
    dump: Sequence[int]
    bytes: Floats
    rate: Floats


def dumps_of_systems(finished: Sequence[Finished], factors: Sequence[str]) -> Chart | None:
    """A panel for each setting, a curve for each system (the paper's Fig. 7); None without enough dumps.

    Only dumps of the family with the most bytes are drawn: those of others, in between, have other sizes.
    """
    own = [trial for trial in finished if trial.trial.get("counted") and not trial.trial.get("arm")]
    curves = _curves(own)
    if not curves:
        return None
    settings = _telling(curves)
    titles = _titles(own, factors)
    part = settings[:MOST_PANELS]
    sources = list(dict.fromkeys(curve.source for curve in curves))[:MOST_SYSTEMS]
    rows = -(-len(part) // COLUMNS)
    options = {"sharex": False, "sharey": True}
    with drawing(
        "dumps", 0.8 + PANEL_IN * rows, columns=min(COLUMNS, len(part)), rows=rows, **options
    ) as drawn:
        for axes, setting in zip(drawn.axes, part, strict=False):
            lines = [curve for curve in curves if curve.setting == setting and curve.source in sources]
            _panel(axes, titles[setting], lines, sources)
        for axes in drawn.axes[len(part) :]:
            axes.set_visible(False)
        handles = {
            text: line
            for axes in drawn.axes
            for line, text in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        drawn.figure.legend(handles.values(), handles.keys(), loc="outside upper left", ncols=len(sources))
    hidden = len(settings) - len(part)
    return Chart(
        "dumps",
        "Bandwidth over the run, on each system.",
        "How fast each dump was written or read; grey bars are its size, the largest of a setting as high as its panel."
        + (f" {hidden} more settings are in the CSV file." if hidden else ""),
        "Medians over the trials; of each workload the family with the most bytes. The axis is logarithmic.",
        drawn.svg,
        ("setting", "system", "dump", "bytes", "bytes_per_s"),
        [row for curve in curves for row in _rows(curve)],
    )


def _rows(curve: _Curve) -> list[Row]:
    return [
        (curve.setting, curve.source, dump, float(size), float(rate))
        for dump, size, rate in zip(curve.dump, curve.bytes, curve.rate, strict=True)
    ]


def _titles(finished: Sequence[Finished], factors: Sequence[str]) -> dict[str, str]:
    """Setting -> its title: its levels of the factors that have several; all of them where that is not enough."""
    levels: dict[str, dict[str, str]] = {}
    for trial in finished:
        known = {name: str(trial.trial[name]) for name in factors if trial.trial.get(name) is not None}
        levels.setdefault(str(trial.trial["setting"]), known)
    several = {
        name for name in factors if len({known[name] for known in levels.values() if name in known}) > 1
    }
    titles = {
        setting: ", ".join(f"{name} {level}" for name, level in known.items() if name in several)
        for setting, known in levels.items()
    }
    return titles if len(set(titles.values())) == len(titles) else {setting: setting for setting in levels}


def _panel(axes: Any, title: str, curves: Sequence[_Curve], sources: Sequence[str]) -> None:
    axes.set_yscale("log")
    axes.set_title(shown(title), fontsize=8.5, loc="left")
    largest = max(curves, key=lambda curve: len(curve.bytes))
    sizes = axes.twinx()
    sizes.bar(largest.dump, largest.bytes, color=SIZES, width=0.8)
    sizes.set_ylim(0, float(largest.bytes.max()) or 1)
    sizes.axis("off")
    axes.set_zorder(sizes.get_zorder() + 1)
    for curve in curves:
        color = COLORS[sources.index(curve.source) % len(COLORS)]
        axes.plot(
            curve.dump, curve.rate, "o-", color=color, markersize=3, linewidth=1.3, label=label(curve.source)
        )
    size_axis(axes.yaxis, rate=True)
    axes.yaxis.set_major_locator(LogLocator(base=4, numticks=6))
    axes.yaxis.set_minor_locator(NullLocator())
    whole_ticks(axes.xaxis)
    axes.tick_params(labelsize=8)
    axes.set_xlabel("dump", color=MUTED, fontsize=8)


def _telling(curves: Sequence[_Curve]) -> list[str]:
    """The settings: first those whose dumps differ in size, which show whether larger ones are faster."""
    varies: Mapping[str, bool] = {
        curve.setting: len(set(curve.bytes.tolist())) > 1 for curve in reversed(curves)
    }
    settings = dict.fromkeys(curve.setting for curve in curves)
    return sorted(settings, key=lambda setting: (not varies[setting], setting))


def _curves(finished: Sequence[Finished]) -> list[_Curve]:
    found: dict[tuple[str, str], list[Finished]] = defaultdict(list)
    for trial in finished:
        found[str(trial.trial["setting"]), str(trial.trial.get("source"))].append(trial)
    curves = (_curve(*key, trials) for key, trials in found.items())
    return [curve for curve in curves if curve is not None]


def _curve(setting: str, source: str, trials: Sequence[Finished]) -> _Curve | None:
    of_family: dict[str, float] = defaultdict(float)
    for trial in trials:
        for dump in trial.dumps:
            of_family[_family_of(dump)] += _bytes_of(dump)
    if not of_family:
        return None
    main = max(of_family, key=lambda family: of_family[family])
    by_dump: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for trial in trials:
        own = [dump for dump in trial.dumps if _family_of(dump) == main]
        for place, dump in enumerate(sorted(own, key=lambda dump: float(dump["start_s"]))):
            if dump.get("bandwidth"):
                by_dump[place].append((_bytes_of(dump), float(dump["bandwidth"])))
    if len(by_dump) < LEAST_DUMPS:
        return None
    dumps = sorted(by_dump)
    medians = np.array([np.median(by_dump[dump], axis=0) for dump in dumps])
    return _Curve(setting, source, dumps, medians[:, 0], medians[:, 1])


def _family_of(dump: Mapping[str, Any]) -> str:
    """Role and number of a dump's family; results may come from elsewhere, and lack them."""
    return f"{dump.get('role')} {dump.get('number')}"


def _bytes_of(dump: Mapping[str, Any]) -> float:
    return float(dump["bytes_written"]) + float(dump["bytes_read"])
