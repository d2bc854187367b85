"""A file that is opened anew amid its operations is found so: fewer operations go on where the last one ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from truths import found_again, workload

from workalike.workload.model import Content


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
