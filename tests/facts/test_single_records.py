"""Rows by whole columns have the values that each file has by itself."""

from __future__ import annotations

import random
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from known_logs import ALL_LOGS

from workalike.darshan import LogBuilder, open_log
from workalike.facts.file_table import FileTable, file_table
from workalike.facts.gather import facts_of
from workalike.facts.single_records import single_records


def check(path: Path) -> int:
    """Compare the table by columns with that by files; how many files were taken by columns."""
    facts = facts_of([open_log(path)])
    quick, slow = file_table(facts, placed=False), file_table(facts)
    for column in (field.name for field in fields(FileTable)):
        if not column.endswith("_pattern"):
            np.testing.assert_array_equal(getattr(quick, column), getattr(slow, column), err_msg=column)
            assert getattr(quick, column).dtype == getattr(slow, column).dtype
    return sum(len(part.file) for part in single_records(facts))


@pytest.mark.parametrize("path", ALL_LOGS, ids=lambda path: path.name)
def test_known_logs(path: Path) -> None:
    check(path)


@pytest.mark.parametrize("nprocs", [1, 4])
def test_odd_values(tmp_path: Path, nprocs: int) -> None:
    dice = random.Random(nprocs)
    odd = [0.0, -1.0, 3.0, 7.0, 90.0, 1e9, float("nan"), float("inf")]
    log = LogBuilder(nprocs, 100.0)
    stamps = [
        f"F_{kind}_{edge}_TIMESTAMP"
        for kind in ("OPEN", "READ", "WRITE", "CLOSE")
        for edge in ("START", "END")
    ]
    for number in range(300):
        values: dict[str, float] = {name: dice.choice(odd) for name in stamps}
        for name in ("READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN"):
            values[name] = dice.choice([-5, 0, 0, 7, 2**50, 2**62])
        name = dice.choice(
            ["/data/chk_{}.h5", "/tmp/vader_segment{}", "/a/{}0000", "/lib/x{}.so", "/d/log.{}"]
        )
        rank = dice.choice([-1, 0, nprocs - 1])
        for module in dice.choice([["POSIX"], ["STDIO"], ["POSIX", "STDIO"]]):
            if dice.random() < 0.3:
                values["BYTES_READ"] = values["BYTES_WRITTEN"] = 0
            log.record(module, name.format(number), rank, None, **values)
    assert check(log.write(tmp_path / "odd.darshan")) > 150
