"""Changed workloads against figures worked out by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from workalike.errors import WorkalikeError
from workalike.workload.model import Direction, Workload
from workalike.workload.phrases import dump_bytes
from workalike.workload.what_if import changed, parse_what_if, size_law
from workalike.workload.workload_file import read_workload, workload_text

STREAMS = {"streams": [{"direction": "write", "sizes": ["16/rank x 64 KiB"]}]}  # 4 MiB of 4 ranks
MIB = 2**20


def workload(**family: object) -> Workload:
    plain = {"role": "checkpoint", "schedule": {"count": 3, "first": 10, "every": 20}, "content": STREAMS}
    other = {"role": "input", "schedule": {"start": [1.0]}, "content": STREAMS}
    return Workload.model_validate({"ranks": 4, "runtime": 100, "families": [plain | family, other]})


def dumps(work: Workload, *changes: str) -> list[tuple[float, int]]:
    """(start, bytes written) of each checkpoint of the changed workload."""
    family = changed(work, parse_what_if(changes)).families[0]
    sizes = dump_bytes(family, 4, Direction.WRITE)
    return [(round(start, 9), size) for start, size in zip(family.schedule.starts(), sizes, strict=True)]


GROWING = {"sizes": "100 MiB", "growth": [1.21, 1.21]}  # 100, 121, 146.41 MiB at 10, 30 and 50 s


def mib(*sizes: float) -> list[int]:
    return [round(size * MIB) for size in sizes]


@pytest.mark.parametrize(
    ("family", "changes", "starts", "sizes"),
    [
        # Constant dumps: half the interval, twice the dumps less one; 40 s fit once into 10 to 50 s.
        ({}, ["checkpoint.every=10s"], [10, 20, 30, 40, 50], mib(4, 4, 4, 4, 4)),
        ({}, ["checkpoint.every=40 s"], [10, 50], mib(4, 4)),
        ({}, ["checkpoint.every=41s"], [10], mib(4)),
        ({}, ["checkpoint.every=15s"], [10, 25, 40], mib(4, 4, 4)),
        # Growth of 1.21 in 20 s is 1.1 in 10 s: a dump at 30 s has 121 MiB as before.
        (GROWING, ["checkpoint.every=10s"], [10, 20, 30, 40, 50], mib(100, 110, 121, 133.1, 146.41)),
        (GROWING, ["checkpoint.every=40s"], [10, 50], mib(100, 146.41)),
        (GROWING, ["checkpoint.count=5"], [10, 20, 30, 40, 50], mib(100, 110, 121, 133.1, 146.41)),
        (GROWING, ["checkpoint.count=1"], [10], mib(100)),
        # From a dump on: what is before stays, with its size.
        (GROWING, ["checkpoint[1:].every=10s"], [10, 30, 40, 50], mib(100, 121, 133.1, 146.41)),
        (GROWING, ["checkpoint[2:].every=1s"], [10, 30, 50], mib(100, 121, 146.41)),
        # Both: the run is longer, and growth goes on as before.
        (
            {"sizes": "1 MiB", "growth": [2, 2]},
            ["checkpoint.count=4", "checkpoint.every=20s"],
            [10, 30, 50, 70],
            mib(1, 2, 4, 8),
        ),
        # Growth of its own, from dump to dump.
        (GROWING, ["checkpoint.growth=10%"], [10, 30, 50], mib(100, 110, 121)),
        (GROWING, ["checkpoint[1:].growth=-50%"], [10, 30, 50], mib(100, 121, 60.5)),
        ({}, ["checkpoint.growth=100%"], [10, 30, 50], mib(4, 8, 16)),
        ({}, ["checkpoint.growth=0%"], [10, 30, 50], mib(4, 4, 4)),
        (
            {},
            ["checkpoint.every=10s", "checkpoint[1:].growth=100%"],
            [10, 20, 30, 40, 50],
            mib(4, 4, 8, 16, 32),
        ),
        ({"number": 7}, ["checkpoint-7.count=2"], [10, 50], mib(4, 4)),
        ({"number": 7}, ["checkpoint 7.count=2"], [10, 50], mib(4, 4)),
        # Sizes without a law between two dumps: geometric, linear from an empty one.
        (
            {"sizes": ["1 MiB", "4 MiB", "4 MiB"]},
            ["checkpoint.every=10s"],
            [10, 20, 30, 40, 50],
            mib(1, 2, 4, 4, 4),
        ),
        ({"sizes": ["0 B", "4 MiB", "8 MiB"]}, ["checkpoint[0:].count=3"], [10, 30, 50], mib(0, 4, 8)),
    ],
)
def test_dumps_by_hand(
    family: dict[str, object], changes: list[str], starts: list[float], sizes: list[int]
) -> None:
    assert dumps(workload(**family), *changes) == list(zip(map(float, starts), sizes, strict=True))


def test_what_is_not_named_stays() -> None:
    before = workload(**GROWING)
    after = changed(before, parse_what_if(["checkpoint.every=10s"]))
    assert after.families[1] == before.families[1]
    assert (after.ranks, after.runtime) == (before.ranks, 100.0)
    assert before == workload(**GROWING)  # it was not changed itself
    assert changed(before, parse_what_if([])) == before


def test_the_run_is_longer_by_what_is_later() -> None:
    after = changed(workload(), parse_what_if(["checkpoint.count=4", "checkpoint.every=30s"]))
    assert after.families[0].schedule.starts() == [10, 40, 70, 100]
    assert after.runtime == 150.0


def test_a_dump_does_what_the_one_before_its_moment_did() -> None:
    """Contents, durations and windows come from the last dump of the original before the moment."""
    contents = [
        {"fsyncs": number, "streams": [{"direction": "write", "sizes": [f"{number + 1} x 1 MiB"]}]}
        for number in range(3)
    ]
    schedule = {"count": 3, "first": 10, "every": 20, "duration": [1, 2, 3], "compute_time": [0.1, 0.2, 0.3]}
    schedule["writes"] = {"first": [0.5, 0.6, 0.7]}
    work = workload(contents=contents, schedule=schedule, content=None)
    family = changed(work, parse_what_if(["checkpoint.every=10s"])).families[0]
    assert family.schedule.starts() == [10, 20, 30, 40, 50]
    assert family.schedule.duration == [1, 1, 2, 2, 3]
    assert family.schedule.compute_time == [0.1, 0.1, 0.2, 0.2, 0.3]
    assert family.schedule.writes is not None
    assert family.schedule.writes.first == [0.5, 0.5, 0.6, 0.6, 0.7]
    assert [family.content_of(dump).fsyncs for dump in range(5)] == [0, 0, 1, 1, 2]
    # 1, 2 and 3 MiB: in the middle, their geometric mean.
    written = dump_bytes(family, 4, Direction.WRITE)
    assert written == [MIB, round(2**0.5 * MIB), 2 * MIB, round(6**0.5 * MIB), 3 * MIB]


def test_late_ranks_go_with_their_dumps() -> None:
    """Those of every dump stay; those of one are late where a dump does what it did, as far as a window has room."""
    skew = [{"ranks": 3, "delay": 0.1}, {"ranks": 1, "delay": 0.2, "dump": 0}]
    schedule = {"count": 2, "first": 10, "every": 20, "duration": 1, "writes": {"skew": skew}}
    work = workload(schedule=schedule)
    window = changed(work, parse_what_if(["checkpoint.every=10s"])).families[0].schedule.writes
    assert window is not None
    assert [(late.delay, late.dump) for late in window.skew] == [(0.1, None), (0.2, 0), (0.2, 1)]
    for dumps, late_at, assumed in ((64, 63, []), (65, 63, ["late-ranks"]), (100, 63, ["late-ranks"])):
        family = changed(work, parse_what_if([f"checkpoint.count={dumps}"])).families[0]
        assert family.schedule.writes is not None
        assert [late.dump for late in family.schedule.writes.skew] == [None, *range(late_at)]
        assert family.assumed == assumed


def test_size_law() -> None:
    assert [size_law([0, 10], [100, 400], at) for at in (-1, 0, 5, 10)] == [100, 100, 200, 400]
    assert size_law([0, 10], [100, 400], 15) == pytest.approx(800)
    assert size_law([3], [7], 100) == 7
    assert size_law([0, 10], [0, 400], 5) == 200
    assert size_law([0, 10], [0, 400], 20) == 400
    assert size_law([0, 0], [1, 9], 5) == 9


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("checkpoint.every", "has no `=`"),
        ("checkpoint=3", "not a path"),
        ("checkpoint[5].every=1s", "not a path"),
        ("dump.every=1s", "not a role"),
        ("checkpoint.sizes=4", "cannot be changed"),
        ("checkpoint.every=fast", "such as"),
        ("checkpoint.every=0s", "longer than 0"),
        ("checkpoint.every=1e-9s", "at most"),
        ("checkpoint.count=0", "whole number"),
        ("checkpoint.count=2.5", "whole number"),
        ("checkpoint.count=999999999", "whole number"),
        ("checkpoint.growth=1.02", "per cent"),
        ("checkpoint.growth=-100%", "shrink"),
        ("checkpoint.growth=999999%", "a size must lie"),
        ("checkpoint[3:].every=1s", "has 3 dumps"),
        ("checkpoint-2.every=1s", "no such family"),
        ("log.count=2", "checkpoint 1, input 1"),
        ("input.count=2", "give `every`"),
        ("ranks=0", "whole number"),
        ("checkpoint.every=", "such as"),
    ],
)
def test_errors_name_the_text_and_the_way_out(change: str, words: str) -> None:
    big = workload(schedule={"count": 3, "first": 10, "every": 20}, sizes="1 TiB")
    with pytest.raises(WorkalikeError, match=words) as error:
        changed(big, parse_what_if([change]))
    assert error.value.exit_code == 2
    assert change in error.value.one_line()
    assert "\n" not in error.value.one_line()


def test_twice_is_refused() -> None:
    with pytest.raises(WorkalikeError, match="twice"):
        parse_what_if(["checkpoint.every=1s", "checkpoint.every=2s"])


def workalike(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "workalike", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_plan_and_run_take_it(tmp_path: Path) -> None:
    file = tmp_path / "w.yaml"
    file.write_text(workload_text(workload(**GROWING)))
    options = ["--what-if", "checkpoint.every=10s", "--what-if", "ranks=2"]
    done = workalike("plan", file, *options, "-o", tmp_path / "plan.json", "--json")
    assert done.returncode == 0, done.stderr
    assert (json.loads(done.stdout)["dumps"], json.loads(done.stdout)["ranks"]) == (6, 2)
    done = workalike(
        "run", file, *options, "--dir", tmp_path / "d", "-o", tmp_path, "--backend", "null", "--json"
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    written = [dump["bytes_written"] for dump in record["dumps"] if dump["role"] == "checkpoint"]
    assert written == mib(100, 110, 121, 133.1, 146.41)
    again = workalike("run", tmp_path / "plan.json", *options, "--dir", tmp_path / "d", "-o", tmp_path)
    assert again.returncode == 2
    assert "--what-if" in again.stderr
    both = workalike("plan", file, *options, "--ranks", 3)
    assert (both.returncode, both.stderr.count("\n")) == (2, 1)


def test_a_shipped_workload_can_be_changed() -> None:
    """A workload of the papers, with arrays or meshes: half the interval at the same sizes."""
    work = read_workload(Path(__file__).parents[2] / "workloads" / "mphys-e.yaml")
    family = work.families[0]
    starts, sizes = family.schedule.starts(), dump_bytes(family, work.ranks, Direction.WRITE)
    step = (starts[1] - starts[0]) / 2
    after = changed(work, parse_what_if([f"checkpoint.every={step}s"])).families[0]
    found = dict(zip(after.schedule.starts(), dump_bytes(after, work.ranks, Direction.WRITE), strict=True))
    assert found[starts[0]] == sizes[0]
    assert len(found) > len(starts)


def test_far_too_many_dumps_are_a_short_line() -> None:
    family = {"role": "checkpoint", "schedule": {"count": 3, "first": 10, "every": 20}, "content": STREAMS}
    workload = Workload.model_validate({"workalike": 2, "ranks": 1, "families": [family]})
    with pytest.raises(WorkalikeError, match="far too many dumps") as error:
        changed(workload, parse_what_if(["checkpoint.every=1e-300 s"]))
    assert len(error.value.one_line()) < 200
