"""What the two lines of a verdict compare: sieving libraries, and renames."""

from __future__ import annotations

from typing import Any

import pytest

from workalike.compare.lines import _not_sieved
from workalike.plan.resolve import Options, resolve
from workalike.predict.agreement import rows_of
from workalike.predict.determined import Determined
from workalike.predict.prediction import predicted
from workalike.workload.model import Role, Workload

GROUP = ((Role.CHECKPOINT, 1),)
MODEL = {"READS": 24, "BYTES_READ": 24_000, "MAX_BYTE_READ": 23_999, "WRITES": 24, "BYTES_WRITTEN": 24_000, "MAX_BYTE_WRITTEN": 47_999}  # fmt: skip


def compared(**found: int) -> list[str]:
    """The counters in which a replica is off, whose library read more bytes than it was asked for."""
    replica = MODEL | {"READS": 3, "BYTES_READ": 90_000} | found
    rows = rows_of(GROUP, "POSIX", Determined(dict(MODEL)), Determined(dict(replica)), below=True)
    left = _not_sieved(rows, Determined(dict(replica)), Determined(dict(MODEL)))
    return [row.counter for row in left if not row.agrees]


@pytest.mark.parametrize(
    ("end", "off"),
    [
        (23_999, []),
        (47_999, []),  # sieved writes read what they write
        (100_023_999, ["MAX_BYTE_READ"]),
        (9_999, ["MAX_BYTE_READ"]),
    ],
)
def test_sieving_does_not_explain_reads_elsewhere(end: int, off: list[str]) -> None:
    assert compared(MAX_BYTE_READ=end) == off


def test_sieved_reads_say_nothing_of_writes() -> None:
    assert compared(MAX_BYTE_WRITTEN=1000) == ["MAX_BYTE_WRITTEN"]


@pytest.mark.parametrize(("sharing", "files"), [("shared", 1), ("per-rank", 4)])
@pytest.mark.parametrize("rename", [True, False])
def test_renames_are_predicted(sharing: str, files: int, rename: bool) -> None:
    family: dict[str, Any] = {
        "role": "checkpoint",
        "interface": "posix",
        "sharing": sharing,
        "rename": rename,
        "schedule": {"count": 3, "every": "1 s"},
        "content": {"streams": [{"direction": "write", "sizes": ["8 x 4 KiB"]}]},
    }
    workload = Workload.model_validate({"workalike": 2, "ranks": 4, "families": [family]})
    found = predicted(resolve(workload, Options()), [4096])[Role.CHECKPOINT, 1]["POSIX"]
    assert found.counters.get("RENAME_SOURCES", 0) == 3 * files * rename
