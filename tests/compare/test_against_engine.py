"""The side of a plan, which the core counts in Python, has the counters that the engine's program counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_counts import engine_or_skip, lines_counted

from workalike.compare.fidelity import compare
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import assemble
from workalike.workload.model import Workload
from workalike.workload.workload_file import parse_workload

pytestmark = pytest.mark.mpi

HEAD = """\
workalike: 2
ranks: 6
families:
- role: checkpoint
  interface: {interface}
  sharing: {sharing}
  schedule: {{count: 3, first: 1 s, every: 10 s}}
  content:
    stats: 6
    fsyncs: 6
    streams:
"""
STREAMS = {
    "independent": ["{direction: write, sizes: [8/rank x 64 KiB, 7 x 100 B]}"],
    "collective": [
        "{direction: write, sizes: [12 x 64 KiB, 7 x 2 KiB, 3 x 1 MiB], pattern: interleaved, collective: true}",
        "{direction: read, sizes: [5 x 4 KiB], collective: true}",
    ],
    "of some ranks": [
        "{direction: write, ranks: '0', sizes: [3 x 96 B]}",
        "{direction: write, ranks: '1-4', sizes: [9 x 64 KiB], collective: true}",
    ],
}
SHARINGS = [
    "shared",
    "per-rank",
    "{mode: groups, files: 4}",
    "{mode: groups, files: 2, turns: baton}",
    "{mode: subset, ranks: 0-4}",
    "root",
]


def workload_of(interface: str, sharing: str, streams: list[str]) -> Workload:
    if sharing == "root":
        streams = ["{direction: write, ranks: '0', sizes: [48 x 64 KiB]}"]
    text = HEAD.format(interface=interface, sharing=sharing)
    return parse_workload(text + "".join(f"    - {stream}\n" for stream in streams))


@pytest.mark.parametrize("streams", STREAMS)
@pytest.mark.parametrize("sharing", SHARINGS)
@pytest.mark.parametrize("interface", ["mpiio", "posix"])
def test_a_plan_has_the_counters_of_the_engine(
    tmp_path: Path, interface: str, sharing: str, streams: str
) -> None:
    if "baton" in sharing and streams != "independent":
        pytest.skip("ranks that take turns make no collective calls")
    workload = workload_of(interface, sharing, STREAMS[streams])
    plan = resolve(workload, Options())
    record = assemble(lines_counted(engine_or_skip(), plan, tmp_path))
    fidelity = compare(workload, record, plan=plan)
    assert fidelity.basis == "plan"
    assert fidelity.families[0].bytes_error_max_pct == 0
    off = {r.counter: (r.expected, r.replica) for r in fidelity.counters if r.error_pct}
    assert off == {}
    assert {r.counter for r in fidelity.counters if r.comparable} >= {"BYTES_WRITTEN"}
