"""Causes follow from figures: each is named where its figures say so, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from compare_builders import original, record, record_dump

from workalike.compare.causes import causes_of
from workalike.compare.fidelity import fidelity_of
from workalike.compare.fidelity_schema import CauseFidelity, Fidelity, OverlapFidelity, TimesFidelity
from workalike.compare.pairing import Pairing, pair_up

CALLS = {"calls_original_s": 10.0, "calls_replica_s": 20.0, "calls_ratio": 2.0}


def pairing(**more: object) -> Pairing:
    return pair_up(original(), record(*(record_dump(i) for i in range(3)), **more))


def named(times: TimesFidelity, **more: object) -> list[CauseFidelity]:
    made = pairing(**more)
    return causes_of(made, fidelity_of(made).families, times)


def figure_of(fidelity: Fidelity, name: str) -> object:
    found: object = fidelity
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            10.0,
            70.0,
            "longer calls explain 100 % of the difference: 15 s of a rank in the mean",
        ),  # 60 s of four ranks
        (
            10.0,
            18.0,
            "longer calls may explain it: they are 8 s of all ranks together, 2 s of a rank in the mean",
        ),
        (
            10.0,
            12.0,
            "longer calls do not explain it (they are 2 s of all ranks together): the time between calls",
        ),
        (10.0, 8.0, "its calls take no longer: the time between calls, or the order of dumps, differs"),
        (10.0, None, "no cause can be named"),
    ],
)
def test_longer_calls_explain_a_longer_run_where_they_are_long_enough(
    before: float, after: float | None, said: str
) -> None:
    (cause,) = named(TimesFidelity(**CALLS, io_time_original_s=before, io_time_replica_s=after))
    assert cause.text.startswith(
        "From first to last I/O call the replica takes 20 s, the original 10 s (2 x); "
    )
    assert said in cause.text


def test_a_run_that_agrees_needs_no_cause() -> None:
    same = {"calls_original_s": 10.0, "calls_replica_s": 10.4, "calls_ratio": 1.04}
    assert named(TimesFidelity(**same, io_time_original_s=1.0, io_time_replica_s=50.0)) == []


def test_a_shorter_run() -> None:
    shorter = {"calls_original_s": 10.0, "calls_replica_s": 5.0, "calls_ratio": 0.5}
    (cause,) = named(TimesFidelity(**shorter, io_time_original_s=20.0, io_time_replica_s=4.0))
    assert "shorter calls explain 80 % of the difference: 4 s of a rank in the mean" in cause.text


@pytest.mark.parametrize(("apart", "causes"), [(0.05, 0), (0.06, 1)])
def test_overlap(apart: float, causes: int) -> None:
    overlap = OverlapFidelity(original=[0.0, 0.0, 1.0], replica=[0.5, 0.5], distance=apart)
    found = named(TimesFidelity(overlap=overlap))
    assert len(found) == causes
    assert all(
        "In the mean 2 dumps are in progress in the original, 0.5 in the replica" in c.text for c in found
    )


@pytest.mark.parametrize(
    ("waits", "ratio", "causes"),
    [((1.0, 5.0), 2.0, 1), ((1.0, 2.0), 2.0, 0), ((1.0, 5.0), 1.2, 0), ((None, 5.0), 2.0, 0)],
)
def test_waiting_explains_most_of_a_longer_io_time(
    waits: tuple[float | None, float], ratio: float, causes: int
) -> None:
    times = TimesFidelity(
        io_time_original_s=6.0,
        io_time_replica_s=12.0,
        io_time_ratio=ratio,
        waiting_original_s=waits[0],
        waiting_replica_s=waits[1],
    )
    found = named(times)
    assert len(found) == causes
    assert all("67 % of the difference" in cause.text for cause in found)


@pytest.mark.parametrize(
    ("clock", "late", "calls", "said"),
    [
        ("deadline", 4.0, 14.0, ": dumps begin up to 4 s after they are due"),
        ("gap", 4.0, 14.0, ": dumps begin up to 4 s after they are due"),
        (
            "gap",
            1.0,
            14.0,
            " because of the time from first to last I/O call, 4 s longer; `--clock deadline` would",
        ),
        (
            "gap",
            1.0,
            6.0,
            " because of the time from first to last I/O call, 4 s shorter; `--clock deadline` would",
        ),
        ("deadline", 1.0, 14.0, " because of the time from first to last I/O call, 4 s longer"),
        (
            "gap",
            1.0,
            11.0,
            "; neither lateness (1 s at most) nor the time from first to last I/O call, 1 s longer, ",
        ),
        ("gap", 1.0, None, "; no cause can be named"),
    ],
)
def test_starts(clock: str, late: float, calls: float | None, said: str) -> None:
    times = TimesFidelity(
        calls_original_s=10.0, calls_replica_s=calls, start_time_error_max_s=5.0, late_max_s=late
    )
    (cause,) = named(times, clock=clock)
    assert cause.text.startswith(f"Start times are up to 5 s off (checkpoint 1){said}")
    assert ("clock" in cause.text) == ("deadline" in said)


def test_lateness_is_in_seconds_of_the_run() -> None:
    """At half the time 2 s late are 4 s of the original."""
    made = pairing()
    made.factors = replace(made.factors, time=0.5)
    times = TimesFidelity(calls_original_s=10.0, start_time_error_max_s=5.0, late_max_s=2.0)
    (cause,) = causes_of(made, fidelity_of(made).families, times)
    assert "up to 4 s after they are due" in cause.text


def test_every_figure_that_is_named_is_in_the_file() -> None:
    dumps = [record_dump(i, start_s=50.0 * (i + 1), end_s=50.0 * (i + 1) + 9, inside=50.0) for i in range(3)]
    found = fidelity_of(pair_up(original(), record(*dumps)))
    assert len(found.causes) == 2
    for cause in found.causes:
        assert cause.figures
        assert all(figure_of(found, name) is not None for name in cause.figures)
