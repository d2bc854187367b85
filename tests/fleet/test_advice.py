"""The portal advises what `diagnose` does, word for word; findings of older databases keep what is known."""

from __future__ import annotations

import ast
import inspect
import json
import sys
from pathlib import Path

import pytest
from fleets import builder, plain_log, query, rows_of, stored
from known_logs import EVERY_LOG, SHARED_LOGS
from older_databases import as_version_2, as_version_3
from portals import TestClient
from test_stored_findings import synced

from workalike.darshan import open_log
from workalike.diagnose.diagnosis import diagnose
from workalike.diagnose.registry import all_rules
from workalike.diagnose.rules import slower_than_its_past
from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet.compact import compact
from workalike.fleet.ingest import ingest
from workalike.fleet.serve import pages, queries
from workalike.fleet.serve.access import Access
from workalike.fleet.serve.app import portal
from workalike.fleet.serve.snapshot import Snapshot
from workalike.fleet.site import Site
from workalike.fleet.store import open_or_make, open_store
from workalike.fleet.upgrade import BY_CASE, open_to_write

OF_PAST = slower_than_its_past.RULE.id


def test_the_portal_advises_what_diagnose_does(tmp_path: Path) -> None:
    collective = builder(1, run=600.0).mpiio("/scratch/f", COLL_WRITES=400, COLL_OPENS=4, BYTES_WRITTEN=2**24)
    calls = {"OPENS": 4, "WRITES": 4000, "SIZE_WRITE_1K_10K": 4000, "BYTES_WRITTEN": 2**24}
    collective.posix("/scratch/f", **calls, F_WRITE_TIME=900.0)
    paths = {path.resolve(): None for path in [*EVERY_LOG, collective.write(tmp_path / "a.darshan")]}
    store = open_or_make(tmp_path / "db", "")
    ingest(store, list(paths), Site(), jobs=2)
    data = Snapshot(store)
    known = {row["log_id"]: row for row in data.rows("SELECT * FROM log")}
    checked = decided = 0
    for row in data.rows("SELECT DISTINCT ON (log_id) log_id, path FROM source WHERE outcome = 'ingested'"):
        block = pages._findings(data, [known[row["log_id"]]])
        shown = sorted((cells[1].text, cells[2].text, cells[6].text) for cells in block.rows)
        found = diagnose([open_log(row["path"])]).findings
        past = all_rules()[OF_PAST].title
        assert [each for each in shown if each[0] != past] == sorted(
            (finding.title, finding.summary, finding.advice) for finding in found
        ), row["path"]
        checked += 1
        decided += sum(finding.advice != all_rules()[finding.rule].advice for finding in found)
    assert checked > (40 if SHARED_LOGS else 20) and decided >= (3 if SHARED_LOGS else 1), (checked, decided)


def test_rules_that_advise_by_case_are_known() -> None:
    """`upgrade` leaves the advice of their older findings open."""
    found = set()
    for rule in all_rules().values():
        for node in ast.walk(ast.parse(inspect.getsource(sys.modules[rule.find.__module__]))):
            called = node.func if isinstance(node, ast.Call) else None
            if (
                isinstance(called, ast.Name)
                and called.id in ("Seen", "replace")
                and isinstance(node, ast.Call)
            ):
                found |= {rule.id for keyword in node.keywords if keyword.arg == "advice"}
    assert found == BY_CASE


def test_a_database_of_version_2_loses_nothing(tmp_path: Path) -> None:
    for job in range(3):
        synced(tmp_path / "logs", job)
    plain_log(tmp_path / "logs", 7)
    (tmp_path / "logs" / "bad.darshan").write_text("no log")
    store, _ = stored(tmp_path / "db", tmp_path / "logs")
    before = rows_of(tmp_path / "db")
    as_version_2(store, Site())
    with pytest.raises(
        WorkalikeError, match=r"of version 2, an older one .*4 .*workalike fleet ingest"
    ) as refused:
        open_store(tmp_path / "db")
    assert refused.value.kind is ErrorKind.BAD_FILE
    newer = open_to_write(tmp_path / "db", Site())
    assert json.loads((tmp_path / "db" / "fleet.json").read_text())["workalike_fleet"] == 4
    assert rows_of(tmp_path / "db") == before
    assert query(newer, "SELECT DISTINCT rule, advice FROM finding WHERE rule = 'sync-each-write'") == [
        ("sync-each-write", all_rules()["sync-each-write"].advice)
    ]
    again = ingest(newer, [tmp_path / "logs"], Site(), jobs=1)
    assert (again.found, again.known) == (5, 5)
    assert TestClient(portal(open_store(tmp_path / "db"), Access(Site()))).get("/").status_code == 200
    compact(newer, grace_s=0)
    assert rows_of(tmp_path / "db") == before


def test_an_upgrade_that_was_killed_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for job in range(3):
        synced(tmp_path / "logs" / str(job), job)
        store, _ = stored(tmp_path / "db", tmp_path / "logs" / str(job))
    before = rows_of(tmp_path / "db")
    as_version_2(store, Site())
    commit, done = type(store).commit, []

    def dying(self: object, *arguments: object) -> None:
        if done:
            raise KeyboardInterrupt
        done.append(commit(self, *arguments))  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(type(store), "commit", dying)
        with pytest.raises(KeyboardInterrupt):
            open_to_write(tmp_path / "db", Site())
    assert json.loads((tmp_path / "db" / "fleet.json").read_text())["workalike_fleet"] == 2
    open_to_write(tmp_path / "db", Site())
    assert rows_of(tmp_path / "db") == before


def test_older_advice_that_is_not_known_is_said_to_be(tmp_path: Path) -> None:
    synced(tmp_path / "logs", 1)
    store, _ = stored(tmp_path / "db", tmp_path / "logs")
    for path in (tmp_path / "db" / "parts").rglob("finding.parquet"):
        import pyarrow as pa
        import pyarrow.parquet as parquet

        table = parquet.read_table(path)
        rules = pa.array(["small-writes"] * table.num_rows, pa.string())
        parquet.write_table(table.set_column(table.schema.get_field_index("rule"), "rule", rules), path)
    as_version_2(store, Site())
    data = Snapshot(open_to_write(tmp_path / "db", Site()))
    [log] = data.rows("SELECT * FROM log")
    rows = queries.of_logs(data, "finding", [log], "cost_s DESC")
    assert rows and {row["advice"] for row in rows} == {None}
    assert {cells[6].text for cells in pages._findings(data, [log]).rows} == {pages.UNKNOWN_ADVICE}


def test_an_older_database_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    plain_log(tmp_path / "logs", 1)
    store, _ = stored(tmp_path / "db", tmp_path / "logs")
    as_version_2(store, Site())
    (tmp_path / "db" / "staging").rmdir()
    (tmp_path / "db" / "staging").write_text("")  # as little use as a folder without rights, for root too
    with pytest.raises(WorkalikeError, match=r"cannot write: .*staging"):
        open_to_write(tmp_path / "db", Site())
    assert json.loads((tmp_path / "db" / "fleet.json").read_text())["workalike_fleet"] == 2


def test_logs_of_version_3_have_no_slowest_call(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    synced(tmp_path / "logs", 0)
    store, _ = stored(tmp_path / "db", tmp_path / "logs")
    (before,) = query(
        store, "SELECT * EXCLUDE (part, slowest_call, slowest_call_s, slowest_call_bytes) FROM log"
    )
    as_version_3(store)
    newer = open_to_write(tmp_path / "db", Site())
    slowest = "slowest_call, slowest_call_s, slowest_call_bytes"
    assert query(newer, f"SELECT * EXCLUDE (part, {slowest}) FROM log") == [before]
    assert query(newer, f"SELECT {slowest} FROM job") == [(None, None, None)]
    page = TestClient(portal(open_store(tmp_path / "db"), Access(Site())))
    (key,) = query(newer, "SELECT job_key FROM job")[0]
    assert "not known" in page.get(f"/job/{key}").text


@pytest.mark.parametrize("version", [5, "3", None, 2.5])
def test_other_versions_are_refused_by_name(tmp_path: Path, version: object) -> None:
    open_or_make(tmp_path / "db", "")
    (tmp_path / "db" / "fleet.json").write_text(json.dumps({"workalike_fleet": version, "key": ""}))
    for opened in (lambda: open_store(tmp_path / "db"), lambda: open_to_write(tmp_path / "db", Site())):
        with pytest.raises(WorkalikeError, match=f"of version {version}, an.* one than this program's 4"):
            opened()
