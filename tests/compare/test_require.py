"""`--require`: accepted texts, and replicas that exceed a limit."""

from __future__ import annotations

import pytest
from compare_builders import MIB, original, record, record_dump

from workalike.compare.fidelity import compare
from workalike.compare.require import Requirements, check, parse_requirements
from workalike.errors import ErrorKind, WorkalikeError
from workalike.record.run_record import RecordScale


def test_per_cent_and_fractions() -> None:
    required = parse_requirements("bytes=0.1%, ops=1%,time=25%,hist=0.02")
    assert required == Requirements(bytes=0.001, ops=0.01, time=0.25, hist=0.02)
    assert parse_requirements("bytes=0.001") == Requirements(bytes=0.001)
    assert parse_requirements("bytes=0") == Requirements(bytes=0.0)


@pytest.mark.parametrize(
    "text", ["", "bytes", "bytes=", "bytes=x", "size=1%", "bytes=1%,bytes=2%", "bytes=-1%", "time=100%"]
)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(WorkalikeError) as caught:
        parse_requirements(text)
    assert caught.value.kind is ErrorKind.USAGE


def shortfalls(text: str, *dumps: object, **more: object) -> list[str]:
    fidelity = compare(original(dumps=1), record(*dumps, **more))  # type: ignore[arg-type]
    return check(fidelity, parse_requirements(text))


def test_a_perfect_replica_falls_short_of_nothing() -> None:
    assert shortfalls("bytes=0,ops=0,hist=0", record_dump(0)) == []


@pytest.mark.parametrize(("limit", "short"), [("1%", 0), ("0.9%", 2)])
def test_bytes(limit: str, short: int) -> None:
    found = shortfalls(f"bytes={limit}", record_dump(0, written=32 * MIB + 32 * MIB // 100))
    assert len(found) == short
    assert all("checkpoint 1" in sentence for sentence in found)


def test_a_missing_dump_falls_short() -> None:
    assert any("0 dumps instead of 1" in sentence for sentence in shortfalls("bytes=1%"))


def test_operations() -> None:
    counters = {**record_dump(0).counters, "WRITES": 33}
    found = shortfalls("ops=1%", record_dump(0, counters=counters))
    assert found
    assert "POSIX WRITES is 33, expected 32" in found[0]
    assert shortfalls("ops=4%", record_dump(0, counters=counters)) == []


@pytest.mark.parametrize(("seconds", "good"), [(1.5, True), (2.66, True), (1.49, False), (2.7, False)])
def test_times_are_a_ratio(seconds: float, good: bool) -> None:
    # The original took 2 s: 25 % allows 0.75 to 1.33 times as long.
    assert (shortfalls("time=25%", record_dump(0, inside=seconds)) == []) is good


def test_times_need_a_measured_run_at_full_scale() -> None:
    assert "no I/O time was measured" in shortfalls("time=25%", record_dump(0), backend="null")[0]
    half = record_dump(0, written=16 * MIB)
    assert "bytes-scale of 0.5" in shortfalls("time=25%", half, scale=RecordScale(bytes=0.5))[0]


def test_histograms() -> None:
    counters = {**record_dump(0).counters, "SIZE_WRITE": [0, 1, 0, 0, 31, 0, 0, 0, 0, 0]}
    assert "size histogram of writes" in shortfalls("hist=0.02", record_dump(0, counters=counters))[0]
    assert shortfalls("hist=0.04", record_dump(0, counters=counters)) == []


def test_an_interrupted_run_always_falls_short() -> None:
    assert shortfalls("hist=0.5", record_dump(0), incomplete=True) == ["the run is incomplete or had errors"]


@pytest.mark.parametrize(("seconds", "good"), [(1.0, True), (4.0, True), (0.99, False), (4.01, False)])
def test_times_at_the_limits(seconds: float, good: bool) -> None:
    assert (shortfalls("time=50%", record_dump(0, inside=seconds)) == []) is good


def test_what_is_said_of_times() -> None:
    said = shortfalls("time=50%", record_dump(0, inside=5.0))
    assert said == ["checkpoint 1: I/O time 2.5 x the original's, required 0.5 to 2"]
    log = original(dumps=1)
    for facts in log.families[0].files()[0].modules.values():
        facts.fcounters[:] = -1
    fidelity = compare(log, record(record_dump(0)))
    assert check(fidelity, parse_requirements("time=50%")) == [
        "checkpoint 1: the I/O time of the original is not known"
    ]


def test_what_is_said_of_bytes_and_operations() -> None:
    counters = {**record_dump(0).counters, "WRITES": 40}
    found = shortfalls("bytes=2%,ops=25%", record_dump(0, written=36 * MIB, counters=counters))
    assert found == [
        "checkpoint 1: total bytes off by 12.5 %, required 2 %",
        "checkpoint 1: bytes of a dump off by 12.5 %, required 2 %",
    ]
    found = shortfalls("ops=12%", record_dump(0, counters=counters))
    said = "POSIX WRITES is 40, expected 32: off by 25 %, required 12 %"
    assert shortfalls("ops=25%", record_dump(0, counters=counters)) == []
    assert found == [said, f"checkpoint 1: {said}"]


def test_operations_below_the_level_are_not_required() -> None:
    counters = {**record_dump(0).counters, "WRITES": 40}
    fidelity = compare(original(dumps=1), record(record_dump(0, counters=counters)))
    for row in [*fidelity.counters, *fidelity.families[0].counters]:
        row.at_level = False
    assert check(fidelity, parse_requirements("ops=1%")) == []


def test_what_is_said_of_histograms() -> None:
    counters = {**record_dump(0).counters, "SIZE_WRITE": [0, 8, 0, 0, 24, 0, 0, 0, 0, 0]}
    assert shortfalls("hist=0.25", record_dump(0, counters=counters)) == []
    assert shortfalls("hist=0.2", record_dump(0, counters=counters)) == [
        "size histogram of writes: distance 0.25, required 0.2"
    ]


def test_limits_of_one_and_more() -> None:
    assert parse_requirements("bytes=100%,ops=250%") == Requirements(bytes=1.0, ops=2.5)
    for text in ("time=1", "hist=1", "hist=100%"):
        with pytest.raises(WorkalikeError, match="must be below 1"):
            parse_requirements(text)
    assert parse_requirements("hist=0.999") == Requirements(hist=0.999)


def test_a_refusal_quotes_little_of_its_input() -> None:
    with pytest.raises(WorkalikeError) as caught:
        parse_requirements("x" * 100)
    assert f"'{'x' * 40}'" in str(caught.value)
