"""Findings become changed workloads, and measured gains with intervals; what does not pay is said."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from workalike.darshan.write import LogBuilder
from workalike.diagnose import change as changes
from workalike.diagnose.change import Change
from workalike.diagnose.finding import Tried
from workalike.diagnose.registry import all_rules
from workalike.diagnose.text import tried_line
from workalike.diagnose.trying.measure import AS_IS, TryOptions, _factors, _result, try_changes
from workalike.diagnose.trying.workloads import changed_workload
from workalike.plan.resolve import Options
from workalike.study.statistics.table import Trials
from workalike.workload.workload_file import parse_workload

HEAD = "workalike: 2\nranks: 4\nfamilies:\n"
FAMILY = """\
- role: checkpoint
  interface: {interface}
  schedule: {{count: 1, first: 0 s}}
  content:
    {content}
"""


def workload(interface: str, content: str) -> str:
    return HEAD + FAMILY.format(interface=interface, content=content)


STREAM = "streams: [{direction: write, sizes: [8/rank x 64 KiB]%s}]"
ARRAYS = "arrays: [{dims: [64, 64]%s, access: [{direction: write, slabs: [{count: 4, shape: [16, 64]}]%s}]}]"
CASES = [
    (changes.COLLECTIVE, "mpiio", STREAM % "", STREAM % ", collective: true"),
    (changes.COLLECTIVE, "hdf5", ARRAYS % ("", ""), ARRAYS % ("", ", collective: true")),
    (changes.SYNC_ONCE, "posix", "sync: each\n    " + STREAM % "", "fsyncs: 1\n    " + STREAM % ""),
    (changes.IN_ORDER, "posix", STREAM % ", pattern: random", STREAM % ""),
    (changes.NO_FILL, "hdf5", ARRAYS % (", fill_values: true", ""), ARRAYS % ("", "")),
    (changes.NO_SEEKS, "posix", "seeks: each\n    " + STREAM % "", STREAM % ""),
    (changes.NO_STATS, "posix", "stats: 90\n    " + STREAM % "", STREAM % ""),
    (changes.OPENED_ONCE, "posix", "opens: 40\n    " + STREAM % "", STREAM % ""),
    (changes.INDEPENDENT, "mpiio", STREAM % ", collective: true", STREAM % ""),
    (changes.AGGREGATED, "posix", STREAM % "", "streams: [{direction: write, sizes: [1/rank x 512 KiB]}]"),
    (changes.ONE_READER, "posix", "streams: [{direction: read, pattern: replicated, sizes: [8/rank x 64 KiB]}]",
     "streams: [{direction: read, ranks: 0, sizes: [8/rank x 64 KiB]}]"),
    (changes.READ_ONCE, "posix", "passes: 3\n    streams: [{direction: read, sizes: [8/rank x 64 KiB]}]",
     "streams: [{direction: read, sizes: [8/rank x 64 KiB]}]"),
    (changes.WITHOUT_STDIO, "stdio", "flush: each\n    " + STREAM % "",
     "streams: [{direction: write, sizes: [1/rank x 512 KiB]}]"),
    (changes.CHUNKED, "hdf5", ARRAYS % (", chunk: [64, 1]", ""), ARRAYS % (", chunk: [16, 64]", "")),
]  # fmt: skip
OF_FAMILIES = [
    (changes.MERGED, "posix", "sharing: per-rank", "sharing: shared"),
    (changes.MERGED, "posix", "sharing: per-rank\n  folders: {files: 2, per_rank: true}",
     "sharing: shared\n  folders: {files: 2}"),
    (changes.MERGED, "posix", "sharing: per-rank\n  folders: {per_rank: true}", "sharing: shared"),
    (changes.MERGED, "posix", "sharing: {mode: per-rank, ranks: 0-1}", "sharing: {mode: subset, ranks: 0-1}"),
    (changes.MERGED, "mpiio", "sharing: {mode: groups, files: 2}", "sharing: shared"),
    (changes.ALIGNED, "hdf5", "keep: 1", "keep: 1\n  tunable: {alignment: 1 MiB, threshold: 64 KiB}"),
    (changes.METADATA_TOGETHER, "hdf5", "keep: 1",
     "keep: 1\n  tunable: {collective_metadata: true, metadata_block: 1 MiB}"),
    (changes.NO_SIEVING, "mpiio", "tunable: {cb_nodes: 2}", "tunable: {cb_nodes: 2, data_sieving: false}"),
]  # fmt: skip
ONE_WRITES = "streams: [{direction: write, %ssizes: [%s]%s}]"
OF_ONE_WRITER = [
    ("posix", "sharing: root", ONE_WRITES % ("", "16 x 1 MiB", ""), "sharing: shared",
     ONE_WRITES % ("", "16 x 1 MiB", "")),
    ("posix", "sharing: root", "opens: 1\n    " + ONE_WRITES % ("ranks: 0, ", "8/rank x 1 MiB", ""),
     "sharing: shared", ONE_WRITES % ("", "8 x 1 MiB", "")),
    ("posix", "sharing: shared", "opens: 4\n    " + ONE_WRITES % ("ranks: 2, ", "8/rank x 1 MiB", ""),
     "sharing: shared", "opens: 4\n    " + ONE_WRITES % ("", "8 x 1 MiB", "")),
    ("posix", "sharing: root", ONE_WRITES % ("", "1 x 8 MiB", ""), "sharing: shared",
     ONE_WRITES % ("", "4 x 2 MiB", "")),
    ("mpiio", "sharing: root\n  level: posix", ONE_WRITES % ("", "16 x 1 MiB", ""), "sharing: shared",
     ONE_WRITES % ("", "16 x 1 MiB", ", collective: true")),
]  # fmt: skip
OF_LAYOUTS = {changes.STRIPED.name, changes.ONE_STRIPE.name}


@pytest.mark.parametrize(
    ("change", "interface", "before", "after"), CASES, ids=lambda v: getattr(v, "name", "")
)
def test_a_change_changes_what_it_says_and_nothing_else(
    change: Change, interface: str, before: str, after: str
) -> None:
    made = changed_workload(parse_workload(workload(interface, before)), change)
    other = "posix" if change is changes.WITHOUT_STDIO else interface
    assert made == parse_workload(workload(other, after))


@pytest.mark.parametrize(
    ("change", "interface", "before", "after"), OF_FAMILIES, ids=lambda v: getattr(v, "name", "")
)
def test_a_change_of_a_family_changes_nothing_else(
    change: Change, interface: str, before: str, after: str
) -> None:
    made = changed_workload(parse_workload(workload(interface, STREAM % "") + f"  {before}\n"), change)
    assert made == parse_workload(workload(interface, STREAM % "") + f"  {after}\n")


@pytest.mark.parametrize(("interface", "before", "content", "after", "content_after"), OF_ONE_WRITER)
def test_what_one_rank_writes_all_ranks_write(
    interface: str, before: str, content: str, after: str, content_after: str
) -> None:
    made = changed_workload(parse_workload(workload(interface, content) + f"  {before}\n"), changes.ALL_WRITE)
    assert made == parse_workload(workload(interface, content_after) + f"  {after}\n")


@pytest.mark.parametrize(
    ("ranks", "operations"), [(4, "8 x 8 MiB"), (16, "16 x 4 MiB"), (None, "1024 x 64 KiB")]
)
def test_what_one_rank_writes_is_cut_for_the_ranks_that_run(ranks: int | None, operations: str) -> None:
    """A log of 1,024 ranks whose replica has fewer: small writes would not be what the change does there."""
    text = workload("posix", ONE_WRITES % ("", "%s", "")) + "  sharing: %s\n"
    text = text.replace("ranks: 4", "ranks: 1024", 1)
    made = changed_workload(parse_workload(text % ("8 x 8 MiB", "root")), changes.ALL_WRITE, ranks)
    assert made == parse_workload(text % (operations, "shared"))


def test_what_several_ranks_write_or_one_reads_stays() -> None:
    read = "streams: [{direction: read, sizes: [8 x 1 MiB]}, {direction: write, sizes: [8 x 1 MiB]}]"
    for content, sharing in ((STREAM % "", "shared"), (STREAM % ", ranks: 0-1", "shared"), (read, "root")):
        calm = parse_workload(workload("posix", content) + f"  sharing: {sharing}\n")
        assert "nothing of it" in str(changed_workload(calm, changes.ALL_WRITE))


@pytest.mark.parametrize(("nodes", "wanted"), [(1, 1), (3, 3), (9, 4)])
def test_one_aggregator_on_each_node(monkeypatch: pytest.MonkeyPatch, nodes: int, wanted: int) -> None:
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", str(nodes))
    together = workload("mpiio", STREAM % ", collective: true")
    made = changed_workload(parse_workload(together), changes.AGGREGATORS)
    assert made == parse_workload(together + f"  tunable: {{cb_nodes: {wanted}}}\n")
    assert "nothing of it" in str(changed_workload(made, changes.AGGREGATORS))  # type: ignore[arg-type]
    alone = parse_workload(workload("mpiio", STREAM % ""))
    assert "nothing of it" in str(changed_workload(alone, changes.AGGREGATORS))


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("change", "interface", "content", "sharing", "moved"),
    [
        (changes.ALL_WRITE, "posix", ONE_WRITES % ("", "9 x 256 KiB", ""), "root", 9 << 18),
        (changes.ALL_WRITE, "mpiio", ONE_WRITES % ("", "9 x 256 KiB", ""), "root", 9 << 18),
        (changes.AGGREGATORS, "mpiio", STREAM % ", collective: true", "shared", 4 << 19),
        (changes.WITHOUT_STDIO, "stdio", "flush: each\n    " + STREAM % "", "per-rank", 4 << 19),
    ],
)
def test_a_change_runs_and_moves_the_same_bytes(
    tmp_path: Path, change: Change, interface: str, content: str, sharing: str, moved: int
) -> None:
    before = parse_workload(workload(interface, content) + f"  sharing: {sharing}\n")
    (tmp_path / "data").mkdir()
    options = TryOptions(tmp_path / "out", tmp_path / "data", ranks=4, blocks=2)
    (result,) = try_changes(before, [("rule", change)], options)
    assert result.reason == "" and result.ratio is not None
    lines = (tmp_path / "out/results/trials.jsonl").read_text().splitlines()
    rows = [json.loads(line)["trial"] for line in lines]
    assert {row["bytes_written"] for row in rows} == {moved}


def test_every_change_of_a_rule_is_tested() -> None:
    tested = {case[0].name for case in (*CASES, *OF_FAMILIES)} | OF_LAYOUTS
    tested |= {changes.ALL_WRITE.name, changes.AGGREGATORS.name}
    assert {change.name for rule in all_rules().values() for change in rule.changes} == tested


def test_bytes_of_a_rank_stay_when_operations_become_large() -> None:
    """Of 21 operations of 4 ranks the first rank has one more; large ones, and single ones, stay."""
    made = changed_workload(
        parse_workload(
            workload("posix", "streams: [{direction: write, sizes: [21 x 1 MiB, 3/rank x 3 MiB]}]")
        ),
        changes.AGGREGATED,
    )
    assert not isinstance(made, str) and made.families[0].content is not None
    (stream,) = made.families[0].content.streams
    assert sum(entry.total(4) * entry.size for entry in stream.sizes) == (21 + 36) << 20
    assert max(entry.size for entry in stream.sizes) == 4 << 20
    for sizes in ("2/rank x 4 MiB", "1/rank x 1 KiB", "3 x 1 KiB"):
        calm = parse_workload(workload("posix", f"streams: [{{direction: write, sizes: [{sizes}]}}]"))
        assert "nothing of it" in str(changed_workload(calm, changes.AGGREGATED))


def test_a_layout_that_a_file_system_does_not_have_is_not_tried(tmp_path: Path) -> None:
    calm = parse_workload(workload("posix", STREAM % ""))
    assert changed_workload(calm, changes.STRIPED) == calm
    (result,) = try_changes(
        calm, [("too-few-stripes", changes.STRIPED)], TryOptions(tmp_path / "out", ranks=2)
    )
    assert "no layout that can be set" in result.reason and result.ratio is None
    (result,) = try_changes(
        calm, [("too-many-stripes", changes.ONE_STRIPE)], TryOptions(tmp_path / "o", ranks=2)
    )
    assert "no layout that can be set" in result.reason


def test_a_layout_is_a_factor_of_its_own_level() -> None:
    factors = _factors({"collective": {}, "striped": {"stripe_count": "all"}})
    assert factors == {
        "stripe_count_0": {"set": "layout.stripe_count", "levels": ["all"], "when": "workload == 'striped'"}
    }


def test_what_has_nothing_to_change_is_said() -> None:
    calm = parse_workload(workload("posix", STREAM % ""))
    for change in (changes.SYNC_ONCE, changes.COLLECTIVE, changes.IN_ORDER):
        assert "nothing of it" in str(changed_workload(calm, change))


def tried(ratio: float, spread: float) -> Tried:
    """Eight blocks whose speed drifts by a factor of 40; the change takes `ratio` of the time."""
    noise = np.random.default_rng(5)
    blocks, names, seconds = [], [], []
    for number in range(8):
        drift = math.exp(0.5 * number)
        for name, factor in ((AS_IS, 1.0), ("sync-once", ratio)):
            blocks.append(number)
            names.append(name)
            seconds.append(2.0 * drift * factor * math.exp(spread * noise.standard_normal()))
    trials = Trials(np.array(blocks), names, np.array(seconds))
    return _result("sync-each-write", changes.SYNC_ONCE, trials, Options(ranks=4))


def test_a_planted_gain_is_measured_through_drift() -> None:
    gain = tried(0.5, 0.05)
    assert gain.pays is True and gain.blocks == 8
    assert gain.low is not None and gain.high is not None
    assert gain.low < 0.5 < gain.high < 0.6
    assert gain.saved_s == pytest.approx((1 - gain.ratio) * gain.io_time_s)  # type: ignore[operator]
    assert "pays" in tried_line(gain)


def test_a_change_that_does_not_pay_is_said() -> None:
    assert "does not pay" in tried_line(tried(1.5, 0.05))
    assert "no difference found" in tried_line(tried(1.0, 0.3))


@pytest.mark.mpi
def test_from_a_log_to_a_measured_change(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=2, run_time=10.0)
    for rank in range(2):
        log.posix(
            f"/data/out.{rank}", rank, OPENS=1, WRITES=60, FSYNCS=60, CONSEC_WRITES=59, SEQ_WRITES=59,
            BYTES_WRITTEN=60 * 4096, MAX_BYTE_WRITTEN=60 * 4096 - 1, SIZE_WRITE_1K_10K=60, ACCESS1_ACCESS=4096,
            ACCESS1_COUNT=60, F_WRITE_TIME=5.0, F_WRITE_START_TIMESTAMP=1.0, F_WRITE_END_TIMESTAMP=8.0,
            F_OPEN_START_TIMESTAMP=1.0, F_OPEN_END_TIMESTAMP=1.0, F_CLOSE_START_TIMESTAMP=8.0,
            F_CLOSE_END_TIMESTAMP=8.1,
        )  # fmt: skip
    path = log.write(tmp_path / "x.darshan")
    (tmp_path / "data").mkdir()
    command = [sys.executable, "-m", "workalike", "diagnose", path, "--try", tmp_path / "tried", "--dir"]
    command += [tmp_path / "data", "--ranks", "2", "--blocks", "2", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (result,) = [trial for trial in json.loads(done.stdout)["tried"] if trial["rule"] == "sync-each-write"]
    assert (result["change"], result["blocks"], result["ranks"]) == ("sync-once", 2, 2)
    assert 0 < result["low"] <= result["ratio"] <= result["high"]
    assert list((tmp_path / "data").iterdir()) == []
    rows = [
        json.loads(line)["trial"]
        for line in (tmp_path / "tried/results/trials.jsonl").read_text().splitlines()
    ]
    assert sorted(row["workload"] for row in rows) == [AS_IS, AS_IS, "sync-once", "sync-once"]
    assert {row["bytes_written"] for row in rows} == {2 * 60 * 4096}
