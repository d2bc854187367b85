"""Figures of the report, by what is seen of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb

from workalike.compare.pairing import Pairing, pair_up
from workalike.report import canvas, charts, series
from workalike.report.palette import color_of
from workalike.workload.model import Content, Family, Interface, Role, Schedule, Stream, Workload

SEEN = 40  # pixels of a curve at the least


def families(sizes: list[list[int]], starts: list[float]) -> Workload:
    """Families of the same starts; the bytes of their dumps."""
    return Workload(
        ranks=2,
        runtime=100.0,
        families=[
            Family(
                role=Role.CHECKPOINT,
                number=number,
                interface=Interface.POSIX,
                schedule=Schedule(start=starts, duration=2.0),
                contents=[
                    Content(streams=[Stream(direction="write", sizes=[f"1/rank x {size} B"])])
                    for size in each
                ],
            )
            for number, each in enumerate(sizes, 1)
        ],
    )


def pixels(
    monkeypatch: pytest.MonkeyPatch, figure: Callable[..., Any], pairing: Pairing, **options: bool
) -> list[int]:
    """How many pixels within the axes have the colour of each family."""
    drawn = []

    @contextmanager
    def kept(*arguments: Any, **more: Any) -> Iterator[canvas.Drawing]:
        with canvas.drawing(*arguments, **more) as drawing:
            yield drawing
        drawn.append(drawing)

    monkeypatch.setattr(charts, "drawing", kept)
    assert figure(pairing, **options) is not None
    (drawing,) = drawn
    surface = FigureCanvasAgg(drawing.figure)
    drawing.figure.set_facecolor("white")
    surface.draw()
    image = np.asarray(surface.buffer_rgba())[::-1, :, :3].astype(float) / 255
    box = drawing.axes[0].get_window_extent()
    inside = image[int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)]
    colors = [to_rgb(color_of(Role.CHECKPOINT, place)) for place in range(len(pairing.pairs))]
    return [int((np.abs(inside - color).max(axis=2) < 0.02).sum()) for color in colors]


@pytest.mark.parametrize("several", [2, 3])
@pytest.mark.parametrize("figure", [charts.cumulative_bytes, charts.dump_sizes])
def test_curves_that_coincide_are_all_seen(
    monkeypatch: pytest.MonkeyPatch, figure: Callable[..., Any], several: int
) -> None:
    """One process writes two files each time: equal bytes at equal times."""
    workload = families([[1000, 2000, 3000, 2000]] * several, [10.0, 30.0, 50.0, 70.0])
    seen = pixels(monkeypatch, figure, pair_up(workload, None), replica=False)
    assert min(seen) >= SEEN, seen


@pytest.mark.parametrize("figure", [charts.cumulative_bytes, charts.dump_sizes])
def test_curves_that_do_not_are_solid(monkeypatch: pytest.MonkeyPatch, figure: Callable[..., Any]) -> None:
    workload = families([[1000, 2000, 3000], [3000, 5000, 7000]], [10.0, 30.0, 50.0])
    svg = figure(pair_up(workload, None), replica=False)
    assert "stroke-dasharray" not in svg
    assert min(pixels(monkeypatch, figure, pair_up(workload, None), replica=False)) >= SEEN


def test_which_curves_coincide() -> None:
    line = ([0.0, 10.0], [0.0, 100.0])
    near = ([0.0, 5.0, 10.0], [0.0, 50.4, 100.0])
    apart = ([0.0, 10.0], [0.0, 50.0])
    short = ([0.0, 1.0], [0.0, 10.0])
    assert series.coinciding([line, apart, near, short, line], 1.0) == [
        (0, 3),
        (0, 1),
        (1, 3),
        (0, 1),
        (2, 3),
    ]
    assert series.coinciding([], 1.0) == []
    point = ([1.0], [5.0])
    assert series.coinciding([point, point], 0.0) == [(0, 2), (1, 2)]
