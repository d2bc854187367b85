"""The timeline of a job in the portal: nothing is drawn after the job has ended."""

from __future__ import annotations

import re

from workalike.fleet.serve.charts import LEFT, WIDTH, Span, timeline


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
