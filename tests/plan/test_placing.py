"""Where the streams of a dump begin: after each other, and reads inside the bytes that the file holds."""

from __future__ import annotations

from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Workload

KIB = 1024


def planned(*contents: str, lifetime: str = "reused", role: str = "scratch") -> list[tuple[list[int], bool]]:
    """For each dump: where its streams begin, and whether its file must exist before."""
    dumps = [{"streams": [stream_of(text) for text in content.split(", ")]} for content in contents]
    family = {
        "role": role,
        "interface": "posix",
        "lifetime": lifetime,
        "schedule": {"count": len(dumps), "first": "1 s", "every": "10 s"},
        "contents": dumps,
    }
    plan = resolve(Workload.model_validate({"workalike": 2, "ranks": 1, "families": [family]}), Options())
    return [([s.base for s in plan.contents[d.content].streams], d.prepare) for d in plan.dumps]


def stream_of(text: str) -> dict[str, object]:
    direction, size = text.split(" ", 1)
    return {"direction": direction, "sizes": [size]}


def test_streams_follow_each_other_by_direction() -> None:
    assert planned("write 2 x 1 KiB, write 1 x 10 B, read 1 x 1 KiB, read 1 x 1 KiB") == [
        ([0, 2048, 0, 1024], False)
    ]


def test_short_reads_beyond_the_end_are_reads_again() -> None:
    write, read = "write 16 x 1 KiB", "read 2 x 100 B, read 16 x 1 KiB"
    assert planned(write, read) == [([0], False), ([0, 0], False)]
    assert planned(f"{write}, {read}") == [([0, 0, 0], False)]


def test_what_fits_is_left_where_it_is() -> None:
    assert planned("write 16 x 1 KiB", "read 2 x 100 B, read 15 x 1 KiB")[1] == ([0, 200], False)


def test_a_file_longer_than_what_was_written_is_there_before() -> None:
    assert planned("write 3 x 10 B", "read 1 x 100 B, read 16 x 1 KiB") == [([0], False), ([0, 100], True)]


def test_inputs_are_there_before() -> None:
    assert planned("read 4 x 1 KiB", lifetime="per-dump", role="input") == [([0], True)]


def test_streams_of_other_ranks_lie_in_files_of_their_own() -> None:
    streams = [
        {"direction": "write", "sizes": ["2 x 1 KiB"], "ranks": 0},
        {"direction": "write", "sizes": ["2 x 3 KiB"], "ranks": 1},
        {"direction": "write", "sizes": ["2 x 100 B"]},
    ]
    family = {
        "role": "scratch", "interface": "posix", "schedule": {"start": ["1 s"]}, "content": {"streams": streams},
    }  # fmt: skip
    for sharing, bases in (("per-rank", [0, 0, 6144]), ("shared", [0, 2048, 8192])):
        document = {"workalike": 2, "ranks": 2, "families": [family | {"sharing": sharing}]}
        plan = resolve(Workload.model_validate(document), Options())
        assert [stream.base for stream in plan.contents[0].streams] == bases, sharing
