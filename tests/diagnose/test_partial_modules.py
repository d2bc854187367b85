"""A finding names every partial module that its numbers come from: its own, and those of what else was seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.planted_findings import PLANTS, RANKS, SITE, T
from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.diagnose.diagnosis import diagnose
from workalike.diagnose.finding import Finding
from workalike.diagnose.site import Site


def found(rule: str, folder: Path, *partial: str) -> Finding:
    log = LogBuilder(nprocs=RANKS, run_time=T)
    PLANTS[rule](log, 2.0)
    findings = diagnose([open_log(log.partial(*partial).write(folder / "x.darshan"))], Site(SITE)).findings
    return next(f for f in findings if rule in (f.rule, *f.also))


@pytest.mark.parametrize("rule", ["slow-target", "too-few-stripes", "too-many-stripes", "unaligned"])
def test_times_of_posix_are_used_beside_lustre(rule: str, tmp_path: Path) -> None:
    assert found(rule, tmp_path, "POSIX").partial == ["POSIX"]
    assert found(rule, tmp_path).partial == []


def test_fill_values_are_seen_below_hdf5(tmp_path: Path) -> None:
    assert found("fill-values", tmp_path, "MPI-IO").partial == ["MPI-IO"]


def test_modules_of_what_else_was_seen_are_named(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=16, run_time=100.0)
    log.posix("/d/x", OPENS=16, WRITES=500, FSYNCS=500, BYTES_WRITTEN=2**30, F_WRITE_TIME=50.0)
    log.mpiio("/d/x", COLL_OPENS=16, INDEP_WRITES=2000, BYTES_WRITTEN=2**28, F_WRITE_TIME=40.0)
    log.h5d("/d/x:/d", file="/d/x", WRITES=16, BYTES_WRITTEN=2**27)
    findings = diagnose([open_log(log.partial("H5D").write(tmp_path / "x.darshan"))]).findings
    finding = next(f for f in findings if "fill-values" in (f.rule, *f.also))
    assert finding.partial == ["H5D"]


def test_a_partial_module_that_no_number_comes_from_is_not_named(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=1, run_time=100.0)
    log.posix("/d/x", 0, OPENS=1, SEEKS=2000, WRITES=2000, CONSEC_WRITES=1999, F_META_TIME=50.0)
    log.stdio("/d/log", 0, OPENS=1)
    (_, finding) = diagnose([open_log(log.partial("STDIO").write(tmp_path / "x.darshan"))]).findings
    assert finding.rule == "useless-seeks" and finding.partial == []
