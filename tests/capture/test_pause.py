"""A program asks for a pause: nothing of it is counted, and what goes on afterwards is counted at the right place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Profile


@pytest.mark.parametrize("depth", ["1", "3"])
def test_what_is_done_in_a_pause(
    compiled: Callable[..., Path],
    profile: Profile,
    same_for_pydarshan: Callable[[Path], dict[str, Any]],
    depth: str,
) -> None:
    run = profile(compiled("pauses.c", "-ldl"), depth, options=("--dxt", "--events"))
    same_for_pydarshan(run.logs[0])
    before, inside = run.record("POSIX", "before"), run.record("POSIX", "inside")
    counted = ("OPENS", "READS", "WRITES", "SEEKS", "FSYNCS", "BYTES_READ", "BYTES_WRITTEN")
    assert [before[name] for name in counted] == [1, 1, 1, 0, 0, 30, 100]
    # Opened in the pause, 301 bytes written in it: the next ten lie after them.
    assert [inside[name] for name in counted] == [0, 0, 1, 0, 0, 0, 10]
    assert inside["MAX_BYTE_WRITTEN"] == 310
    # Read in the pause up to 50, then 30 more.
    assert before["MAX_BYTE_READ"] == 79
    assert before["MAX_BYTE_WRITTEN"] == 99
    stream = run.record("STDIO", "stream")
    assert (stream["OPENS"], stream["WRITES"], stream["BYTES_WRITTEN"]) == (0, 1, 20)
    assert stream["MAX_BYTE_WRITTEN"] == 319
    assert not run.records("POSIX", "only")
    assert (run.folder / "before").stat().st_size == 300
    assert (run.folder / "inside").stat().st_size == 311
