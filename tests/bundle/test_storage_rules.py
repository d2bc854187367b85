"""Rules about storage: a run in memory does not count, and the rule that it breaks is named."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_bundle import REPEATS, WORKLOAD, Files, packed_results, performed

from workalike.bundle.collect import Collected, collect
from workalike.bundle.pack import Packed, pack, write_bundle
from workalike.bundle.rules import Rules, file_systems_of, rules_of
from workalike.bundle.storage_rules import StorageRule, broken_rules
from workalike.errors import WorkalikeError
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import Record, assemble
from workalike.workload.workload_file import read_workload

GIB = 2**30
Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("storage")


@pytest.fixture(scope="module")
def plan(folder: Path) -> Plan:
    return plan_of(WORKLOAD, folder)


@pytest.fixture(scope="module")
def lines(plan: Plan, folder: Path) -> bytes:
    return performed(plan, folder)


def plan_of(text: str, folder: Path, options: Options | None = None) -> Plan:
    (folder / "app.yaml").write_text(text)
    return resolve(read_workload(folder / "app.yaml"), options or Options())


def changed(lines: bytes, change: Change) -> bytes:
    """A record whose first line, the description of the run, is changed."""
    first, _, rest = lines.partition(b"\n")
    document = json.loads(first)
    change(document)
    return json.dumps(document).encode() + b"\n" + rest


def on(file_system: str) -> Change:
    return lambda document: document["environment"].update(file_system=file_system)


def memory(size: object) -> Change:
    return lambda document: document["environment"].update(memory_bytes=size, host_memory_bytes=[size])


def collected(packed: Packed, plan_bytes: bytes, lines: bytes, tmp_path: Path) -> Collected:
    files: Files = {"bundle": f"{packed.id}  CHECKSUMS\n".encode(), "checksums": packed.files["CHECKSUMS"]}
    for repeat in range(1, REPEATS + 1):
        files |= {f"app/{repeat}/run.jsonl": lines, f"app/{repeat}/plan.json": plan_bytes}
    write_bundle(packed, tmp_path / "tender.tar.gz")
    results = packed_results(files, tmp_path / "r.tar.gz")
    return collect(tmp_path / "tender.tar.gz", results, "vendor", tmp_path / "out")


@pytest.mark.mpi
def test_a_run_in_shared_memory_deviates(folder: Path, plan: Plan, tmp_path: Path) -> None:
    """The whole chain: a bundle is packed, its plan performed in /dev/shm, and the results are collected."""
    packed = pack({"app": plan}, REPEATS, memory_factor=0)
    place = Path(f"/dev/shm/workalike-test-{os.getpid()}")
    try:
        from workalike.launch.run import RunOptions, run_plan

        run_plan(plan, RunOptions(place, tmp_path / "run", quiet=True))
    finally:
        subprocess.run(["rm", "-rf", place], check=True)
    lines = (tmp_path / "run" / "run.jsonl").read_bytes()
    found = collected(packed, packed.files["plans/app/plan.json"], lines, tmp_path)
    assert [row.trial["state"] for row in found.finished] == ["deviates"] * REPEATS
    assert found.disclosed["app/1"] == ["RULES.json, excluded_file_systems: the run was on tmpfs"]
    assert found.merits[0].runs == 0 and not found.all_count


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("factor", "change", "rule"),
    [
        (None, on("ext4"), "memory_factor 1.5: the working set is 1.5 MiB"),
        (1.5, memory(2**20), ""),
        (
            1.5,
            memory(2**20 + 1),
            "memory_factor 1.5: the working set is 1.5 MiB, the memory of all nodes 1 MiB",
        ),
        (1.5, memory(0), "memory_factor 1.5: the memory of the nodes is unknown"),
        (0, memory(GIB), ""),
        (0, on("ramfs"), "excluded_file_systems: the run was on ramfs"),
        (0, lambda d: d.update(time_scale=0.5), "time-scale 0.5, the plan of"),
    ],
)
def test_each_rule_is_named(
    plan: Plan, lines: bytes, tmp_path: Path, factor: float | None, change: Change, rule: str
) -> None:
    packed = pack({"app": plan}, REPEATS, memory_factor=factor)
    found = collected(packed, packed.files["plans/app/plan.json"], changed(lines, change), tmp_path)
    assert {row.trial["state"] for row in found.finished} == {"deviates" if rule else "ok"}
    if rule:
        (noted,) = found.disclosed["app/2"]
        assert noted.startswith("RULES.json, ") and rule in noted


@pytest.mark.mpi
def test_rules_of_an_older_bundle_have_the_defaults(plan: Plan, lines: bytes, tmp_path: Path) -> None:
    packed = pack({"app": plan}, REPEATS)
    document = json.loads(packed.files["RULES.json"])
    for rule in document["plans"]:
        del rule["storage"]
    del document["excluded_file_systems"]
    older = rules_of(json.dumps(document | {"version": 2}), "older")
    assert older.excluded_file_systems == ["tmpfs", "ramfs"] and older.plans[0].storage is None
    files = dict(packed.files) | {"RULES.json": json.dumps(document | {"version": 2}).encode()}
    import hashlib

    sums = (
        files["CHECKSUMS"]
        .decode()
        .replace(
            hashlib.sha256(packed.files["RULES.json"]).hexdigest(),
            hashlib.sha256(files["RULES.json"]).hexdigest(),
        )
    )
    files["CHECKSUMS"] = sums.encode()
    old = Packed(files, older, hashlib.sha256(sums.encode()).hexdigest())
    found = collected(old, files["plans/app/plan.json"], lines, tmp_path)
    assert "memory_factor 1.5" in found.disclosed["app/1"][0]


def test_a_plan_at_another_scale_of_bytes_may_lie_in_memory(tmp_path: Path) -> None:
    small = plan_of(WORKLOAD, tmp_path, Options(bytes_scale=1 / 64))
    weak = plan_of(WORKLOAD, tmp_path, Options(ranks=4, scaling="weak"))
    assert rule_of(small).memory_factor == 0 and rule_of(weak).memory_factor == 1.5
    assert rule_of(small, 3.0).memory_factor == 3


def rule_of(plan: Plan, factor: float | None = None) -> StorageRule:
    return pack({"app": plan}, 1, memory_factor=factor).rules.plans[0].storage or pytest.fail("no rule")


SYNCED = """\
workalike: 2
ranks: 4
families:
- role: checkpoint
  interface: posix
  sharing: per-rank
  schedule: {count: 2, first: 0 s, every: 1 s}
  content: {fsyncs: 4, streams: [{direction: write, sizes: [1/rank x 64 KiB]}]}
"""
READ = """\
- role: restart
  interface: posix
  sharing: per-rank
  reader: neighbour
  schedule: {count: 1, first: 5 s, every: 1 s}
  content: {streams: [{direction: read, sizes: [1/rank x 64 KiB]}]}
"""


def record(plan: Plan, **environment: object) -> Record:
    """A record of the plan's own counts, as if it had run somewhere."""
    from workalike.plan.core import core_plan
    from workalike.record.counted import counted_dumps

    return Record.model_validate(
        {
            "plan_ranks": plan.ranks,
            "processes": plan.ranks,
            "backend": "posix",
            "time_scale": plan.time_scale,
            "scale": plan.scale.model_dump(mode="json"),
            "environment": environment,
            "dumps": counted_dumps(plan, core_plan(plan)),
        }
    )


def test_syncs_and_uncached_reads_are_stated_where_the_plan_has_them(tmp_path: Path) -> None:
    without = rule_of(plan_of(WORKLOAD, tmp_path))
    assert not without.writes_end_with_sync and not without.reads_uncached
    plan = plan_of(SYNCED, tmp_path)
    rule = rule_of(plan, 0)
    assert rule.writes_end_with_sync and not rule.reads_uncached
    made = record(plan)
    assert broken_rules(rule, [], plan, made) == []
    made.dumps[1].kinds["fsync"].count = 0
    assert broken_rules(rule, [], plan, made) == [
        "writes_end_with_sync: 1 of 2 dumps that write have no sync"
    ]


@pytest.mark.parametrize(("hosts", "breaks"), [(1, True), (2, True), (4, False)])
def test_reads_of_a_neighbour_leave_the_node(tmp_path: Path, hosts: int, breaks: bool) -> None:
    """The next rank is on another node only where each node has one rank."""
    plan = plan_of(SYNCED + READ, tmp_path)
    rule = rule_of(plan, 0)
    assert rule.reads_uncached
    found = broken_rules(rule, [], plan, record(plan, host_count=hosts))
    assert [text.partition(":")[0] for text in found] == ["reads_uncached"] * breaks


def test_types_of_file_systems() -> None:
    assert file_systems_of(" NFS, tmpfs,,") == ("nfs", "tmpfs") and file_systems_of("") == ()
    with pytest.raises(WorkalikeError, match="not a type of file system"):
        file_systems_of("a b")


def test_bad_rules_are_refused() -> None:
    good = {
        "workalike": "1",
        "repeats": 1,
        "tunable": [],
        "plans": [{"name": "a", "sha256": "0" * 64, "ranks": 1, "bytes": 1}],
    }
    Rules.model_validate(good)
    for change in ({"excluded_file_systems": ["\x1b"]}, {"version": 4}):
        with pytest.raises(WorkalikeError):
            rules_of(json.dumps(good | change), "rules")
    for storage in ({"memory_factor": -1}, {"memory_factor": float("nan")}, {}):
        plan = good["plans"][0] | {"storage": storage}  # type: ignore[index]
        with pytest.raises(WorkalikeError, match="storage"):
            rules_of(json.dumps(good | {"plans": [plan]}), "rules")


@pytest.mark.mpi
def test_the_script_ends_with_1_where_all_runs_fail(plan: Plan, tmp_path: Path) -> None:
    """The engine is one that fails; the archive is written all the same."""
    packed = pack({"app": plan}, REPEATS)
    for name, content in packed.files.items():
        if name.startswith(("plans/", "RULES", "CHECKSUMS", "run.sh")):
            path = tmp_path / "tender" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    engine = tmp_path / "tender" / "build" / "workalike-engine"
    engine.parent.mkdir()
    engine.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    engine.chmod(0o755)
    (tmp_path / "data").mkdir()
    command = ["sh", "tender/run.sh", "data"]
    environment = os.environ | {
        "LAUNCH": str(tmp_path / "launch")
    }  # one process, whatever the number of ranks
    (tmp_path / "launch").write_text('#!/bin/sh\nshift\nexec "$@"\n')
    (tmp_path / "launch").chmod(0o755)
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode == 1 and f"{REPEATS} of the runs failed" in run.stderr
    assert (tmp_path / "tender" / "results.tar.gz").exists()
    engine.write_text("#!/bin/sh\nexit 0\n")
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and "send back" in run.stdout


@pytest.mark.mpi
def test_the_command_states_the_rules(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(WORKLOAD)

    def packed(*arguments: object) -> tuple[str, dict[str, Any]]:
        command = [
            sys.executable,
            "-m",
            "workalike",
            "bundle",
            "app.yaml",
            "-o",
            "t.tar.gz",
            *map(str, arguments),
        ]
        run = subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=tmp_path, check=True)
        from workalike.bundle.archive import files_in

        files = files_in(tmp_path / "t.tar.gz")
        return run.stdout + files["README.txt"].decode(), json.loads(files["RULES.json"])

    text, rules = packed()
    assert "1.5 x the memory of all nodes (under 1 MiB)" in text and rules["version"] == 3
    assert "app: files of at least 1.5 x the memory of all nodes" in text and "tmpfs, ramfs" in text
    text, rules = packed("--memory-factor", 0, "--exclude", "nfs")
    assert re.search(r"may lie in memory", text) and rules["excluded_file_systems"] == ["nfs"]


@pytest.mark.mpi
def test_the_engine_reports_the_memory_of_each_node(lines: bytes, tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_bytes(lines)
    found = assemble(tmp_path / "run.jsonl").environment
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert (
        found["host_memory_bytes"] == [total] and found["memory_bytes"] == total and found["host_count"] == 1
    )
