"""run.jsonl to run.json, also of a run that did not end."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from workalike.errors import ErrorKind, WorkalikeError
from workalike.record.run_record import STAMP, assemble, read_record, record_schema, write_record

RUN = {
    "type": "run",
    "format": "workalike-record",
    "version": 1,
    "plan_ranks": 4,
    "processes": 4,
    "backend": "mpiio",
    "clock": "gap",
    "time_scale": 1.0,
    "scale": {"ranks": 1.0, "bytes": 1.0, "time": 1.0},
    "environment": {"engine": "0.1.0", "mpi": "Open MPI 4.1.4", "host_count": 1, "memory_bytes": 1000},
}
DUMP = {
    "type": "dump",
    "family": 0,
    "role": "checkpoint",
    "number": 1,
    "index": 0,
    "file": 0,
    "ranks": 4,
    "bytes_written": 4096,
    "bytes_read": 0,
    "payload_bytes": 4000,
    "levels": {"mpiio": {"bytes_written": 4096, "bytes_read": 0}},
    "due_s": 1.0,
    "start_s": 1.0,
    "end_s": 1.5,
    "late_s": 0.0,
    "io_s": 0.5,
    "transfer_s": 0.4,
    "kinds": {
        "write": {"count": 4, "min_s": 0.1, "mean_s": 0.1, "max_s": 0.1, "total_s": 0.4, "slowest_rank": 2}
    },
    "counters": {"OPENS": 4, "WRITES": 4, "SIZE_WRITE": [0, 4, 0, 0, 0, 0, 0, 0, 0, 0]},
}
END = {
    "type": "end",
    "wall_s": 2.0,
    "files": [
        {
            "role": "checkpoint",
            "family": 0,
            "number": 1,
            "index": 0,
            "name": "checkpoint-1.0000.dat",
            "size": 4096,
        }
    ],
    "verified": None,
}


def lines(*parts: dict[str, object]) -> str:
    return "".join(json.dumps(part) + "\n" for part in parts)


def written(folder: Path, text: str) -> Path:
    path = folder / "run.jsonl"
    path.write_text(text)
    return path


def test_a_whole_run(tmp_path: Path) -> None:
    record = assemble(written(tmp_path, lines(RUN, DUMP, END)))
    assert not record.incomplete
    assert record.wall_s == 2.0
    assert record.dumps[0].bytes_written == 4096
    assert record.dumps[0].bins("SIZE_WRITE")[1] == 4
    assert record.files[0].name == "checkpoint-1.0000.dat"
    assert record.stamp is None  # 4,096 bytes are more than 1.5 x 1,000 bytes of memory


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    record = assemble(written(tmp_path, lines(RUN, DUMP, END)))
    write_record(record, tmp_path / "run.json")
    assert read_record(tmp_path / "run.json") == record
    assert "type" not in json.loads((tmp_path / "run.json").read_text())["dumps"][0]


@pytest.mark.parametrize("cut", [1, 2, 20, 100, 300])
def test_a_last_line_cut_off_is_dropped(tmp_path: Path, cut: int) -> None:
    whole = lines(RUN, DUMP)
    record = assemble(written(tmp_path, whole + lines(DUMP)[:cut]))
    assert record.incomplete
    assert len(record.dumps) == 1
    assert record.stamp is not None and "the run did not end" in record.stamp.reasons


def test_a_run_without_its_end_is_incomplete(tmp_path: Path) -> None:
    failure = {"type": "error", "rank": 3, "role": "checkpoint", "family": 0, "index": 1}
    failure |= {"operation": "write", "reason": "No space left on device"}
    record = assemble(written(tmp_path, lines(RUN, DUMP, failure)))
    assert record.incomplete
    assert record.errors[0].reason == "No space left on device"


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("", 1, "no line `run`"),
        (lines(DUMP), 1, "before the line `run`"),
        (lines(RUN, RUN), 2, "a second line"),
        (lines(RUN, DUMP, END, DUMP), 4, "after the line `end`"),
        (lines(RUN) + '{"type":"du\n' + lines(DUMP), 2, "not JSON"),
        (lines(RUN, {**DUMP, "bytes_written": -1}), 2, "bytes_written"),
        (lines(RUN, {**DUMP, "bytes_written": 2**63}), 2, "bytes_written"),
        (lines(RUN, {**DUMP, "start_s": float("nan")}), 2, "start_s"),
        (lines(RUN, {**DUMP, "role": "<b>"}), 2, "role"),
        (lines(RUN, {**DUMP, "type": "dance"}), 2, "tag"),
        (lines({**RUN, "version": 99}), 1, "version"),
    ],
)
def test_wrong_records_name_the_line(tmp_path: Path, text: str, line: int, word: str) -> None:
    with pytest.raises(WorkalikeError) as caught:
        assemble(written(tmp_path, text))
    assert caught.value.kind is ErrorKind.BAD_RECORD
    assert caught.value.place == f"line {line}"
    assert word in str(caught.value)


def test_strings_hold_no_control_characters(tmp_path: Path) -> None:
    """Strings are printed on terminals, which act on escape sequences."""
    evil = "\x1b]0;owned\x07\x1b[31m\u202e\0"
    head = RUN | {"environment": {evil: evil}, "backend": evil}
    error = {"type": "error", "rank": 0, "operation": evil, "reason": evil}
    path = written(tmp_path, lines(head, error))
    record = assemble(path)
    said = [record.backend, *record.environment, *record.environment.values()]
    said += [record.errors[0].operation, record.errors[0].reason]
    assert all(str(text).isprintable() for text in said)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(WorkalikeError) as caught:
        assemble(tmp_path / "nothing.jsonl")
    assert caught.value.kind is ErrorKind.MISSING


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"time_scale": 0.0}, "time-scale 0"),
        ({"scale": {"ranks": 1, "bytes": 0.01, "time": 1}}, "bytes-scale 0.01"),
        ({"backend": "null"}, "the null backend moves no data"),
        (
            {"environment": {"memory_bytes": 4096, "host_count": 1}},
            "working set 4 KiB, under 1.5 x memory (4 KiB)",
        ),
        ({"environment": {}}, "memory unknown"),
    ],
)
def test_the_stamp_and_its_reason(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    record = assemble(written(tmp_path, lines({**RUN, **change}, DUMP, END)))
    assert record.stamp is not None
    assert record.stamp.text == STAMP
    assert any(given.startswith(reason) for given in record.stamp.reasons)


def test_weak_growth_is_not_a_scaled_run(tmp_path: Path) -> None:
    scale = {"ranks": 4.0, "bytes": 4.0, "time": 1.0, "scaling": "weak"}
    assert assemble(written(tmp_path, lines({**RUN, "scale": scale}, DUMP, END))).stamp is None


def test_the_schema_describes_the_record() -> None:
    assert {"dumps", "files", "scale", "environment", "errors"} <= record_schema()["properties"].keys()


def test_damage_is_an_error_with_a_line_or_an_incomplete_run(tmp_path: Path) -> None:
    """Changed bytes never give another exception, nor a complete record without an end line."""
    whole = lines(RUN, DUMP, DUMP, END).encode()
    random = Random(1)
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(random.randint(1, 3)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        path = tmp_path / "run.jsonl"
        path.write_bytes(bytes(damaged))
        try:
            record = assemble(path)
        except WorkalikeError as error:
            assert error.kind is ErrorKind.BAD_RECORD
            assert error.place is not None
        else:
            assert record.incomplete or record.wall_s is not None


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"type": "run", "plan_ranks": ' + "9" * 10_000 + "}", "\0", "null"]
)
def test_hostile_lines(tmp_path: Path, text: str) -> None:
    with pytest.raises(WorkalikeError) as caught:
        assemble(written(tmp_path, text + "\n" + lines(RUN)))
    assert caught.value.kind is ErrorKind.BAD_RECORD
