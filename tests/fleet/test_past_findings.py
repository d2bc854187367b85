"""Logs of a database that are slower than their own past are findings, as `diagnose --history` says of each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from fleets import builder, query, stored
from portals import TestClient

from workalike.fleet.compact import compact
from workalike.fleet.past import PastLimits
from workalike.fleet.serve import snapshot
from workalike.fleet.serve.access import Access
from workalike.fleet.serve.app import portal
from workalike.fleet.site import Site, read_site
from workalike.fleet.store import Store, open_store

RUN_S, USUAL_S = 600.0, 30.0
RULE = "slower-than-its-past"
ROW = f"SELECT job_id, severity, answer, cost_s, bound_s, summary FROM finding JOIN log USING (log_id) WHERE rule = '{RULE}'"


def run(folder: Path, job: int, seconds: float, opens: int = 4, **more: Any) -> Path:
    """A job of 4 ranks that writes 4 GiB, each rank in so many seconds; the n-th job runs on the n-th day."""
    folder.mkdir(exist_ok=True, parents=True)
    log = builder(job, nprocs=4, run=RUN_S, day=job, **more)
    log.posix("/scratch/out.dat", OPENS=opens, WRITES=1024, BYTES_WRITTEN=4 << 30, MAX_BYTE_WRITTEN=(4 << 30) - 1,
              SIZE_WRITE_4M_10M=1024, CONSEC_WRITES=1020, F_WRITE_TIME=4 * seconds, F_SLOWEST_RANK_TIME=seconds)  # fmt: skip
    return log.write(folder / f"job_{job}.darshan")


def runs(folder: Path, count: int = 12) -> Path:
    """Earlier runs, which took 31 to 30 s, each less than the one before."""
    for job in range(1, count + 1):
        run(folder, job, USUAL_S + 1 - job / count)
    return folder


def test_a_slow_run_is_a_finding_of_the_fleet_as_of_diagnose(tmp_path: Path) -> None:
    log = run(runs(tmp_path / "logs"), 20, 100.0)
    store, _ = stored(tmp_path / "db", tmp_path / "logs")
    ((job, *found),) = query(store, ROW)
    assert job == 20
    command = [sys.executable, "-m", "workalike", "diagnose", log, "--history", store.folder, "--json"]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["findings"]
    (own,) = [finding for finding in said if finding["rule"] == RULE]
    assert found[:2] == ["HIGH", "not-your-fault"] == [own["severity"], own["answer"]]
    assert found[2:4] == pytest.approx([own["cost"]["rank_seconds"], own["gain_at_most_s"]])
    assert found[4] == own["summary"]
    ((evidence,),) = query(store, f"SELECT evidence FROM finding WHERE rule = '{RULE}'")
    assert json.loads(evidence)["numbers"] == pytest.approx(own["evidence"])
    assert json.loads(evidence)["terms"] == pytest.approx(own["cost"]["terms"])


def test_the_order_of_ingestion_does_not_matter(tmp_path: Path) -> None:
    run(tmp_path / "late", 20, 100.0)
    store, _ = stored(tmp_path / "db", tmp_path / "late")
    assert query(store, ROW) == []
    store, _ = stored(tmp_path / "db", runs(tmp_path / "logs"))
    assert [row[0] for row in query(store, ROW)] == [20]
    assert [row[0] for row in query(open_store(store.folder), ROW)] == [20]


@pytest.mark.parametrize(
    ("count", "seconds", "more"),
    [
        (9, 100.0, {}),  # too few earlier runs
        (12, 30.5, {}),  # among them
        (12, 20.0, {}),
        (12, 34.0, {}),  # below all, as one of 20 runs is by chance: 3.5 s of 600 s have no weight
        (12, 100.0, {"exe": "./other"}),
    ],
)
def test_no_finding(tmp_path: Path, count: int, seconds: float, more: dict[str, Any]) -> None:
    run(runs(tmp_path / "logs", count), 20, seconds, **more)
    assert query(stored(tmp_path / "db", tmp_path / "logs")[0], ROW) == []


def test_a_run_whose_calls_changed_is_a_problem(tmp_path: Path) -> None:
    run(runs(tmp_path / "logs"), 20, 100.0, opens=4000)
    ((_, _, answer, cost, bound, summary),) = query(stored(tmp_path / "db", tmp_path / "logs")[0], ROW)
    assert answer == "problem" and bound == cost > 0 and summary.endswith("; changed: opens")


def test_limits_of_the_site_count(tmp_path: Path) -> None:
    run(runs(tmp_path / "logs"), 20, 100.0)
    (tmp_path / "limits.toml").write_text(f"[{RULE}]\nruns = 13\n[job]\nhigh = 0.9\n")
    (tmp_path / "site.yaml").write_text("diagnose: limits.toml\n")
    more = {"site": read_site(tmp_path / "site.yaml"), "site_file": tmp_path / "site.yaml"}
    store, _ = stored(tmp_path / "db", tmp_path / "logs", **more)
    assert query(store, ROW) == []
    (tmp_path / "limits.toml").write_text("[job]\nhigh = 0.9\n")
    more["site"] = read_site(tmp_path / "site.yaml")
    store, _ = stored(tmp_path / "db", tmp_path / "logs", **more)  # no new logs: the limits are new
    assert [row[1] for row in query(open_store(store.folder), ROW)] == ["MEDIUM"]


@pytest.mark.parametrize(
    "limits",
    [
        5,
        {},
        {"runs": "x"},
        {"percentile": 900, "runs": 1, "high": 1, "medium": 1},
        {"percentile": 5, "runs": 10, "high": 0.1, "medium": -0.01},
        {"percentile": 5, "runs": 10, "high": -0.1, "medium": -0.2},
        {"percentile": 5, "runs": 10, "high": 0.01, "medium": 0.1},
        {"percentile": 5, "runs": 10, "high": 2, "medium": 0.1},
    ],
)
def test_limits_that_cannot_be_are_the_defaults(limits: Any) -> None:
    assert PastLimits.of_about({"slower_than_its_past": limits}) == PastLimits.of_site(Site().rules)


def test_findings_are_computed_by_ingestion_and_not_when_they_are_read(tmp_path: Path) -> None:
    run(runs(tmp_path / "logs"), 20, 100.0)
    store, _ = stored(tmp_path / "db", tmp_path / "logs")
    connection = open_store(store.folder).connect()
    plan = str(connection.execute(f"EXPLAIN {ROW}").fetchall())
    assert "WINDOW" not in plan.upper()
    compact(store, grace_s=0.0)
    assert [row[0] for row in query(open_store(store.folder), ROW)] == [20]
    assert not store.views_are_old()


def test_what_a_killed_ingestion_left_out_of_the_findings_is_made_up_for(tmp_path: Path) -> None:
    logs = runs(tmp_path / "logs")
    stored(tmp_path / "db", logs)
    run(logs, 20, 100.0)
    (tmp_path / "limits.toml").write_text("[job]\nhigh = 0.9\n")
    (tmp_path / "site.yaml").write_text("diagnose: limits.toml\n")
    more = {"site": read_site(tmp_path / "site.yaml"), "site_file": tmp_path / "site.yaml"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "_write_views", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            stored(tmp_path / "db", logs, **more)
    store, outcome = stored(tmp_path / "db", logs, **more)
    assert outcome.known == outcome.found  # nothing is new but what was left to do
    with duckdb.connect(str(store.folder / "fleet.duckdb"), read_only=True) as connection:
        assert [row[:2] for row in connection.execute(ROW).fetchall()] == [(20, "MEDIUM")]


def test_the_portal_sees_findings_that_are_written_after_its_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "LOOK_EVERY_S", 0.0)
    logs = runs(tmp_path / "logs")
    stored(tmp_path / "db", logs)
    run(logs, 20, 100.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "update_views", lambda _: None)
        store, _ = stored(tmp_path / "db", logs)
    portal_of = snapshot.Snapshot(open_store(store.folder))
    count = "SELECT count(*) AS n FROM past_finding"
    assert portal_of.rows(count) == [{"n": 0}]
    store.update_views()
    assert portal_of.rows(count) == [{"n": 1}]


def test_the_report_and_the_portal_have_it(tmp_path: Path) -> None:
    run(runs(tmp_path / "logs"), 20, 100.0)
    store: Store = stored(tmp_path / "db", tmp_path / "logs")[0]
    site = TestClient(portal(store, Access(Site())))
    [job] = site.get("/api/jobs?job_id=20").json()["jobs"]
    assert "slower than its own past" in site.get(f"/job/{job['key']}").text
    assert f"/job/{job['key']}" in site.get(f"/finding/{RULE}").text
    command = [sys.executable, "-m", "workalike", "fleet", "report", "--db", str(store.folder), "--json"]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert RULE in {finding["rule"] for finding in said["findings"]}
