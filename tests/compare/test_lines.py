"""What the two lines of a verdict compare: sieving libraries, and renames."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from counted_logs import log_of

from workalike.characterize import characterize
from workalike.compare.lines import _not_sieved, model_against_log, replica_against_model
from workalike.compare.merged_counts import sizes_of, with_lost_counts
from workalike.compare.pairing import pair_up
from workalike.darshan import open_log
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.resolve import Options, resolve
from workalike.predict.agreement import rows_of
from workalike.predict.determined import EFFECTIVE, Determined
from workalike.predict.prediction import predicted
from workalike.workload.model import Family, Role, Workload

GROUP = ((Role.CHECKPOINT, 1),)
MODEL = {"READS": 24, "BYTES_READ": 24_000, "MAX_BYTE_READ": 23_999, "WRITES": 24, "BYTES_WRITTEN": 24_000, "MAX_BYTE_WRITTEN": 47_999}  # fmt: skip


def compared(**found: int) -> list[str]:
    """The counters in which a replica is off, whose library read more bytes than it was asked for."""
    replica = MODEL | {"READS": 3, "BYTES_READ": 90_000} | found
    rows = rows_of(GROUP, "POSIX", Determined(dict(MODEL)), Determined(dict(replica)), below=True)
    left = _not_sieved(rows, Determined(dict(replica)), Determined(dict(MODEL)))
    return [row.counter for row in left if not row.agrees]


def reduced_record(counts: dict[int, int], calls: int) -> Determined:
    """A reduced MPI-IO record with these sizes and counts, of so many independent writes in all."""
    names = ["INDEP_WRITES"]
    values = [calls]
    for place, (size, count) in enumerate(counts.items(), 1):
        names += [f"ACCESS{place}_ACCESS", f"ACCESS{place}_COUNT"]
        values += [size, count]
    found = Determined()
    found.add_records("MPI-IO", np.array([values]), tuple(names), np.array([True]))
    return found


FULL = {10: 40, 20: 30, 30: 20, 40: 5}


def family_of(sizes: dict[int, int]) -> Family:
    """A family of two ranks with so many independent writes of each size."""
    entries = [f"{count} x {size} B" for size, count in sizes.items()]
    content = {"streams": [{"direction": "write", "sizes": entries}]}
    return Family.model_validate({"role": "checkpoint", "schedule": {"count": 1}, "content": content})


@pytest.mark.parametrize(
    ("calls", "model", "off"),
    [
        (95, FULL, []),
        (99, FULL | {20: 34}, []),  # 4 of the log's calls are of no value
        (99, FULL | {20: 35}, [20]),
        (99, FULL | {20: 33, 30: 22}, [20]),  # all sizes together have 4: 30 B gets 2 of them
        (195, FULL | {50: 100}, []),
        (195, FULL | {20: 20, 50: 110}, [20]),  # a workload has what it has
        (195, {1: 40, 2: 30, 3: 20, 4: 5, 5: 100}, [10, 20, 30, 40]),  # no size in common
    ],
)
def test_a_merged_count_is_a_lower_bound(calls: int, model: dict[int, int], off: list[int]) -> None:
    log = reduced_record(FULL, calls)
    rows = rows_of(GROUP, "MPI-IO", log, reduced_record(FULL, calls))
    truth = family_of(model)
    found = with_lost_counts(list(rows), log, sizes_of([truth], 2, None))
    missed = [row.counter for row in found if row.counter.startswith("ACCESS") and not row.agrees]
    assert missed == [f"ACCESS of {size} B" for size in off]


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


@pytest.mark.parametrize(
    ("interface", "sharing", "files"),
    [("posix", "shared", 1), ("posix", "per-rank", 4), ("stdio", "per-rank", 4)],
)
@pytest.mark.parametrize("rename", [True, False])
def test_renames_are_predicted(interface: str, sharing: str, files: int, rename: bool) -> None:
    family: dict[str, Any] = {
        "role": "checkpoint",
        "interface": interface,
        "sharing": sharing,
        "rename": rename,
        "schedule": {"count": 3, "every": "1 s"},
        "content": {"streams": [{"direction": "write", "sizes": ["8 x 4 KiB"]}]},
    }
    workload = Workload.model_validate({"workalike": 2, "ranks": 4, "families": [family]})
    found = predicted(resolve(workload, Options()), [4096])[Role.CHECKPOINT, 1]
    assert found.get("POSIX", Determined()).counters.get("RENAME_SOURCES", 0) == 3 * files * rename


@pytest.mark.parametrize(
    ("fields", "removed"),
    [({"removed": True}, 5), ({"keep": 2}, 3), ({"lifetime": "reused", "removed": True}, 1), ({}, 0)],
    ids=str,
)
@pytest.mark.parametrize(("sharing", "files"), [("shared", 1), ("per-rank", 4)])
@pytest.mark.parametrize("interface", ["posix", "stdio", "mpiio"])
def test_removals_are_predicted(
    fields: dict[str, Any], removed: int, sharing: str, files: int, interface: str
) -> None:
    family: dict[str, Any] = {
        "role": "scratch",
        "interface": interface,
        "sharing": sharing,
        "schedule": {"count": 5, "every": "1 s"},
        "content": {"streams": [{"direction": "write", "sizes": ["8 x 4 KiB"]}]},
    }
    workload = Workload.model_validate({"workalike": 2, "ranks": 4, "families": [family | fields]})
    found = predicted(resolve(workload, Options()), [4096])[Role.SCRATCH, 1]
    assert found["POSIX"].counters["REMOVALS"] == removed * files


def uneven(**fields: Any) -> Determined:
    """A dump of four files, one of each rank, and one in which three of the four have no data."""
    contents = [
        {
            "streams": [
                {"direction": "write", "sizes": [f"{calls} x 4 KiB"], "collective": "collective" in fields}
            ]
        }
        for calls in (4, 1)
    ]
    fields = {name: value for name, value in fields.items() if name != "collective"}
    family = {"role": "scratch", "interface": "posix", "sharing": "per-rank", "contents": contents} | fields
    family |= {"schedule": {"count": 2, "every": "1 s"}}
    workload = Workload.model_validate({"workalike": 2, "ranks": 4, "families": [family]})
    module = "MPI-IO" if fields.get("interface") == "mpiio" else "POSIX"
    return predicted(resolve(workload, Options()), [4096])[Role.SCRATCH, 1][module]


@pytest.mark.parametrize(
    ("fields", "counter", "files"),
    [
        ({"keep": 1}, "REMOVALS", 4),
        ({"removed": True}, "REMOVALS", 8),
        ({"backup": True}, "RENAME_SOURCES", 4),
        ({"rename": True}, "RENAME_SOURCES", 8),
    ],
)
def test_names_of_dumps_with_unequal_files(fields: dict[str, Any], counter: str, files: int) -> None:
    assert uneven(**fields).counters[counter] == files


def test_files_without_data_are_predicted() -> None:
    """Ranks that have no part in collective calls open their files all the same, and make them."""
    sharing = {"mode": "groups", "files": 2}
    found = uneven(interface="mpiio", collective=True, sharing=sharing)
    assert sum(value for name, value in found.counters.items() if "OPENS" in name) == 2 * 4


def test_very_many_families_are_predicted_in_bounded_time() -> None:
    item = {
        "interface": "posix",
        "sharing": "root",
        "removed": True,
        "schedule": {"count": 20, "every": "1 s"},
        "content": {"streams": [{"direction": "write", "sizes": ["1 x 8 B"]}]},
    }
    families = [item | {"role": "scratch", "number": number + 1} for number in range(1500)]
    plan = resolve(Workload.model_validate({"workalike": 2, "ranks": 1, "families": families}), Options())
    begun = time.process_time()
    found = predicted(plan, [0] * len(families))
    assert time.process_time() - begun < 8  # each family looked at the files of all
    assert {of_family["POSIX"].counters["REMOVALS"] for of_family in found.values()} == {20}


@pytest.mark.parametrize("collective", [True, False])
@pytest.mark.parametrize("removals", [0, 3])
def test_removals_below_mpiio_are_compared(collective: bool, removals: int, tmp_path: Path) -> None:
    """Of collective calls, nothing else of POSIX is."""
    family: dict[str, Any] = {
        "role": "scratch",
        "interface": "mpiio",
        "sharing": "shared",
        "schedule": {"count": 3, "every": "1 s"},
        "content": {"streams": [{"direction": "write", "sizes": ["8 x 4 KiB"], "collective": collective}]},
    }
    workload = Workload.model_validate({"workalike": 2, "ranks": 4, "families": [family | {"removed": True}]})
    model = predicted(resolve(workload, Options()), [4096])[Role.SCRATCH, 1]["POSIX"]
    log = Determined({"WRITES": 6, "BYTES_WRITTEN": 3 * 8 * 4096, "REMOVALS": removals})
    log.common["ACCESS"][16384] = 6
    rows = [row for row in rows_of(GROUP, "POSIX", log, model, below=True) if not row.agrees]
    off = {row.counter: (row.expected, row.found) for row in rows}
    assert off.get("REMOVALS") == (None if removals else (0, 3))
    assert not collective or off.keys() <= {"REMOVALS"}
    back = [row.counter for row in rows_of(GROUP, "POSIX", model, log, below=True)]
    assert not collective or back == ["REMOVALS"]


def streams(**content: Any) -> Workload:
    """Each of two ranks writes a stream of 16 calls."""
    family = {
        "role": "output",
        "interface": "stdio",
        "sharing": "per-rank",
        "schedule": {"count": 1, "first": "1 s"},
        "content": {"streams": [{"direction": "write", "sizes": ["16/rank x 4 KiB"]}], **content},
    }
    return Workload.model_validate({"workalike": 2, "ranks": 2, "families": [family]})


@pytest.mark.parametrize(
    ("content", "off"),
    [
        ({"sync": "each", "flush": "each"}, []),
        ({"sync": "each"}, []),  # a stream is flushed before its descriptor is synced
        ({"flush": "each"}, [("POSIX", "FSYNCS", 32, 0)]),
        ({}, [("STDIO", "FLUSHES", 32, 0), ("POSIX", "FSYNCS", 32, 0)]),
        ({"fsyncs": 2}, [("STDIO", "FLUSHES", 32, 2), ("POSIX", "FSYNCS", 32, 2)]),
    ],
)
def test_syncs_and_flushes_of_streams_are_compared(
    content: dict[str, Any], off: list[tuple[str, str, int, int]], tmp_path: Path
) -> None:
    """A log of streams that are synced after each write, beside workloads that sync them otherwise."""
    log = open_log(log_of(streams(sync="each", flush="each"), tmp_path / "log.darshan"))
    found = characterize([log])
    pairing = replace(pair_up(found, None), full_plan=resolve(streams(**content), Options()))
    rows = [row for row in model_against_log(pairing) if not row.agrees]
    assert [(row.module, row.counter, row.expected, row.found) for row in rows] == off


def shared(*, interface: str = "posix", **stream: Any) -> Workload:
    """A file that four ranks open and write 16 blocks into."""
    family = {
        "role": "output",
        "interface": interface,
        "sharing": "shared",
        "schedule": {"count": 1, "first": "1 s"},
        "content": {"opens": 4, "streams": [{"direction": "write", **stream}]},
    }
    return Workload.model_validate({"workalike": 2, "ranks": 4, "families": [family]})


@pytest.mark.parametrize("interface", ["posix", "mpiio"])
@pytest.mark.parametrize(
    ("stream", "found"),
    [
        ({"sizes": ["16 x 4 KiB"]}, 4),
        ({"sizes": ["16 x 4 KiB"], "ranks": "0-1"}, 2),
        ({"sizes": ["16 x 4 KiB"], "ranks": 2}, 1),
    ],
)
def test_which_ranks_move_bytes_is_compared(
    interface: str, stream: dict[str, Any], found: int, tmp_path: Path
) -> None:
    """Sums of a reduced record do not show that one rank moves all; its variance does."""
    log = open_log(log_of(shared(interface=interface, sizes=["16 x 4 KiB"]), tmp_path / "log.darshan"))
    full_plan = resolve(shared(interface=interface, **stream), Options())
    pairing = replace(pair_up(characterize([log]), None), full_plan=full_plan)
    rows = [row for row in model_against_log(pairing) if row.counter == EFFECTIVE]
    assert {(row.expected, row.found, row.agrees) for row in rows} == {(4, found, found == 4)}


def test_what_other_families_move_is_a_miss(tmp_path: Path) -> None:
    """The replica has files that the original does not have."""
    other = streams().families[0].model_copy(update={"number": 2})
    more = streams().model_copy(update={"families": [*streams().families, other]})
    run = run_plan(
        resolve(more, Options(time_scale=0)),
        RunOptions(tmp_path / "data", tmp_path / "out", backend="null", quiet=True),
    )
    rows = replica_against_model(pair_up(streams(), run.model_copy(update={"backend": "stdio"})))
    assert [(row.counter, row.expected, row.found) for row in rows if not row.agrees] == [
        ("BYTES_WRITTEN", 0, 2 * 16 * 4096)
    ]
