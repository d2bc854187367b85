"""Generated studies for the page: planted bandwidths of stripe counts, alignment and ranks."""

from __future__ import annotations

from itertools import product

import numpy as np

from workalike.study.report import DumpTable, StudyTable

STRIPES, ALIGNED, RANKS = ("1", "2", "4", "8"), ("no", "yes"), ("4", "16", "64")
GAIN = {"1": 1.0, "2": 1.6, "4": 2.1, "8": 2.1}
"""More than four stripes do not pay."""


def generated_study(
    blocks: int = 12, dumps: int = 20, cov: float = 0.1, seed: int = 0, more: str = ""
) -> StudyTable:
    """A factorial study with drift of ±30 %, growing dumps, two failed trials, and the A/A check. `more`: ends names."""
    rng = np.random.default_rng(seed)
    names, levels, true = [], [], []
    for stripes, aligned, ranks in product(STRIPES, ALIGNED, RANKS):
        names.append(f"stripes {stripes}, aligned {aligned}, {ranks} ranks{more}")
        levels.append((stripes + more * 0, aligned + more, ranks))
        boost = 1.25 if aligned == "yes" and stripes in "48" else 1.0
        true.append(2e8 * GAIN[stripes] * boost * (int(ranks) / 4) ** 0.5)
    names.append(f"{names[0]} again")
    levels.append(levels[0])
    true.append(true[0])
    count = len(names)
    block = np.repeat(np.arange(blocks), count)
    drift = np.repeat(1 + 0.3 * np.linspace(-1, 1, blocks), count)
    rate = np.tile(true, blocks) * drift * np.exp(rng.normal(0, cov, blocks * count))
    trial = np.repeat(np.arange(len(rate)), dumps)
    index = np.tile(np.arange(dumps), len(rate))
    size = (2e8 + 8e7 * index) * np.tile(np.repeat([int(lv[2]) / 4 for lv in levels], dumps), blocks)
    speed = rate[trial] * size / (size + 3e8) * np.exp(rng.normal(0, 0.08, len(trial)))
    seconds = size / speed
    io_time = np.bincount(trial, weights=seconds)
    slowest = seconds.reshape(-1, dumps).max(axis=1)
    bandwidth = np.bincount(trial, weights=size) / io_time
    bandwidth[[5, 31 % len(rate)]] = np.nan
    return StudyTable(
        block=block,
        setting=names * blocks,
        bandwidth=bandwidth,
        wall_s=io_time * 1.2,
        io_time_s=io_time,
        slowest_dump_s=slowest,
        factors={
            name: [level[i] for level in levels] * blocks
            for i, name in enumerate(("stripes", f"aligned{more}", "ranks"))
        },
        dumps=DumpTable(
            trial, index, size, seconds, written=size, end_s=60 * (index + 1) + seconds, planned=size / 1.001
        ),
        same=(names[0], names[-1]),
        title=f"Stripes and alignment{more}",
    )
