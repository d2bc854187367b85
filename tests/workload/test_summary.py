"""`workalike check FILE` in words."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from known_logs import JOBS, characterized_or_skip, job_name
from plan_sums import dump_bytes
from workload_strategies import workloads

from workalike.errors import WorkalikeError
from workalike.plan.resolve import Options, resolve
from workalike.workload import phrases
from workalike.workload.model import Compute, Direction, Workload
from workalike.workload.summary import summarize
from workalike.workload.workload_file import parse_workload, read_workload

WORKLOADS = Path(__file__).parents[2] / "workloads"


def test_one_of_the_papers() -> None:
    text = "\n".join(summarize(read_workload(WORKLOADS / "mphys-b.yaml")))
    assert text.startswith("80 ranks, run time 2.18 h, 2 file families: 40.2 GiB written, 0 B read")
    assert (
        "checkpoint 1: 27 dumps; one file shared by all ranks, new for each dump; hdf5, counted at mpiio"
        in text
    )
    assert "from 100 ms to 118 min, 28.4 s to 8.24 min apart" in text
    assert "259 MiB to 1.9 GiB per dump, the last 7.5 times the first" in text
    assert "43 equal datasets that fill the dump's size, written collectively" in text
    assert "assumed  sizes or times borrowed from another run's input deck" in text


def test_computing_between_dumps() -> None:
    workload = read_workload(WORKLOADS / "mphys-b.yaml").model_copy(
        update={"compute": Compute(level=3, length=5)}
    )
    assert summarize(workload)[1] == "between dumps: 16 units of stencil on every rank"


def test_files_that_are_deleted_holes_and_late_ranks() -> None:
    """Who gets the workload sees that its replica deletes files."""
    text = """\
workalike: 2
ranks: 16
families:
- role: scratch
  interface: posix
  sharing: per-rank
  sparse: true
  removed: true
  schedule: {start: [1 s], duration: 9 s, writes: {last: 4 s, skew: [{ranks: 8-15, delay: 0.3 s}]}}
  content:
    streams: [{direction: write, sizes: [8/rank x 1 MiB]}]
"""
    found = "\n".join(summarize(parse_workload(text)))
    assert "removed  each file is deleted after the last dump that uses it" in found
    assert "sparse   dumps read bytes that were never written, which are zeros" in found
    assert "8 ranks begin later in every dump, by at most 300 ms" in found
    of_all = parse_workload(text.replace("ranks: 8-15", "ranks: all"))
    assert "all ranks begin later in every dump, by at most 300 ms" in "\n".join(summarize(of_all))


@pytest.mark.parametrize(
    ("folders", "words"),
    [
        ("{files: 3}", "3 files in each"),
        ("{per_rank: true}", "each rank has its own"),
        ("{files: 1, per_rank: true}", "each rank has its own, 1 file in each"),
    ],
)
def test_folders(folders: str, words: str) -> None:
    text = f"""\
workalike: 2
ranks: 4
families:
- role: output
  interface: posix
  sharing: per-rank
  folders: {folders}
  schedule: {{count: 4, first: 0 s, every: 1 s}}
  content: {{streams: [{{direction: write, sizes: [4/rank x 64 KiB]}}]}}
"""
    assert any(line.split(maxsplit=1) == ["folders", words] for line in summarize(parse_workload(text)))
    with pytest.raises(WorkalikeError, match="sharing: per-rank") if "per_rank" in folders else nullcontext():
        parse_workload(text.replace("sharing: per-rank", "sharing: shared"))


def test_loads_and_what_is_not_covered() -> None:
    workload = parse_workload(
        """\
workalike: 2
ranks: 64
nodes: 4
families:
- role: input
  interface: posix
  schedule: {start: [3 s]}
  content:
    streams:
    - {direction: read, sizes: [2/rank x 512 MiB], pattern: replicated}
- role: log
  interface: stdio
  sharing: root
  lifetime: appended
  schedule: {count: 10, every: 6 s}
  content:
    flushes: 1
    streams:
    - {direction: write, sizes: [1 x 80 B]}
uncovered:
- {reason: partial-module, bytes: 3 MiB, files: 2}
"""
    )
    text = "\n".join(summarize(workload))
    assert "64 ranks on 4 nodes" in text
    assert "input 1: 1 load; one file shared by all ranks; posix" in text
    assert "128 independent reads of 512 MiB, every rank all of it" in text
    assert "log 1: 10 dumps; one file by one rank, held open and appended to; stdio" in text
    assert "every 6 s" in text and "1 flush" in text
    assert "3 MiB in 2 files: the log is partial" in text


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(workloads())
def test_any_workload(workload: Workload) -> None:
    lines = summarize(workload)
    assert all(line.isprintable() for line in lines)
    lives = min(len(workload.processes or ()), phrases.MOST_GROUPS + 1) + 1
    assert len(lines) <= 4 + lives + len(workload.families) * 20 + len(workload.uncovered)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(workloads(kinds=("streams", "fit")))
def test_bytes_are_the_plans(workload: Workload) -> None:
    """The words and the plan agree on every dump, up to the rounding of one byte per direction."""
    plan = resolve(workload, Options())
    for number, family in enumerate(workload.families):
        planned = [dump_bytes(plan, number, d) for d in (Direction.WRITE, Direction.READ)]
        written = phrases.dump_bytes(family, workload.ranks, Direction.WRITE)
        read = phrases.dump_bytes(family, workload.ranks, Direction.READ)
        slack = 2 * max(len(c.streams) for c in family.all_contents()) + 2
        assert all(abs(a - b) <= slack for a, b in zip(planned[0], written, strict=True))
        assert all(abs(a - b) <= slack for a, b in zip(planned[1], read, strict=True))


@pytest.mark.parametrize("logs", JOBS, ids=job_name)
def test_real_ones(logs: tuple[Path, ...]) -> None:
    lines = summarize(characterized_or_skip(logs).workload)
    assert len(lines) > 4
    assert max(map(len, lines)) < 240
