"""Damaged logs end no ingestion: each is a row of `log`, or set aside with its reason."""

import os
import random
from pathlib import Path

import pytest
from darshan_mutate import spoil_file
from fleets import plain_log, query, stored

COUNT = int(os.environ.get("WORKALIKE_MUTATED_LOGS", "10000"))


@pytest.mark.parametrize("count", [100, pytest.param(COUNT, marks=pytest.mark.long)])
def test_mutated_logs(tmp_path: Path, count: int) -> None:
    logs = tmp_path / "logs"
    good = plain_log(logs, 1).read_bytes()
    dice = random.Random(1)
    images = {spoil_file(good, dice).image for _ in range(count)} - {good}
    for number, image in enumerate(sorted(images)):
        (logs / f"{number}.darshan").write_bytes(image)
    store, outcome = stored(tmp_path / "db", logs)
    assert outcome.counts["ingested"] + outcome.counts["quarantined"] == len(images) + 1
    assert outcome.counts["quarantined"] > len(images) // 2
    reasons = [
        reason for (reason,) in query(store, "SELECT reason FROM source WHERE outcome = 'quarantined'")
    ]
    assert len(reasons) == outcome.counts["quarantined"] and all(reasons)
    assert not [reason for reason in reasons if "ended its reader" in reason]
    assert query(store, "SELECT count(*) FROM log") == [(outcome.counts["ingested"],)]
