"""Sizes that a log does not name: bytes, bins and the named sizes stay, and none of the others comes before these."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from counted_logs import log_of

from workalike.characterize import characterize
from workalike.characterize.readings.operations.sizes_spread import (
    Unnamed,
    _from_the_first_rank,
    spread_evenly,
)
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import open_log
from workalike.darshan.bins import bin_of
from workalike.workload.model import Content, Workload


def sizes_of(content: Content) -> Counter[int]:
    out = Counter[int]()
    for stream in content.streams:
        for entry in stream.sizes:
            out[entry.size] += entry.count
    return out


def test_spread_keeps_operations_and_bytes_and_leaves_named_sizes_out() -> None:
    pairs = spread_evenly(100, 100 * 2755 + 7, {2750: 40, 2790: 40}, 10, below=True)
    assert sum(count for count, _ in pairs) == 100
    assert sum(count * size for count, size in pairs) == 100 * 2755 + 7
    assert not {2750, 2790} & {size for _, size in pairs}
    assert len(pairs) >= 10
    assert max(size for _, size in pairs) < 2790


def test_a_lost_named_size_is_taken_from_the_others() -> None:
    content = Content.model_validate(
        {"streams": [{"direction": "read", "sizes": ["1000 x 2755 B", "512 x 5376 B"]}]}
    )
    named = {5376: 512, 2788: 90}
    made = Unnamed(named, [content], 1, below=False).spread(content, 4)
    before, after = sizes_of(content), sizes_of(made)
    assert after[2788] == 90
    assert after[5376] == 512
    assert max(count for size, count in after.items() if size not in named) < 90
    assert sum(after.values()) == sum(before.values())
    assert sum(n * size for size, n in after.items()) == sum(n * size for size, n in before.items())
    assert {bin_of(size) for size in after} == {bin_of(size) for size in before}


def test_a_dump_that_only_opens_its_file_stays_as_it_is() -> None:
    content = Content(opens=4)
    assert Unnamed({64: 100}, [content], 1, below=True).spread(content, 4) == content


def truth_of_many_sizes() -> Workload:
    """Two dumps of four ranks, each with two frequent large sizes, two frequent small ones, and many rare ones."""
    streams = [
        {
            "direction": "write",
            "sizes": [f"88 x {large} B", f"72 x {large - 384} B"],
            "pattern": "interleaved",
        }
        for large in (4704, 5888)
    ]
    rare = {
        "direction": "write",
        "sizes": ["54 x 284 B", "45 x 64 B", "6 x 200..222 B"],
        "pattern": "interleaved",
    }
    return Workload.model_validate(
        {
            "workalike": 2,
            "ranks": 4,
            "runtime": "20 s",
            "families": [
                {
                    "role": "checkpoint",
                    "interface": "mpiio",
                    "schedule": {"start": ["1 s", "5 s"]},
                    "contents": [{"streams": [stream, rare]} for stream in streams],
                }
            ],
        }
    )


def test_dumps_with_sizes_of_their_own(tmp_path: Path) -> None:
    found = characterize([open_log(log_of(truth_of_many_sizes(), tmp_path / "app.darshan"))])
    off = [
        f"{r.counter}: {r.expected} {r.found}"
        for r in model_against_log(pair_up(found, None))
        if not r.agrees
    ]
    assert not off


def test_empty_operations_come_first_and_leave_no_room() -> None:
    """Ranks that only join a call: nothing fills the rest of their turn."""
    assert _from_the_first_rank([(5, 8), (3, 0)], [(4, 2)], 4) == [(3, 0), (5, 8), (3, 2), (1, 2)]
    assert _from_the_first_rank([(4, 8), (8, 2)], [], 4) == [(8, 2), (4, 8)], (
        "the most frequent size comes first"
    )
