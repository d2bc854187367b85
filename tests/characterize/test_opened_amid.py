"""A file that is opened anew amid its operations is found so: fewer operations go on where the last one ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from truths import found_again, workload

from workalike.characterize.readings.files import opened_amid
from workalike.workload.model import Content, Direction


def found_in(content: dict[str, object], folder: Path) -> Content:
    (facts,) = found_again(workload(content, sharing="root"), folder).families
    assert facts.family.schedule.dumps == 1
    return facts.family.content_of(0)


@pytest.mark.parametrize("opens", [37, 80, 160])
def test_lines_that_are_appended_one_by_one(tmp_path: Path, opens: int) -> None:
    streams = [{"direction": "write", "sizes": ["80 x 100 B"]}]
    found = found_in({"opens": opens, "reopen": True, "streams": streams}, tmp_path)
    assert (found.opens, found.reopen) == (opens, True)


def test_opens_before_the_operations_stay_there(tmp_path: Path) -> None:
    streams = [{"direction": "write", "sizes": ["80 x 100 B"]}]
    found = found_in({"opens": 37, "streams": streams}, tmp_path)
    assert (found.opens, found.reopen) == (37, False)


@pytest.mark.parametrize("directions", [tuple(Direction), (Direction.WRITE,), (Direction.READ,)])
def test_opens_of_all_dumps_are_as_many_as_in_the_log(directions: tuple[Direction, ...]) -> None:
    contents = [
        Content.model_validate({"opens": 30, "streams": [{"direction": direction, "sizes": [sizes]}]})
        for direction, sizes in (("write", "60 x 100 B"), ("read", "5 x 1200 B"))
    ]
    opens = opened_amid._by_operations(contents, 1, directions)
    found = opened_amid._reopened(contents, opens, 1)
    assert sum(content.opens for content in found) == 60
    moving = [any(content.moved(1, d) for d in directions) for content in contents]
    assert [content.reopen for content in found] == moving
