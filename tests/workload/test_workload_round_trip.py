"""Writing a workload and reading it back gives the same workload, whatever its contents."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workload_strategies import workloads

from workalike.workload import units, yaml_text
from workalike.workload.model import Stream, Workload
from workalike.workload.workload_file import parse_workload, workload_text

MANY = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@MANY
@given(workloads())
def test_text_and_back(workload: Workload) -> None:
    text = workload_text(workload)
    assert parse_workload(text) == workload
    assert workload_text(parse_workload(text)) == text
    for line in text.splitlines():
        assert line.isascii() and line == line.rstrip()
        # Only what cannot be broken, such as a long list of ranks, may be longer.
        assert len(line) <= yaml_text.WIDTH or "'" in line


@given(st.integers(0, 2**63 - 1))
def test_a_size_is_exact(size: int) -> None:
    text = units.format_size(size)
    assert units.parse_size(text) == size
    assert len(text) <= len(f"{size} B")


@given(st.integers(1, 999), st.sampled_from(sorted(units.SIZE_UNITS)))
def test_a_round_size_keeps_a_unit(number: int, unit: str) -> None:
    size = number * units.SIZE_UNITS[unit]
    assert units.parse_size(f"{number} {unit}") == size
    assert units.parse_size(f"{number}{unit}") == size
    assert units.parse_size(units.format_size(size)) == size


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (567_088, "567088 B"),
        (128 * 2**20, "128 MiB"),
        (5_376, "5376 B"),
        (213_000_000, "213 MB"),
        (1_750_000_000, "1.75 GB"),
        (1536, "1536 B"),
        (3 * 2**29, "1.5 GiB"),
        (102_816_000, "102816 kB"),
        (10**15, "1 PB"),
    ],
)
def test_sizes_read_well(size: int, text: str) -> None:
    assert units.format_size(size) == text


@given(st.floats(0, 1e9, allow_nan=False))
def test_a_time_is_exact(seconds: float) -> None:
    assert units.parse_time(units.format_time(seconds)) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0 s"), (12.5, "12.5 s"), (100.0, "100 s"), (253.20033, "253.20033 s"), (1e-7, "1e-07 s")],
)
def test_times_read_well(seconds: float, text: str) -> None:
    assert units.format_time(seconds) == text


@pytest.mark.parametrize(
    ("text", "seconds"), [("119 min", 7140.0), ("1.5 h", 5400.0), ("1.1 ms", 0.0011), ("7 us", 7e-6)]
)
def test_units_of_time(text: str, seconds: float) -> None:
    assert units.parse_time(text) == seconds


@given(st.sets(st.integers(0, 5000), min_size=1))
def test_ranks_and_back(ranks: set[int]) -> None:
    ranges = units.ranges_of(sorted(ranks))
    assert units.parse_ranks(units.format_ranks(ranges)) == ranges
    assert units.count_ranks(ranges) == len(ranks)
    assert {r for first, last, step in ranges for r in range(first, last + 1, step)} == ranks


@pytest.mark.parametrize("text", ["0-1:5", "3,7-9:4", "0-0:9"])
def test_a_step_that_leads_nowhere_is_none(text: str) -> None:
    """Else a workload that is written and read again is another one, and so is its plan's id."""
    ranges = units.parse_ranks(text)
    assert ranges is not None
    assert units.parse_ranks(units.format_ranks(ranges)) == ranges


@given(st.sets(st.integers(0, 60), min_size=1), st.sets(st.integers(0, 60), min_size=1))
def test_subset(inner: set[int], outer: set[int]) -> None:
    a, b = units.ranges_of(sorted(inner)), units.ranges_of(sorted(outer))
    assert units.is_subset(a, b) == (inner <= outer)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
        lambda children: st.lists(children, max_size=4),
    )
)
def test_values_survive_the_layout(value: object) -> None:
    assert yaml.safe_load(f"key: {yaml_text.flow(value)}") == {"key": value}


@pytest.mark.parametrize(
    "text", ["all", "0-55", "0,8-15", "1e5", "0x1f", "on", "null", "8/rank x 4 MiB", "a: b", "1_0"]
)
def test_text_stays_text(text: str) -> None:
    assert yaml.safe_load(yaml_text.scalar(text)) == text
    assert yaml.safe_load(f"[{yaml_text.scalar(text)}]") == [text]


def test_ranges_of_sizes() -> None:
    texts = ["5 x 500..509 B", "2/rank x 4 KiB", "1 x 7..9 B", "1 x 11 B", "1 x 12 B"]
    stream = Stream(direction="write", sizes=texts)
    assert len(stream.sizes) == 10 + 1 + 3 + 2
    assert stream.model_dump(mode="json")["sizes"] == texts


@pytest.mark.parametrize(
    "text", ["5 x 509..500 B", "5 x 1..20000 B", "5 x 1..9 KiB", "5 x 1.5..9 B", "5 x ..9 B", "5 x 1..9"]
)
def test_what_is_no_range_of_sizes_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"range of at most 10,000 sizes|such as"):
        Stream(direction="write", sizes=[text])
