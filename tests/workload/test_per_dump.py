"""Values that change from dump to dump, as lists inside one content."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from workalike.errors import WorkalikeError
from workalike.workload.model import Family, Workload
from workalike.workload.per_dump import folded, repeated, shortened, unfolded
from workalike.workload.workload_file import parse_workload, workload_text

SIZES = st.lists(st.sampled_from(["1 x 10 B", "3 x 8 KiB", "2/rank x 100 B"]), min_size=1, max_size=3)


@st.composite
def families(draw: st.DrawFn) -> dict[str, object]:
    """Families whose dumps have the same streams in order, but not all of them, and different numbers."""
    dumps = draw(st.integers(2, 6))
    rest = draw(
        st.permutations([{"direction": "write"}, {"direction": "read"}, {"direction": "write", "ranks": 0}])
    )
    contents = []
    for _ in range(dumps):
        streams = [
            dict(stream, sizes=draw(SIZES), **({"base": base} if (base := draw(st.integers(0, 2))) else {}))
            for stream in rest[: draw(st.integers(1, 3))]
            if draw(st.booleans()) or stream is rest[0]
        ]
        content: dict[str, object] = {"streams": streams}
        for name in ("opens", "seeks", "fsyncs"):
            if number := draw(st.integers(0, 2)):
                content[name] = number
        contents.append(content)
    return {
        "role": "scratch",
        "interface": "posix",
        "schedule": {"count": dumps, "every": "1 s"},
        "contents": contents,
    }


def dumps_of(family: Family) -> list[str]:
    return [family.content_of(i).model_dump_json() for i in range(family.schedule.dumps)]


@settings(max_examples=60, deadline=None)
@given(families())
def test_text_says_the_same_of_each_dump(family: dict[str, object]) -> None:
    workload = Workload.model_validate({"workalike": 2, "ranks": 2, "families": [family]})
    again = parse_workload(workload_text(workload))
    assert dumps_of(again.families[0]) == dumps_of(workload.families[0])


@settings(max_examples=60, deadline=None)
@given(families())
def test_what_is_folded_unfolds_again(family: dict[str, object]) -> None:
    short = folded(family)
    if short is not None:
        assert "contents" not in short
        assert unfolded(short)["contents"] == family["contents"]


def test_contents_that_differ_in_their_numbers_are_one() -> None:
    streams = [[{"direction": "write", "sizes": [f"{n} x 4 KiB"]}] for n in (3, 5, 4)]
    family = {
        "role": "output",
        "contents": [{"opens": n, "streams": s} for n, s in zip((1, 2, 1), streams, strict=True)],
    }
    assert folded(family) == {
        "role": "output",
        "content": {
            "opens": [1, 2, 1],
            "streams": [{"direction": "write", "sizes": [["3 x 4 KiB"], ["5 x 4 KiB"], ["4 x 4 KiB"]]}],
        },
    }


def test_other_contents_stay_apart() -> None:
    first = {"streams": [{"direction": "write", "sizes": ["1 x 10 B"]}]}
    other = {"streams": [{"direction": "read", "sizes": ["1 x 10 B"]}, *first["streams"]]}
    last = {"streams": [*first["streams"], {"direction": "read", "sizes": ["1 x 10 B"]}]}
    assert folded({"contents": [other, last]}) is None
    assert folded({"contents": [first, dict(first, sync="each")]}) is None


HEAD = """\
workalike: 2
ranks: 2
families:
- role: output
  interface: posix
  schedule: {count: 3, every: 1 s}
"""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "content: {opens: [1, 2], streams: [{direction: write, sizes: [1 x 1 B]}]}",
            "2 contents for 3 dumps",
        ),
        (
            "content: {opens: [1, 2, 3], seeks: [1, 2], streams: [{direction: write, sizes: [1 x 1 B]}]}",
            "a list of 2 beside one of 3",
        ),
        (
            "content: {opens: [1, 2, 3], streams: [{direction: write, sizes: [1 x 1 B]}]}\n  use: [0, 0, 0]",
            "replaces `contents` and `use`",
        ),
        ("content: {opens: [1, x, 3], streams: [{direction: write, sizes: [1 x 1 B]}]}", "integer"),
        ("content: {streams: [{direction: write, sizes: [[1 x 1 B], 7, [1 x 1 B]]}]}", "list"),
        ("content: {streams: [{direction: write, sizes: [[1 x 1 B], [x], [1 x 1 B]]}]}", "not of the form"),
        ("content: {opens: [1, 2, 3], streams: 7}", "list"),
    ],
)
def test_faulty_values_are_refused(content: str, message: str) -> None:
    with pytest.raises(WorkalikeError, match=message) as caught:
        parse_workload(f"{HEAD}  {content}\n")
    assert caught.value.place is not None
    assert caught.value.place.startswith("line ")


def test_too_many_values_are_refused() -> None:
    streams = [{"direction": "write", "sizes": ["1 x 1 B"]}] * 1000
    document = {
        "role": "output",
        "schedule": {"count": 1000},
        "content": {"opens": [1] * 1001, "streams": streams},
    }
    with pytest.raises(ValidationError, match="too many"):
        Family.model_validate(document)


def test_equal_values_in_a_row_are_one() -> None:
    family = {
        "use": ["2 x 0", 1, "3 x 0"],
        "content": None,
    }
    assert unfolded(family)["use"] == [0, 0, 1, 0, 0, 0]
    assert shortened([7, 7, 7, 7, 7, 7, 1, 7, 7]) == ["6 x 7", 1, 7, 7]
    assert shortened([[]] * 5 + [["1 x 1 B"]] * 5) == ["5 x none", *[["1 x 1 B"]] * 5]
    assert repeated(shortened(["each"] * 9)) == ["each"] * 9


def test_a_dump_of_none_has_no_stream() -> None:
    workload = parse_workload(
        f"{HEAD}  content: {{opens: [1, 2 x 0], streams: [{{direction: write, sizes: [2 x none, [1 x 9 B]]}}]}}\n"
    )
    family = workload.families[0]
    assert [len(family.content_of(dump).streams) for dump in range(3)] == [0, 0, 1]
    assert [family.content_of(dump).opens for dump in range(3)] == [1, 0, 0]


def test_rows_of_the_dumps_follow_each_other() -> None:
    """As lists, and the same as contents of their own."""
    table = {"first": 4, "reads": [3, 0, 2], "writes": 1, "bytes_read": [30, 0, 20], "bytes_written": 8}
    family = unfolded({"content": {"opens": 1, "table": table}})
    assert [content["table"] for content in family["contents"]] == [
        {"first": 4, "reads": 3, "writes": 1, "bytes_read": 30, "bytes_written": 8},
        {"first": 8, "writes": 1, "bytes_written": 8},
        {"first": 9, "reads": 2, "writes": 1, "bytes_read": 20, "bytes_written": 8},
    ]
    short = folded(family)
    assert short is not None
    assert short["content"]["table"] == table


def test_rows_that_do_not_follow_each_other_stay_apart() -> None:
    contents = [{"table": {"first": first, "reads": 2, "bytes_read": 20}} for first in (0, 5)]
    assert folded({"contents": contents}) is None


@pytest.mark.parametrize(
    "content",
    [
        "content: {opens: [999999 x 1], streams: [{direction: write, sizes: [1 x 1 B]}]}",
        "content: {streams: [{direction: write, sizes: [9999999 x none]}]}",
        "content: {table: {reads: [9999999 x 1]}}",
        "contents: [{opens: 1}]\n  use: [9999999 x 0]",
    ],
)
def test_a_short_text_does_not_take_gigabytes(content: str) -> None:
    with pytest.raises(WorkalikeError, match="values of each dump"):
        parse_workload(f"{HEAD}  {content}\n")


@pytest.mark.parametrize("value", ["0 x 1", "-1 x 1", "2 x ", "1e3 x 1", "2 x x", "3 x -1", "2 x 2 x 1"])
def test_faulty_repeats_are_refused(value: str) -> None:
    content = f"content: {{opens: ['{value}', 1, 1], streams: [{{direction: write, sizes: [1 x 1 B]}}]}}"
    with pytest.raises(WorkalikeError):
        parse_workload(f"{HEAD}  {content}\n")
