"""Counters that a log has not measured: they are no zeros, and nothing is read from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workalike.characterize import characterize
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import LogBuilder, open_log
from workalike.predict.agreement import rows_of
from workalike.predict.determined import Determined
from workalike.workload.model import Pattern

MEASURED = {
    "OPENS": 1,
    "WRITES": 40,
    "BYTES_WRITTEN": 40_000,
    "MAX_BYTE_WRITTEN": 39_999,
    "SIZE_WRITE_100_1K": 40,
    "ACCESS1_ACCESS": 1000,
    "ACCESS1_COUNT": 40,
}
ORDER = {"SEQ_WRITES": -1, "CONSEC_WRITES": -1, "SEQ_READS": -1, "CONSEC_READS": -1}


@pytest.mark.parametrize("more", [{}, {"STRIDE1_STRIDE": 3000, "STRIDE1_COUNT": 13}])
def test_nothing_is_in_random_order_because_its_order_is_unknown(
    more: dict[str, int], tmp_path: Path
) -> None:
    log = LogBuilder(nprocs=1, run_time=10.0)
    log.posix("/data/out.dat", 0, **MEASURED, **ORDER, **more)
    found = characterize([open_log(log.write(tmp_path / "app.darshan"))])
    (family,) = found.workload.families
    assert family.content is not None
    assert family.content.table is None
    assert [s.pattern for s in family.content.streams] == [Pattern.CONTIGUOUS]
    rows = model_against_log(pair_up(found, None))
    assert rows
    assert not [row.counter for row in rows if row.counter.startswith(("SEQ_", "CONSEC_"))]


def added(*records: dict[str, int]) -> Determined:
    names = tuple(records[0])
    found = Determined()
    found.add_records(
        "POSIX", np.array([[r[name] for name in names] for r in records], dtype=np.int64), names
    )
    return found


def test_a_sum_is_unknown_where_a_record_has_no_value() -> None:
    found = added({"WRITES": 3, "SEQ_WRITES": 2}, {"WRITES": 4, "SEQ_WRITES": -1})
    assert found.counters == {"WRITES": 7}
    assert found.unmeasured == {"SEQ_WRITES"}


@pytest.mark.parametrize("first", [True, False])
def test_it_stays_unknown_with_the_counters_of_other_files(first: bool) -> None:
    unknown, known = added({"WRITES": 4, "SEQ_WRITES": -1}), added({"WRITES": 3, "SEQ_WRITES": 2})
    whole = Determined()
    for part in (unknown, known) if first else (known, unknown):
        whole.merge(part)
    assert whole.counters == {"WRITES": 7}


def test_common_sizes_are_unknown_as_a_table() -> None:
    measured = {"WRITES": 4, "ACCESS1_ACCESS": 100, "ACCESS1_COUNT": 4}
    unknown = added(measured | {"ACCESS1_COUNT": -1})
    known = added(measured)
    assert [row.counter for row in rows_of((), "POSIX", known, known)] == ["WRITES", "ACCESS of 100 B"]
    assert [row.counter for row in rows_of((), "POSIX", unknown, known)] == ["WRITES"]
    assert [row.counter for row in rows_of((), "POSIX", known, unknown)] == ["WRITES"]


def test_calls_on_the_file_of_a_stream_are_unknown_too() -> None:
    streams = added({"WRITES": 4, "FSYNCS": -1, "MMAPS": 0}).of_streams()
    assert "FSYNCS" not in streams.counters
    assert streams.counters["MMAPS"] == 0


def test_a_sum_with_an_unknown_term_is_unknown() -> None:
    known, unknown = added({"FSYNCS": 1, "FDSYNCS": 2}), added({"FSYNCS": 1, "FDSYNCS": -1})
    assert [row.expected for row in rows_of((), "POSIX", known, known)] == [3]
    assert not list(rows_of((), "POSIX", unknown, known))
    assert not list(rows_of((), "POSIX", unknown.of_streams(), known.of_streams()))
