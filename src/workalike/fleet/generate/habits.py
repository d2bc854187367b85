"""The jobs of a made-up centre: users with habits, and what a report should find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

DAY_S = 86400.0
START = 1_767_225_600.0
"""2026-01-01 UTC."""
TARGETS = 16
STRIPES = 4
MIB, GIB, TIB = 2**20, 2**30, 2**40
RATE = 200 * MIB
"""Bytes per second of one storage target."""


@dataclass(frozen=True)
class Habit:
    """One user's use of one application; bytes are of a whole job."""

    user: str
    uid: int
    application: str
    ranks: int
    written: int
    read: int
    share: float
    growth_per_week: float = 0.0
    redundant: int = 0
    small_writes: int = 0
    meta_per_rank_s: float = 0.0
    checkpoints_read: bool = True


HABITS = (
    Habit("ada", 1001, "climate", 64, 40 * GIB, 10 * GIB, 0.2, growth_per_week=0.10),
    Habit("bo", 1002, "turbulence", 128, 96 * GIB, 4 * GIB, 0.15, checkpoints_read=False),
    Habit("cy", 1003, "lattice", 256, 8 * GIB, 64 * GIB, 0.15, redundant=3 * TIB),
    Habit("di", 1004, "genomes", 192, GIB, 2 * GIB, 0.2, meta_per_rank_s=40.0),
    Habit("ed", 1005, "particles", 128, 6 * GIB, GIB, 0.1, small_writes=150_000_000),
    Habit("flo", 1006, "chemistry", 32, 16 * GIB, 4 * GIB, 0.2),
)


@dataclass(frozen=True)
class Truth:
    """What was planted. Weeks are counted from the first day; `counts` are jobs by application."""

    slow_target: int
    slow_week: int
    slow_factor: float
    growing: str
    growth_per_week: float
    redundant: str
    metadata: str
    small_writes: str
    unread: str
    outlier_jobs: tuple[int, ...]
    failed_jobs: tuple[int, ...]
    counts: dict[str, int]


@dataclass(frozen=True)
class GeneratedJob:
    """One job. `slowness` multiplies the time of all its I/O, `slow_target` that on one storage target."""

    number: int
    habit: Habit
    turn: int
    start: float
    run_time: float
    grown: float
    target: int
    slow_target: float
    slowness: float
    failed: bool


def jobs(count: int, *, seed: int = 1, days: float = 56.0) -> tuple[list[GeneratedJob], Truth]:
    """So many jobs in the order of their starts, spread over days, and what is planted in them."""
    random = np.random.default_rng(seed)
    kinds = random.choice(len(HABITS), size=count, p=[habit.share for habit in HABITS])
    starts = START + np.sort(random.uniform(0, days * DAY_S, count))
    slow, week, factor = int(random.integers(TARGETS)), max(1, int(days / 14)), 6.0
    turns = [0] * len(HABITS)
    out = []
    for number, (kind, start) in enumerate(zip(kinds.tolist(), starts.tolist(), strict=True), 1):
        habit = HABITS[kind]
        weeks = (start - START) / (7 * DAY_S)
        target = int(random.integers(TARGETS))
        hit = (slow - target) % TARGETS < STRIPES and week <= weeks < week + 1
        # The chemist's jobs are alike, so that single slow ones stand out against their own past.
        odd = habit.application == "chemistry" and turns[kind] % 40 == 39 and not hit
        failed = random.random() < 0.02 and not odd
        grown = float(np.exp(habit.growth_per_week * weeks))
        slowness = 12.0 if odd else float(random.lognormal(0, 0.08))
        out.append(
            GeneratedJob(
                number,
                habit,
                turns[kind],
                start,
                3600.0,
                grown,
                target,
                factor if hit else 1.0,
                slowness,
                failed,
            )
        )
        turns[kind] += 1
    truth = Truth(
        slow, week, factor, "climate", 0.10, "cy", "di", "ed", "turbulence",
        tuple(j.number for j in out if j.slowness == 12.0),
        tuple(j.number for j in out if j.failed),
        {habit.application: turns[kind] for kind, habit in enumerate(HABITS)},
    )  # fmt: skip
    return out, truth


def users() -> Iterator[tuple[int, str]]:
    """(uid, name) of all users."""
    return ((habit.uid, habit.user) for habit in HABITS)
