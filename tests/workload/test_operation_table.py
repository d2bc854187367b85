"""The operation table of a workload: what is written is read again, and anything else is refused in one line."""

from __future__ import annotations

import hashlib
import re
import struct
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_logs import own

from workalike.characterize import characterize
from workalike.darshan import open_log
from workalike.errors import ErrorKind, WorkalikeError
from workalike.workload.audit import audit
from workalike.workload.model import Workload
from workalike.workload.operation_table import (
    OperationTable,
    decode,
    file_name,
    joined,
    read_table,
    write_table,
)
from workalike.workload.secrets import Kind, Secrets
from workalike.workload.table_reference import TableReference
from workalike.workload.workload_file import read_workload, write_workload

ROWS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.booleans(),
        st.integers(0, 2**60),
        st.integers(0, 2**50),
        st.booleans(),
    ),
    min_size=1,
    max_size=40,
)


def table(rows: list[tuple[int, bool, int, int, bool]]) -> OperationTable:
    """Rows of rank, whether it writes, offset, length, whether it is collective."""
    ranks, writes, offsets, lengths, collective = zip(*rows, strict=True)
    return OperationTable(
        np.array(ranks, dtype=np.int64),
        np.array(writes),
        np.array(offsets, dtype=np.int64),
        np.array(lengths, dtype=np.int64),
        np.array(collective),
    )


def rows_of(found: OperationTable) -> list[tuple[int, bool, int, int, bool]]:
    columns = (found.ranks, found.writes, found.offsets, found.lengths, found.collective)
    return list(zip(*(column.tolist() for column in columns), strict=True))


SMALL = table([(1, True, 4096, 512, False), (0, True, 0, 512, True), (1, False, 4096, 100, False)])


@given(ROWS)
def test_rows_are_read_as_they_were_written(rows: list[tuple[int, bool, int, int, bool]]) -> None:
    made = table(rows)
    found = decode(made.encoded, Path("x"), made.sha256, len(rows))
    assert rows_of(found) == rows


def test_columns_by_hand() -> None:
    """The format of docs/workload-format.md, decoded without the package."""
    data = SMALL.encoded
    assert (data[:8], struct.unpack_from("<Q", data, 8)) == (b"WAOPTAB2", (3,))
    columns, at = [], 16
    for _ in range(4):
        (length,) = struct.unpack_from("<Q", data, at)
        columns.append(zlib.decompress(data[at + 8 : at + 8 + length]))
        at += 8 + length
    assert at == len(data)
    assert struct.unpack("<3I", columns[0]) == (1, 0, 1)
    assert list(columns[1]) == [3, 1, 0]  # of rank 0, then of rank 1
    values = [
        [int.from_bytes(column[row::3], "little", signed=True) for row in range(3)] for column in columns[2:]
    ]
    assert values == [[0, 4096, -512], [512, 512, -412]]


def test_equal_operations_take_little_room() -> None:
    n = 100_000
    steps = np.arange(n, dtype=np.int64)
    regular = OperationTable(
        steps % 8, np.ones(n, bool), steps * 4096, np.full(n, 4096, np.int64), np.zeros(n, bool)
    )
    assert len(regular.encoded) < 10_000


def test_a_table_lies_beside_its_workload(tmp_path: Path) -> None:
    path = write_table(SMALL, tmp_path)
    assert path.name == file_name(SMALL.sha256)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == SMALL.sha256
    assert rows_of(read_table(tmp_path, SMALL.sha256, 3)) == rows_of(SMALL)


def encoded(rows: OperationTable, **columns: bytes) -> bytes:
    """The table's file with other columns."""
    given = {
        "ranks": rows.ranks.astype("<u4").tobytes(),
        "kinds": bytes(len(rows)),
        "offsets": bytes(8 * len(rows)),
        "lengths": bytes(8 * len(rows)),
    } | columns
    parts = [zlib.compress(column) for column in given.values()]
    return (
        b"WAOPTAB2"
        + struct.pack("<Q", len(rows))
        + b"".join(struct.pack("<Q", len(part)) + part for part in parts)
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not an operation table"),
        (b"workalike: 2\nranks: 4\n", "is not an operation table"),
        (SMALL.encoded.replace(b"WAOPTAB2", b"WAOPTAB7"), "version '7'"),
        (SMALL.encoded[:-1], "is damaged"),
        (SMALL.encoded[:40], "is damaged"),
        (SMALL.encoded + b"x", "1 bytes follow"),
        (encoded(SMALL, kinds=bytes([0, 1, 4])), "none of 0 to 3"),
        (encoded(SMALL, offsets=bytes(8)), "another length"),
        (encoded(SMALL, ranks=bytes(1 << 22)), "another length"),
        (encoded(SMALL.part(0, 2)), "has 2 rows, not 3"),
    ],
)
def test_damage_is_one_line(data: bytes, message: str) -> None:
    with pytest.raises(WorkalikeError, match=message) as caught:
        decode(data, Path("operations.table"), hashlib.sha256(data).hexdigest(), 3)
    assert caught.value.kind is ErrorKind.BAD_WORKLOAD


def test_a_table_of_another_workload_is_refused() -> None:
    with pytest.raises(WorkalikeError, match="SHA-256 differs"):
        decode(SMALL.encoded, Path("operations.table"), "0" * 64, 3)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A workload with a table: random reads, whose trace is complete."""
    workload = characterize([open_log(own("random-reads-1-dxt"))]).workload
    write_workload(workload, tmp_path / "job.yaml")
    return tmp_path / "job.yaml"


def with_table(path: Path, rows: OperationTable) -> Path:
    """The workload with another table in place of its own, under the other's hash."""
    text = path.read_text()
    stated = read_workload(path).operations
    assert stated is not None
    path.write_text(text.replace(stated.sha256, rows.sha256))
    write_table(rows, path.parent)
    return path


def test_a_workload_is_read_with_its_table(written: Path) -> None:
    found = read_workload(written)
    assert found.operations is not None
    assert found.operations.table is not None
    assert len(found.operations.table) == found.operations.rows == 64


def test_a_small_table_takes_little_memory(written: Path) -> None:
    """A read takes memory for all that it asks for: the largest table that is allowed has 2 GiB."""
    tracemalloc.start()
    try:
        read_workload(written)
        assert tracemalloc.get_traced_memory()[1] < 100 * 2**20
    finally:
        tracemalloc.stop()


def test_a_missing_table_is_named(written: Path) -> None:
    (table_file,) = written.parent.glob("*.table")
    table_file.unlink()
    with pytest.raises(WorkalikeError) as caught:
        read_workload(written)
    assert caught.value.kind is ErrorKind.MISSING
    assert table_file.name in caught.value.one_line()


def rows_in(path: Path) -> OperationTable:
    operations = read_workload(path).operations
    assert operations is not None
    assert operations.table is not None
    return operations.table


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("offsets", 2**40, "lie beyond the 4056 KiB of the file"),
        ("offsets", -4096, "impossible offsets"),
        ("lengths", -1, "impossible offsets or lengths"),
        ("ranks", 1, "name rank 1 of 1 ranks"),
        ("writes", 1, "are not the reads that the workload states"),
        ("lengths", 100, "are not the reads that the workload states"),
    ],
)
def test_rows_that_contradict_the_workload(written: Path, column: str, value: int, message: str) -> None:
    rows = rows_in(written)
    changed = {
        name: getattr(rows, name).copy() for name in ("ranks", "writes", "offsets", "lengths", "collective")
    }
    changed[column][7] = value
    with pytest.raises(WorkalikeError, match=message) as caught:
        read_workload(with_table(written, OperationTable(**changed)))
    assert "input 1" in caught.value.one_line()


def test_a_content_names_rows_of_the_table(written: Path) -> None:
    text = written.read_text().replace("rows: 64", "rows: 63")
    written.write_text(text)
    with pytest.raises(WorkalikeError, match="names rows 0 to 63 of a table of 63 rows"):
        read_workload(written)


def test_the_audit_reads_the_table(written: Path) -> None:
    log = open_log(own("random-reads-1-dxt"))
    workload = read_workload(written)
    report = audit(written.read_text(), [log], workload.operations)
    assert report.clean
    assert report.rows == 64
    secret = int(log.job.start_time)
    rows = rows_in(written)
    leaking = OperationTable(rows.ranks, rows.writes, rows.offsets.copy(), rows.lengths, rows.collective)
    leaking.offsets[3] = secret
    report = audit(written.read_text(), [log], TableReference.to_table(leaking))
    assert [(hit.line, hit.token) for hit in report.hits] == [(0, str(secret))]


def test_the_hash_is_not_searched(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    operations = read_workload(written).operations
    assert operations is not None
    number = max(re.findall(r"\d{2,}", operations.sha256), key=len)
    secrets = Secrets(names={operations.sha256[:8]: Kind.USER}, numbers={number: Kind.ID})
    monkeypatch.setattr("workalike.workload.audit.secrets_of", lambda logs: secrets)
    monkeypatch.setattr("workalike.workload.audit._NUMBER", re.compile(r"\d{2,}"))
    digest = operations.sha256
    assert audit(digest, [], None).hits
    assert audit(digest, [], operations).clean


def test_text_and_table_are_a_workload(written: Path) -> None:
    found = read_workload(written)
    again = Workload.model_validate(found.model_dump(mode="json"))
    assert again == found
    assert joined([rows_in(written)]).sha256 == found.operations.sha256  # type: ignore[union-attr]
