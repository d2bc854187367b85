"""Objects of the Python interface in notebooks: short tables, in which no text is markup."""

from __future__ import annotations

import dataclasses
from html.parser import HTMLParser
from pathlib import Path

import pytest
from known_logs import own
from study_pages import generated_study

import workalike
from workalike.compare.fidelity_schema import Fidelity
from workalike.darshan import LogBuilder
from workalike.diagnose.diagnosis import diagnose
from workalike.notebook import MOST_ROWS, html_table
from workalike.record.run_record import Record, RecordDump, Stamp
from workalike.replica.replicate import Replica
from workalike.study.report.findings import findings_of
from workalike.workload.model import Role

EVIL = "<script>alert(1)</script>\x1b[31m\"'&"


class Tags(HTMLParser):
    """The tags and the text of a table; tags that do not match are an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert attrs == []
        self.tags.append(tag)
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"


def shown(thing: object) -> Tags:
    html = thing._repr_html_()  # type: ignore[attr-defined]
    found = Tags(html)
    assert set(found.tags) <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    assert "\x1b" not in html
    return found


@pytest.fixture(scope="module")
def found() -> workalike.Characterization:
    return workalike.characterize(own("checkpoints-4"))


def test_text_is_escaped_cut_and_counted() -> None:
    html = html_table(EVIL, (EVIL,), [(EVIL * 30,)] * (MOST_ROWS + 5), EVIL)
    assert "<script" not in html and "&lt;script&gt;" in html
    table = Tags(html)
    assert table.tags.count("td") == MOST_ROWS and "and 5 more" in table.text and "…" in table.text
    assert html_table("", (), [], "") == "" and Tags(html_table("a", ("b",), [(None,)])).text.endswith("-\n")


def test_a_log_a_workload_and_its_plan(found: workalike.Characterization) -> None:
    log = shown(found.logs[0])
    assert "Log: 4 ranks" in log.text and "POSIX" in log.text
    workload = shown(found.workload)
    assert "Workload: 4 ranks, 1 family" in workload.text and "checkpoint 1" in workload.text
    assert "checkpoint 1" in shown(found).text
    plan = workalike.plan(found)
    assert "Plan: 4 ranks, 3 dumps" in shown(plan).text
    counts = shown(workalike.count(plan))
    assert "Counts of 3 dumps" in counts.text and counts.tags.count("tr") == 4 and "2 MiB" in counts.text


def record(**more: object) -> Record:
    times = {"due_s": 0, "start_s": 0, "end_s": 2, "late_s": 0, "io_s": 2}
    dump = RecordDump(
        family=0, role=Role.CHECKPOINT, index=0, ranks=4, bytes_written=2**21, bytes_read=0, **times
    )
    fields = {"plan_ranks": 4, "processes": 4, "backend": "posix", "dumps": [dump]} | more
    return Record.model_validate(fields)


def test_a_record_says_what_its_times_are_not() -> None:
    text = shown(record(stamp=Stamp(reasons=["bytes-scale 0.5"]), incomplete=True)).text
    assert "2 MiB" in text and "2 s" in text
    assert "the run did not end; not a performance result: bytes-scale 0.5" in text
    assert "\n-\n" in shown(record(backend="null")).text


def fidelity(found: workalike.Characterization) -> Fidelity:
    return workalike.compare(found.workload, record(stamp=Stamp(reasons=[EVIL])), workalike.plan(found))


def test_a_replica_has_its_verdict(found: workalike.Characterization) -> None:
    close = fidelity(found)
    close.families[0].name = EVIL
    text = shown(close).text
    assert f"Verdict: {close.verdict.grade}" in text and "not a performance result" in text
    assert "&lt;script&gt;" in close._repr_html_()
    replica = Replica(found, workalike.plan(found), record(), None, close, close)  # type: ignore[arg-type]
    assert f"Full scale: {close.verdict.grade}" in shown(replica).text


def test_no_name_of_a_log_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "alice.darshan"
    builder = LogBuilder(nprocs=1, run_time=10.0, exe="./secret alice")
    times = {"F_OPEN_START_TIMESTAMP": 1.0, "F_WRITE_START_TIMESTAMP": 1.0, "F_WRITE_END_TIMESTAMP": 2.0}
    builder.posix(
        "/data/<b>alice</b>", rank=0, OPENS=1, WRITES=1, BYTES_WRITTEN=2**20, MAX_BYTE_WRITTEN=2**20 - 1,
        SIZE_WRITE_1M_4M=1, F_CLOSE_END_TIMESTAMP=2.0, **times,
    )  # fmt: skip
    builder.write(path)
    log = workalike.open_log(path)
    for thing in (log, workalike.characterize(log)):
        assert "alice" not in shown(thing).text


def test_a_diagnosis_and_the_findings_of_a_study() -> None:
    diagnosis = shown(diagnose([workalike.open_log(own("checkpoints-4"))]))
    assert "Diagnosis: " in diagnosis.text and " on 4 ranks" in diagnosis.text
    table = dataclasses.replace(generated_study(3, dumps=2, more=EVIL))
    found = findings_of(table)
    assert "Which setting is the best?" in shown(found).text and "<script" not in found._repr_html_()
