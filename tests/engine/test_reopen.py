"""A file that is closed and opened anew amid the operations of a rank: calls, counters and bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_counts import engine_or_skip

from workalike import _core
from workalike.darshan import layouts, open_log
from workalike.errors import WorkalikeError
from workalike.facts.gather import gather
from workalike.facts.jobs import job_of
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.plan_file import plan_text
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.workload_file import parse_workload

WORKLOAD = """\
workalike: 2
ranks: 2
families:
- role: log
  interface: posix
  sharing: per-rank
  schedule: {{start: [0]}}
  content:
    opens: {opens}
    reopen: true
    streams:
    - {{direction: write, sizes: [6/rank x 100 B]}}
"""


def plan_of(opens: int) -> Plan:
    return resolve(parse_workload(WORKLOAD.format(opens=opens)), Options())


def calls_of_rank_0(plan: Plan, folder: Path) -> str:
    """One letter for each open, write and close, in order."""
    _core.Plan(plan_text(plan)).write_operations(str(folder / "operations.txt"))
    lines = [line.split("\t") for line in (folder / "operations.txt").read_text().splitlines()]
    letters = {"open": "o", "write": "w", "close": "c"}
    return "".join(letters[line[3]] for line in lines if line[0] == "0")


@pytest.mark.parametrize(
    ("opens", "calls"),
    [
        (2, "owwwwwwc"),
        (4, "owwwcowwwc"),
        (8, "owcowwcowcowwc"),
        (12, "owcowcowcowcowcowc"),
        (14, "ocowcowcowcowcowcowc"),
    ],
)
def test_opens_are_spread_over_the_operations(tmp_path: Path, opens: int, calls: str) -> None:
    assert calls_of_rank_0(plan_of(opens), tmp_path) == calls


@pytest.mark.parametrize("opens", range(2, 30, 2))
def test_counters_begin_anew_with_each_open(tmp_path: Path, opens: int) -> None:
    """The core counts a run of equal writes in one step, up to the next open."""
    plan = plan_of(opens)
    records = _core.Plan(plan_text(plan)).predict([4096], 10**6)["POSIX"]
    names = layouts.FIXED["POSIX"].current.counters
    counted = dict(zip(names, records["counters"][0].tolist(), strict=True))
    runs = [part.count("w") for part in calls_of_rank_0(plan, tmp_path).split("o")]
    assert (counted["OPENS"], counted["WRITES"]) == (opens // 2, 6)
    assert counted["CONSEC_WRITES"] == sum(max(0, run - 1) for run in runs)
    assert counted["SEQ_WRITES"] == 5  # all but the one at byte 0


@pytest.mark.mpi
@pytest.mark.parametrize("interface", ["posix", "stdio"])
def test_a_run_opens_so_often_and_writes_the_same(tmp_path: Path, interface: str) -> None:
    engine_or_skip()
    text = WORKLOAD.format(opens=8).replace("interface: posix", f"interface: {interface}")
    options = RunOptions(data=tmp_path / "data", out=tmp_path / "out", capture=True, verify=True, quiet=True)
    run_plan(resolve(parse_workload(text), Options()), options)
    log = open_log(tmp_path / "out" / "replica.darshan")
    files = gather(job_of([log])).files()
    found = [file.modules[interface.upper()] for file in files if interface.upper() in file.modules]
    assert [module.total("OPENS") for module in found] == [4, 4]
    assert [module.total("BYTES_WRITTEN") for module in found] == [600, 600]
    if interface == "posix":
        assert [module.total("CONSEC_WRITES") for module in found] == [2, 2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"interface: posix": "interface: mpiio"}, "needs `interface: posix` or stdio"),
        ({"opens: 8": "opens: 0"}, "state them"),
        ({"schedule:": "lifetime: appended\n  schedule:"}, "stays open"),
    ],
)
def test_what_cannot_be_opened_anew_is_refused(changes: dict[str, str], message: str) -> None:
    text = WORKLOAD.format(opens=8)
    for old, new in changes.items():
        text = text.replace(old, new)
    with pytest.raises(WorkalikeError, match=message):
        parse_workload(text)
