"""Every real log, end to end: a verified small replica with the bytes of the scaling law, or a clear reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .real_logs import FROM_PACKAGE, package_logs, shared_logs
from .support import SHARED, lines_of, read_json, workalike

pytestmark = pytest.mark.system

MOST_BYTES = 64 * 2**20
MOST_ERROR_PCT = 0.1
ROUNDED_DUMPS_DIFFER = 4
"""No dump of the few families of some kilobytes is smaller than the mean by more than this factor."""
MOVES = ("READS", "WRITES")
NOTHING_IN_THEM = {"empty-4": "no module", "ior-dfs-16": "DAOS"}
"""Logs without a replica, and a word that the reason must hold."""


NEEDED = {
    *NOTHING_IN_THEM,
    "lammps-growth-4",
    "meep-hdf5-4",
    "mphys-c-small-typhonio-4",
    "e3sm-pnetcdf-512",
    "dlio-workflow",
}
"""Shared logs, and a folder of them, without which these tests would prove little."""
LEAST_SHARED = 35


FAST = ("--time-scale", "0", "--verify", "--quiet")
DONE, NOTHING, PARTLY = 0, 2, 3


def test_the_package_brings_its_logs() -> None:
    """The next test runs once per log that was found; this one notices missing logs."""
    assert len(package_logs()) == len(FROM_PACKAGE)


@pytest.mark.parametrize("log", [pytest.param(path, id=path.stem) for path in package_logs()])
def test_log_of_the_package(log: Path, tmp_path: Path) -> None:
    assert replicate_and_check(log, tmp_path) == DONE


def test_the_shared_logs_are_there() -> None:
    """The next test runs once per log that was found; this one notices missing logs."""
    if not (SHARED / "logs").is_dir():
        pytest.skip(f"no {SHARED.name}/logs beside the checkout")
    found = {log.stem for log in shared_logs()}
    assert NEEDED - found == set()
    assert len(found) >= LEAST_SHARED


@pytest.mark.parametrize("log", [pytest.param(path, id=path.stem) for path in shared_logs()])
def test_shared_log(log: Path, tmp_path: Path) -> None:
    code = replicate_and_check(log, tmp_path)
    assert (code == NOTHING) == (log.stem in NOTHING_IN_THEM)


def replicate_and_check(log: Path, folder: Path) -> int:
    """Characterize, scale to few bytes, replicate, audit; the exit code of `replicate`."""
    characterized = workalike("characterize", log, "-o", "workload.yaml", "--json", cwd=folder)
    if characterized.returncode == NOTHING:
        return check_reason(log, folder)
    assert characterized.returncode in (DONE, PARTLY), characterized.stderr
    moved = sum(f["bytes_written"] + f["bytes_read"] for f in json.loads(characterized.stdout)["families"])
    factor = f"1/{max(1, -(-moved // MOST_BYTES))}"

    done = workalike("replicate", log, "-o", "replica", "--bytes-scale", factor, *FAST, cwd=folder)
    assert done.returncode == characterized.returncode, done.stderr
    if done.returncode == PARTLY:
        assert any(line.startswith("workalike: ") for line in lines_of(done.stderr)), "exit 3 without a word"
    check_replica(folder / "replica")
    assert missed_families(folder / "replica/fidelity.json") == {}
    assert missed_families(folder / "replica/full-scale/fidelity.json") == {}

    audit = workalike("check", "replica/workload.yaml", "--audit", log, cwd=folder)
    assert audit.returncode == 0, audit.stdout
    return done.returncode


def check_reason(log: Path, folder: Path) -> int:
    """No replica: one line with the reason, and no partial replica."""
    done = workalike("replicate", log, "-o", "replica", *FAST, cwd=folder)
    assert done.returncode == NOTHING
    reason = lines_of(done.stderr)
    assert len(reason) == 1, done.stderr
    assert log.name in reason[0]
    assert NOTHING_IN_THEM.get(log.stem, "") in reason[0]
    assert not (folder / "replica/report.html").exists()
    return done.returncode


def check_replica(folder: Path) -> None:
    record = read_json(folder / "run.json")
    assert record["errors"] == []
    assert record["verified"]["errors"] == 0
    assert not (folder / "data").exists()
    assert (folder / "report.html").stat().st_size > 10_000
    families = read_json(folder / "fidelity.json")["families"]
    assert families
    for family in families:
        assert family["dumps_replica"] == family["dumps_original"], family["name"]


def missed_families(fidelity: Path) -> dict[str, float]:
    """Families whose bytes are further off than allowed, with the error in percent."""
    families = read_json(fidelity)["families"]
    return {f["name"]: f["bytes_error_max_pct"] for f in families if not are_bytes_right(f)}


def are_bytes_right(family: dict[str, Any]) -> bool:
    """Rounding alone, in total and of each dump, is not an error.

    A dump is a whole number of bytes. So is each operation of a listed one: one that reads its 1886 bytes twice has 943
    of them at a quarter, and can move 2 x 471 or 2 x 472.
    """
    if family["bytes_error_max_pct"] <= MOST_ERROR_PCT:
        return True
    dumps = family["dumps_original"]
    least_dump_bytes = family["bytes_expected"] / dumps / ROUNDED_DUMPS_DIFFER
    rounding_pct = 100 / least_dump_bytes
    operations = sum(c["original"] for c in family["counters"] if c["at_level"] and c["counter"] in MOVES)
    return (
        abs(family["bytes_expected"] - family["bytes_replica"]) <= max(dumps, operations / 2)
        and family["bytes_error_max_pct"] <= rounding_pct
    )
