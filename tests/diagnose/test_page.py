"""The page holds the findings and a timeline, and no markup of a log acts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.planted_findings import planted
from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.diagnose.diagnosis import diagnosis_of
from workalike.diagnose.finding import Tried
from workalike.diagnose.job import read_job
from workalike.diagnose.page import write_page
from workalike.diagnose.rule import Picture
from workalike.diagnose.site import Site
from workalike.diagnose.small_pictures import small_picture
from workalike.diagnose.text import diagnosis_text
from workalike.diagnose.trying.of_findings import not_tried, with_gains


def test_the_page_has_findings_and_pictures_and_no_script(tmp_path: Path) -> None:
    name = "/data/<script>alert(1)</script>"
    log = LogBuilder(nprocs=2, run_time=100.0)
    log.posix(
        name, OPENS=2, WRITES=200, FSYNCS=200, BYTES_WRITTEN=2**30, MAX_BYTE_WRITTEN=2**30 - 1, F_WRITE_TIME=50.0,
        F_WRITE_START_TIMESTAMP=10.0, F_WRITE_END_TIMESTAMP=90.0,
    )  # fmt: skip
    log.dxt_posix(name, 0, writes=[(0, 2**20, 10.0, 11.0)])
    job = read_job([open_log(log.write(tmp_path / "x.darshan"))])
    write_page(tmp_path / "x.html", diagnosis_of(job, Site(), names=True), job)
    page = (tmp_path / "x.html").read_text()
    assert "HIGH sync-each-write" in page
    assert "write time 50 s, syncs 200, writes 200, ranks 2, run time 100 s" in " ".join(page.split())
    assert "Sure: certain" in page and "Evidence: syncs 200, writes 200" in page
    assert page.count("<svg") == 2
    pictures = page.split("<h2>Findings</h2>")[0].split("<svg")[1:]
    assert all(picture.count("sync-each-write") == 1 for picture in pictures)
    assert "In Fortran" in page and "In Python" in page
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_a_measured_gain_takes_the_place_of_the_bound(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=2, run_time=100.0)
    log.posix("/data/x", OPENS=2, WRITES=200, FSYNCS=200, BYTES_WRITTEN=2**30, F_WRITE_TIME=50.0)
    job = read_job([open_log(log.write(tmp_path / "x.darshan"))])
    found = diagnosis_of(job, Site())
    gain = {"io_time_s": 9.0, "ratio": 0.5, "low": 0.4, "high": 0.6, "saved_s": 4.5, "saved_low_s": 3.6}
    tried = Tried(rule="sync-each-write", change="sync-once", says="one", saved_high_s=5.4, pays=True, **gain)
    measured = with_gains(found, [tried])
    write_page(tmp_path / "x.html", measured, job)
    page = (tmp_path / "x.html").read_text()
    assert "Gain: at most" not in page and "I/O time x 0.5 (0.4 to 0.6, 95 %)" in page
    document = measured.model_dump(mode="json")["findings"][0]
    assert document["gain_at_most_s"] is None and document["measured"][0]["saved_s"] == 4.5
    unmeasured = tried.model_copy(update={"ratio": None, "reason": "too few trials"})
    assert with_gains(found, [unmeasured]).findings[0].gain_at_most_s == found.findings[0].gain_at_most_s


def add_opens(log: Path) -> None:
    """Write a side file in which two ranks open /data/x: without events no order is known."""
    events = [
        {"file": "/data/x", "rank": rank, "module": "POSIX", "event": "open", "start": 0.1, "end": 0.2}
        for rank in range(2)
    ]
    side = {"version": 1, "events": events, "clocks": [{"rank": 0}, {"rank": 1}]}
    log.with_name(f"{log.name}.extra.json").write_text(json.dumps(side))


def test_the_page_says_what_consistency_the_job_needs_and_what_was_tried(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=2, run_time=10.0).posix("/data/x", OPENS=2, WRITES=2, BYTES_WRITTEN=20)
    for rank in range(2):
        log.dxt_posix("/data/x", rank, writes=[(0, 10, 1.0 + rank, 1.5 + rank)])
    path = log.write(tmp_path / "x.darshan")
    add_opens(path)
    job = read_job([open_log(path)])
    found = diagnosis_of(job, Site())
    found.tried = [Tried(rule="small-writes", change="collective", says="<b>all</b>", reason="no reason")]
    write_page(tmp_path / "x.html", found, job)
    page = (tmp_path / "x.html").read_text()
    assert "1 of 1 pair of conflicting accesses are a race" in page
    assert "bytes 0 to 9, ranks 0 and 1, write-after-write" in page
    assert "not measured: no reason" in page and "<b>all" not in page


def test_what_was_not_traced_is_no_proof_of_order(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=2, run_time=10.0).posix("/data/x", OPENS=2, WRITES=2, BYTES_WRITTEN=20, MMAPS=1)
    log.stdio("/data/log", OPENS=2, WRITES=9, BYTES_WRITTEN=90)
    for rank in range(2):
        log.dxt_posix("/data/x", rank, writes=[(10 * rank, 10, 1.0 + rank, 1.5 + rank)])
    path = log.write(tmp_path / "x.darshan")
    add_opens(path)
    found = diagnosis_of(read_job([open_log(path)]), Site())
    assert found.consistency is not None and found.consistency.pairs == 0
    text = " ".join(diagnosis_text(found).split())
    assert "any consistency model will do" not in text
    assert "not certain: 1 stream (STDIO) that several ranks use" in text
    assert "not certain: 1 file mapped into memory" in text
    assert any("mapped" in u.reason or "STDIO" in u.reason for u in found.cannot_tell if u.rule == "conflict")


def test_a_problem_without_a_setting_is_said_to_be_untried(tmp_path: Path) -> None:
    job = read_job([open_log(planted("unequal-ranks", 2.0).write(tmp_path / "x.darshan"))])
    found = diagnosis_of(job, Site())
    assert "unequal-ranks" in {finding.rule for finding in found.findings}
    (tried,) = [t for t in not_tried(found) if t.rule == "unequal-ranks"]
    found = with_gains(found, [tried])
    assert "not tried: no setting of the workload changes this" in " ".join(diagnosis_text(found).split())


def test_names_and_numbers_of_files_are_on_the_page(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=1, run_time=10.0)
    for number in range(3):
        log.posix(f"/data/part.{number}", 0, OPENS=1, WRITES=10_000, BYTES_WRITTEN=10_000, F_WRITE_TIME=3.0,
                  SIZE_WRITE_0_100=10_000, ACCESS1_ACCESS=1, ACCESS1_COUNT=10_000)  # fmt: skip
    job = read_job([open_log(log.write(tmp_path / "x.darshan"))])
    for names in (True, False):
        found = diagnosis_of(job, Site(), names=names)
        assert found.findings
        write_page(tmp_path / "x.html", found, job)
        page = (tmp_path / "x.html").read_text()
        assert "3 files" in page and ("/data/part" in page) is names
        assert "(3 files)" in " ".join(diagnosis_text(found).split())


@pytest.mark.parametrize(
    ("rule", "title"),
    [
        ("small-reads", "Calls of POSIX on these files by their size"),
        ("small-writes", "Calls of POSIX on these files by their size"),
        ("redundant-reads", None),
    ],
)
def test_small_pictures_show_what_a_finding_is_about(rule: str, title: str | None, tmp_path: Path) -> None:
    log = planted(rule, 2.0)
    job = read_job([open_log(log.write(tmp_path / "x.darshan"))])
    found = diagnosis_of(job, Site())
    assert found.findings[0].rule == rule
    write_page(tmp_path / "x.html", found, job)
    story = (tmp_path / "x.html").read_text().split('<div class="story')[1]
    assert ("<svg" in story) is (title is not None)
    assert title is None or title in story


def test_a_picture_of_ranks_needs_a_record_of_each(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=4, run_time=10.0)
    for rank in range(4):
        log.posix("/data/x", rank, OPENS=1, WRITES=2, BYTES_WRITTEN=20, F_WRITE_TIME=1.0 + rank)
    job = read_job([open_log(log.write(tmp_path / "x.darshan"))])
    label = job.families[0].label
    found = small_picture(Picture.RANKS, job, [label], "ranks-of-x")
    assert found is not None and found[0].startswith("Seconds of each rank")
    assert 'id="ranks-of-x' in found[1]
    assert small_picture(Picture.NOTHING, job, [label], "x") is None
    reduced = LogBuilder(nprocs=4, run_time=10.0)
    reduced.posix("/data/x", OPENS=4, WRITES=8, BYTES_WRITTEN=80, F_WRITE_TIME=10.0)
    job = read_job([open_log(reduced.write(tmp_path / "y.darshan"))])
    assert small_picture(Picture.RANKS, job, [label], "x") is None
    for rank in range(4):  # a second family does not make it known
        reduced.posix("/data/y", rank, OPENS=1, WRITES=2, BYTES_WRITTEN=20, F_WRITE_TIME=0.01)
    job = read_job([open_log(reduced.write(tmp_path / "z.darshan"))])
    labels = [family.label for family in job.families]
    assert len(labels) == 2 and small_picture(Picture.RANKS, job, labels, "x") is None
