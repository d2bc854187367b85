"""The timeline of a job in the portal: nothing is drawn after the job has ended."""

from __future__ import annotations

import re

from workalike.fleet.serve.charts import LEFT, WIDTH, Span, bars, timeline


def test_labels_of_bars_do_not_lie_on_each_other() -> None:
    """Forty days of five characters have 15.6 pixels each: every third has its name, and all have a title."""
    names = [f"01-{day:02d}" for day in range(1, 41)]
    svg = str(bars("t", names, [1.0] * 40, ["1"] * 40))
    assert len(re.findall(r'class="name"[^>]*>01-', svg)) == 14 and svg.count("<title>01-") == 40
    assert len(re.findall(r'class="name"[^>]*>01-', str(bars("t", names[:4], [1.0] * 4, ["1"] * 4)))) == 4


def test_no_dump_is_drawn_after_the_end() -> None:
    """Dumps every 100 s of a family that was last used at 250 s: three marks, although the median interval fits four."""
    span = Span("checkpoint, 4 files", "4 dumps", "written", 0.0, 250.0, 4, 100.0)
    svg = str(timeline("t", [span], 1000.0))
    assert svg.count('class="dump"') == 3
    late = Span("checkpoint, 4 files", "4 dumps", "written", 900.0, 1200.0, 4, 100.0)
    svg = str(timeline("t", [late], 1000.0))
    assert svg.count('class="dump"') == 2
    x, width = map(float, re.findall(r'class="written" x="([\d.]+)" y="\d+" width="([\d.]+)"', svg)[0])
    assert x + width <= WIDTH - LEFT + 0.1
