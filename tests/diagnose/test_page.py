"""The page holds the findings and a timeline, and no markup of a log acts."""

from __future__ import annotations

from pathlib import Path

from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.diagnose.diagnosis import diagnosis_of
from workalike.diagnose.job import read_job
from workalike.diagnose.page import write_page
from workalike.diagnose.site import Site


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
    assert page.count("<svg") == 2
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org", "")
