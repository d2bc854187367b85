"""The picture of joined studies: each dump of the largest family, a panel for each setting, a curve for each system."""

from __future__ import annotations

from typing import Any

from workalike.study.journal import Finished
from workalike.study.report.dumps_of_systems import dumps_of_systems

FACTORS = ["workload", "stripes", "stripe_size"]


def trial(source: str, stripes: str, rates: list[float], block: int = 0, **more: Any) -> Finished:
    """A run of growing checkpoints with a small visualization dump after each."""
    size = None if stripes == "default" else "1 MiB"
    dumps = []
    for number, rate in enumerate(rates):
        large = {"role": "checkpoint", "number": 1, "index": number, "bytes_written": 1000 * (number + 1)}
        small = {"role": "visualization", "number": 1, "index": number, "bytes_written": 10}
        for place, dump in enumerate((large, small)):
            dumps.append(
                {
                    **dump,
                    "bytes_read": 0,
                    "bandwidth": rate if place == 0 else 1.0,
                    "start_s": 2.0 * number + place,
                }
            )
    setting = f"workload=B stripes={stripes}" + (f" stripe_size={size}" if size else "")
    row = {"setting": setting, "arm": "", "block": block, "counted": True, "source": source}
    row |= {"workload": "B", "stripes": stripes, "stripe_size": size}
    return Finished(row | more, dumps)


def test_medians_of_the_largest_family_by_setting_and_system() -> None:
    finished = [
        trial("here", "default", [1.0, 2.0, 3.0]),
        trial("here", "default", [3.0, 4.0, 5.0], block=1),
        trial("here", "80", [7.0, 7.0, 7.0]),
        trial("there", "default", [50.0, 60.0, 70.0]),
        trial("here", "default", [9e9] * 3, arm="a-a"),
        trial("here", "default", [9e9] * 3, counted=False),
    ]
    chart = dumps_of_systems(finished, FACTORS)
    assert chart is not None
    assert [row[1:] for row in chart.rows if row[0] == "workload=B stripes=default"] == [
        ("here", 0, 1000.0, 2.0),
        ("here", 1, 2000.0, 3.0),
        ("here", 2, 3000.0, 4.0),
        ("there", 0, 1000.0, 50.0),
        ("there", 1, 2000.0, 60.0),
        ("there", 2, 3000.0, 70.0),
    ]
    assert "stripes default" in chart.svg and "stripes 80" in chart.svg, "of factors with several levels"
    assert "stripe_size" not in chart.svg and "workload B" not in chart.svg


def test_too_few_dumps_are_no_picture() -> None:
    assert dumps_of_systems([trial("here", "default", [1.0, 2.0])], FACTORS) is None
    assert dumps_of_systems([], FACTORS) is None


def test_dumps_without_a_time_are_left_out() -> None:
    chart = dumps_of_systems([trial("here", "default", [1.0, 0.0, 3.0, 4.0])], FACTORS)
    assert chart is not None and [row[2::2] for row in chart.rows] == [(0, 1.0), (2, 3.0), (3, 4.0)]
