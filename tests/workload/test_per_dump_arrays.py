"""Arrays whose shapes change from dump to dump, as lists inside one content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workalike.errors import WorkalikeError
from workalike.workload.model import Content, Family, Workload
from workalike.workload.per_dump import MOST_VALUES, folded, of_dumps
from workalike.workload.workload_file import parse_workload, workload_text

GROWS = (3375, 3717, 4824, 5200, 6100, 6100, 7000)


def array(length: int, **more: Any) -> dict[str, Any]:
    """A vector that four ranks write, a quarter each."""
    slab = {"count": more.pop("count", 4), "shape": [more.pop("shape", length // 4)]}
    return {"dims": [length], "access": [{"direction": "write", "slabs": [slab]}], **more}


def workload(contents: list[list[dict[str, Any]]], **family: Any) -> Workload:
    document: dict[str, Any] = {
        "role": "checkpoint",
        "interface": "hdf5",
        "schedule": {"count": len(contents), "every": "1 s"},
    }
    document |= of_dumps([Content.model_validate({"arrays": arrays}) for arrays in contents])
    return Workload.model_validate({"workalike": 2, "ranks": 4, "families": [document | family]})


def dumps_of(family: Family) -> list[str]:
    return [family.content_of(i).model_dump_json() for i in range(family.schedule.dumps)]


def test_a_grid_that_grows_is_one_content_with_lists() -> None:
    grows = workload([[array(n, chunk=[n // 5])] for n in GROWS])
    text = workload_text(grows)
    assert "    - dims: [[3375], [3717], [4824], [5200], [6100], [6100], [7000]]\n" in text
    assert "      chunk: [[675], [743], [964], [1040], [1220], [1220], [1400]]\n" in text
    assert (
        text.count("dims:") == 1 and "shape: [[843], [929], [1206], [1300], [1525], [1525], [1750]]" in text
    )
    assert dumps_of(parse_workload(text).families[0]) == dumps_of(grows.families[0])


@pytest.mark.parametrize(
    "contents",
    [
        [[array(100)], [array(100), array(100)]],
        [[array(100)], [array(100, chunk=[10])]],
        [[array(100)], [array(100, extendible=True)]],
    ],
    ids=["number", "chunks", "other-field"],
)
def test_arrays_that_differ_in_more_are_contents(contents: list[list[dict[str, Any]]]) -> None:
    assert folded(workload(contents).model_dump(mode="json", exclude_defaults=True)["families"][0]) is None


VALUES = st.integers(1, 3).map(lambda n: 100 * n)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES, st.integers(1, 8), st.integers(1, 3)), min_size=1, max_size=12))
def test_text_says_the_same_of_each_dump(dumps: list[tuple[int, int, int, int]]) -> None:
    contents = [
        [array(4 * a, shape=a, count=count, datasets=count), array(8 * b, element=4, datasets=sets)]
        for a, b, count, sets in dumps
    ]
    before = workload(contents)
    after = parse_workload(workload_text(before))
    assert dumps_of(after.families[0]) == dumps_of(before.families[0])
    if before.families[0].contents:
        short = folded(before.model_dump(mode="json", exclude_defaults=True)["families"][0])
        assert short is not None and "contents" not in short
        assert dumps_of(Family.model_validate(short)) == dumps_of(before.families[0])


@pytest.mark.parametrize(
    ("dims", "reason"),
    [
        ("[[400], [500]]", "a list of 2 beside one of 3"),
        ("[[400], 500, [600]]", "dims"),
        ("[[[400]], [500], [600]]", "dims"),
        ("[[400], [a], [600]]", "dims"),
    ],
)
def test_what_is_no_shape_is_refused(dims: str, reason: str) -> None:
    text = workload_text(workload([[array(n)] for n in (400, 500, 600)]))
    broken = text.replace("dims: [[400], [500], [600]]", f"dims: {dims}")
    assert broken != text
    with pytest.raises(WorkalikeError) as error:
        parse_workload(broken, Path("broken.yaml"))
    assert reason in str(error.value)


def test_a_short_text_of_very_many_parts_is_refused() -> None:
    slabs = [{"count": f"[{MOST_VALUES // 500} x 4]", "shape": [1]}] * 600
    lines = ", ".join("{count: " + slab["count"] + ", shape: [1]}" for slab in slabs)  # type: ignore[operator]
    text = (
        "workalike: 2\nranks: 4\nfamilies:\n- role: checkpoint\n  interface: hdf5\n"
        f"  schedule: {{count: {MOST_VALUES // 500}, every: 1 s}}\n  content:\n    arrays:\n    - dims: [4]\n"
        f"      access:\n      - {{direction: write, slabs: [{lines}]}}\n"
    )
    with pytest.raises(WorkalikeError, match="more than 1,000,000 values"):
        parse_workload(text, Path("many.yaml"))
