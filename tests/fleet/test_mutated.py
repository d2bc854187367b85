"""Damaged logs end no ingestion: each is a row of `log`, or set aside with its reason."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import darshan_everything
import pytest
from darshan_mutate import Spoilt, spoil_file, spoil_region
from fleets import plain_log, query, stored

from workalike.fleet.ingest import Outcome

COUNT = int(os.environ.get("WORKALIKE_MUTATED_LOGS", "10000"))


@pytest.mark.parametrize("count", [100, pytest.param(COUNT, marks=pytest.mark.long)])
def test_mutated_logs(tmp_path: Path, count: int) -> None:
    good = plain_log(tmp_path / "good", 1).read_bytes()
    outcome = check_spoilt(tmp_path, good, count, spoil_file)
    assert outcome.counts["quarantined"] > outcome.found // 2


@pytest.mark.parametrize("count", [40, pytest.param(COUNT, marks=pytest.mark.long)])
def test_logs_of_all_modules_with_spoilt_regions(tmp_path: Path, count: int) -> None:
    outcome = check_spoilt(tmp_path, darshan_everything.builder().image(), count, spoil_region)
    assert outcome.counts["quarantined"] and outcome.counts["ingested"] > 1


def check_spoilt(
    tmp_path: Path, good: bytes, count: int, spoil: Callable[[bytes, random.Random], Spoilt]
) -> Outcome:
    """Each spoilt log is a row of `log`, or set aside with a reason; none ends its reader."""
    logs = tmp_path / "logs"
    logs.mkdir()
    dice = random.Random(1)
    images = {good, *(spoil(good, dice).image for _ in range(count))}
    for number, image in enumerate(sorted(images)):
        (logs / f"{number}.darshan").write_bytes(image)
    store, outcome = stored(tmp_path / "db", logs)
    assert outcome.counts["ingested"] + outcome.counts["quarantined"] == len(images)
    reasons = [
        reason for (reason,) in query(store, "SELECT reason FROM source WHERE outcome = 'quarantined'")
    ]
    assert len(reasons) == outcome.counts["quarantined"] and all(reasons)
    assert not [reason for reason in reasons if "ended its reader" in reason]
    assert query(store, "SELECT count(*) FROM log") == [(outcome.counts["ingested"],)]
    return outcome
