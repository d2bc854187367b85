"""Every planted problem is found at twice its threshold and not at half of it; clean logs have no finding of weight."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from support.clean_logs import AT_ROOT, KINDS, Kind, on_the_node, varied
from support.planted_findings import ON_SHARED, OWN_JOB, PLANTS, SITE, WITHOUT_WEIGHT, T, clean, planted
from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.diagnose.diagnosis import diagnose
from workalike.diagnose.finding import Severity
from workalike.diagnose.registry import all_rules
from workalike.diagnose.site import Site

CASES = {
    "conflict": "test_page.py, tests/capture/test_conflicts_captured.py",
    "never-overlaps": "test_rule_cases.py",
    "partial-log": "test_first_rules.py",
    "slower-than-its-past": "test_past.py",
}
"""Rules without a number for a threshold, or that need more than counters: the tests that make them fire."""


def weighty(log: LogBuilder, folder: Path) -> set[str]:
    """Rules that are HIGH or MEDIUM, as causes or as what else was seen of them; and those that never are."""
    found = diagnose([open_log(log.write(folder / "x.darshan"))], Site(SITE))
    return {
        name
        for finding in found.findings
        for name in (finding.rule, *finding.also)
        if finding.severity is not Severity.NOTE or name in WITHOUT_WEIGHT
    }


def test_every_rule_is_planted_or_a_case() -> None:
    assert set(all_rules()) == PLANTS.keys() | CASES.keys()
    assert not PLANTS.keys() & CASES.keys()


@pytest.mark.parametrize("rule", [name for name in PLANTS if name != "file-per-process"])
def test_found_at_twice_and_silent_at_half(rule: str, tmp_path: Path) -> None:
    assert rule in weighty(planted(rule, 2.0), tmp_path)
    assert rule not in weighty(planted(rule, 0.5), tmp_path)


@pytest.mark.parametrize("rule", [name for name in PLANTS if all_rules()[name].shared_storage])
def test_found_where_the_mount_table_shows_only_the_root(rule: str, tmp_path: Path) -> None:
    log = planted(rule, 2.0)
    log.job = replace(log.job, mounts=AT_ROOT)
    assert rule in weighty(log, tmp_path)


@pytest.mark.parametrize("rule", [name for name in PLANTS if name not in OWN_JOB])
def test_found_beside_three_others(rule: str, tmp_path: Path) -> None:
    others = [
        name for name in PLANTS if name not in (*OWN_JOB, rule, "redundant-reads", "read-again-each-epoch")
    ]
    chosen = tuple(random.Random(rule).sample(others, 3))
    found = weighty(planted(rule, 2.0, chosen), tmp_path)
    assert {rule, *chosen} <= found


def test_clean_logs_have_no_finding_of_weight(tmp_path: Path) -> None:
    for seed in range(12):
        assert weighty(clean(seed=seed), tmp_path) == set(), seed
    for seed in range(6 * len(KINDS)):
        assert weighty(varied(seed), tmp_path) == set(), seed


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("ranks", [1, 16, 512, 1024])
def test_each_clean_kind_has_no_finding_of_weight_on_any_ranks(
    kind: Kind, ranks: int, tmp_path: Path
) -> None:
    for seed in range(3):
        log = LogBuilder(nprocs=ranks, run_time=T, mounts=(*AT_ROOT, ("ext4", "/local")))
        kind(log, random.Random(seed))
        assert weighty(log, tmp_path) == set(), seed


def test_clean_logs_vary(tmp_path: Path) -> None:
    logs = [open_log(varied(seed).write(tmp_path / f"{seed}.darshan")) for seed in range(2 * len(KINDS))]
    assert {"POSIX", "MPI-IO", "STDIO", "H5D", "LUSTRE"} <= {name for log in logs for name in log.modules}
    assert len({log.job.nprocs for log in logs}) >= 7
    assert len({tuple(log.job.mounts) for log in logs}) >= 4


def test_what_is_clean_on_a_node_is_not_on_shared_storage(tmp_path: Path) -> None:
    """The clean logs are close to what they are not: on the servers, the files of a node are a problem."""
    found = set()
    for seed in range(KINDS.index(on_the_node), 20 * len(KINDS), len(KINDS)):
        log = varied(seed)
        log.job = replace(log.job, mounts=ON_SHARED)
        found |= weighty(log, tmp_path)
    assert found >= {"scratch-files", "tiny-files"}
