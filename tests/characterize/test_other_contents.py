"""Other readings of a content keep its operations and bytes."""

from __future__ import annotations

from collections import Counter

from workalike.characterize.readings.changes import in_passes
from workalike.characterize.readings.operations.other_direction_first import other_order
from workalike.characterize.readings.operations.sizes_spread import sizes_spread
from workalike.characterize.readings.operations.small_by_all import small_by_all
from workalike.workload.model import Content, Pattern

CONTENT = Content.model_validate(
    {
        "streams": [
            {"direction": "write", "sizes": ["3 x 328 B", "5 x 120 B"], "ranks": 0},
            {
                "direction": "write",
                "sizes": ["40 x 4000 B", "6 x 4096 B", "10/rank x 9 B"],
                "collective": True,
            },
        ]
    }
)


def sizes_of(content: Content) -> Counter[int]:
    return Counter(size for s in content.streams for e in s.sizes for size in [e.size] * e.count)


def test_small_operations_of_all_ranks() -> None:
    made = small_by_all(CONTENT)
    assert [(s.ranks, s.pattern) for s in made.streams] == [
        (None, Pattern.INTERLEAVED),
        (None, Pattern.CONTIGUOUS),
    ]
    assert sizes_of(made) == sizes_of(CONTENT)
    assert small_by_all(made) == made


def test_sizes_that_the_log_does_not_name_are_rarer_than_those_that_it_names() -> None:
    made = sizes_spread(CONTENT, known={4096, 120, 9}, most=6)
    before, after = sizes_of(CONTENT), sizes_of(made)
    assert after.total() == before.total()
    assert sum(size * n for size, n in after.items()) == sum(size * n for size, n in before.items())
    assert {size: after[size] for size in (4096, 120, 328, 9)} == {4096: 6, 120: 5, 328: 3, 9: 10}
    assert max(n for size, n in after.items() if 3900 < size < 4096) == 6


def test_strided_operations_keep_their_sizes() -> None:
    stream = {"direction": "write", "sizes": ["40 x 4000 B"], "pattern": "strided", "stride": "8 KiB"}
    content = Content.model_validate({"streams": [stream]})
    assert sizes_spread(content, known=set(), most=2) == content


def stream(direction: str, size: str, base: int | None = None) -> dict[str, object]:
    return {"direction": direction, "sizes": [size], "base": base}


def test_the_other_direction_first() -> None:
    both = Content.model_validate({"streams": [stream("write", "4 x 1 B"), stream("read", "2 x 3 B")]})
    turned = other_order(both)
    assert turned is not None and [s.direction for s in turned.streams] == ["read", "write"]
    assert other_order(Content.model_validate({"streams": [stream("read", "4 x 1 B")] * 2})) is None


def test_bytes_that_a_rule_read_as_written_twice_are_passes() -> None:
    """The second stream begins anew at the start of the file; both are one, in as many passes as operations allow."""
    twice = {"streams": [stream("write", "4 x 8 B"), stream("write", "2 x 8 B", base=0)]}
    made = in_passes(Content.model_validate(twice), 3)
    assert made is not None and made.passes == 3
    assert [(s.sizes[0].count, s.sizes[0].size) for s in made.streams] == [(2, 8)]
    at_zero = {"streams": [stream("write", "4 x 8 B", base=0), stream("write", "2 x 8 B", base=0)]}
    made = in_passes(Content.model_validate(at_zero), 3)
    assert made is not None and [(s.sizes[0].count, s.sizes[0].size) for s in made.streams] == [(2, 8)]
    from_one = {"streams": [stream("write", "4 x 8 B", base=1), stream("write", "2 x 8 B", base=0)]}
    assert in_passes(Content.model_validate(from_one), 3) is None
    elsewhere = {"streams": [stream("write", "4 x 8 B"), stream("write", "2 x 8 B", base=1)]}
    assert in_passes(Content.model_validate(elsewhere), 3) is None
