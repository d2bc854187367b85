"""The reader of archives, against archives by `tarfile` and by GNU tar, and against hostile ones."""

from __future__ import annotations

import gzip
import io
import random
import subprocess
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from workalike.errors import ErrorKind, WorkalikeError
from workalike.tar_file import PIECE, entries

FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
CONTENTS = {
    "r/empty": b"",
    "r/block": b"x" * 512,
    "r/large": random.Random(0).randbytes(2 * PIECE + 17),
    "r/" + "d" * 90 + "/" + "n" * 90: b"long",
}
GNU_ONLY = {"r/" + "n" * 4000: b"longer", "r/Grüße": b"not ASCII"}


def read(path: Path, **limits: int) -> dict[str, bytes]:
    found = {}
    for entry in entries(path, ErrorKind.BAD_FILE, "ask again", **limits):
        if entry.is_file:
            found[entry.name] = b"".join(entry.pieces())
    return found


def written(path: Path, contents: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> Path:
    with tarfile.open(path, "w:gz", format=form) as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return member.tobuf(tarfile.GNU_FORMAT)


END = bytes(1024)


@pytest.mark.parametrize("form", FORMATS)
def test_archives_by_python(tmp_path: Path, form: int) -> None:
    contents = CONTENTS if form == tarfile.USTAR_FORMAT else CONTENTS | GNU_ONLY
    assert read(written(tmp_path / "a.tar.gz", contents, form)) == contents


@pytest.mark.parametrize("form", ["gnu", "pax", "ustar"])
def test_archives_by_tar(tmp_path: Path, form: str) -> None:
    for name, content in CONTENTS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "r/link").symlink_to("empty")
    (tmp_path / "r/same").hardlink_to(tmp_path / "r/block")
    subprocess.run(
        ["tar", f"--format={form}", "-C", tmp_path, "-czf", tmp_path / "a.tar.gz", "r"], check=True
    )
    found = read(tmp_path / "a.tar.gz")
    both = {"r/same", "r/block"}  # the second of two names of a file is a link
    assert len(both & found.keys()) == 1
    assert {n: c for n, c in found.items() if n not in both} == {
        n: c for n, c in CONTENTS.items() if n not in both
    }


def test_entries_may_be_passed_over(tmp_path: Path) -> None:
    names = []
    for entry in entries(written(tmp_path / "a.tar.gz", CONTENTS), ErrorKind.BAD_FILE, ""):
        names.append((entry.name, entry.size))
        entry.read(3)
    assert names == [(name, len(content)) for name, content in CONTENTS.items()]


GOOD = header("r/x", 3) + b"abc".ljust(512, b"\0")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\x1f\x8b", "ends amid"),
        (b"not an archive", "no archive, not .tar.gz"),
        (b"PK\x03\x04 and so on", "zip data"),
        (b"\xfd7zXZ\x00 and so on", "xz data"),
        (gzip.compress(b""), "ends amid"),
        (gzip.compress(b"x" * 5000), "no header of tar at byte 0"),
        (gzip.compress(GOOD + b"x" * 512), "no header of tar at byte 1,024"),
        (gzip.compress(GOOD), "ends amid"),
        (gzip.compress(GOOD + END)[:-9], "ends amid"),
        (gzip.compress(GOOD + END)[:-8] + b"wrong sum", "is damaged"),
        (gzip.compress(GOOD + END) + b"more", "goes on after its end"),
        (gzip.compress(GOOD + END) + gzip.compress(GOOD + END), "goes on after its end"),
        (gzip.compress(GOOD + END + GOOD), "goes on after its end"),
        (gzip.compress(GOOD + END + bytes(2 << 20)), "goes on after its end"),
        (gzip.compress(header("L", 3 << 30, tarfile.GNUTYPE_LONGNAME)), "header of 3,221,225,472 bytes"),
        (gzip.compress(header("K", 3 << 30, tarfile.GNUTYPE_LONGLINK)), "header of 3,221,225,472 bytes"),
        (gzip.compress(header("x", 2 << 30, tarfile.XHDTYPE)), "header of 2,147,483,648 bytes"),
        (gzip.compress(header("g", 2 << 30, tarfile.XGLTYPE)), "header of 2,147,483,648 bytes"),
        (gzip.compress(header("r/x", -5)), "negative size"),
        (gzip.compress(header("r/x", 1 << 62) + END), "ends amid"),
        (gzip.compress(header("r/x", 5, tarfile.GNUTYPE_SPARSE) + END), "r/x: has a sparse file"),
    ],
)
def test_what_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.tar.gz").write_bytes(content)
    with pytest.raises(WorkalikeError) as caught:
        read(tmp_path / "a.tar.gz")
    assert message in caught.value.one_line() and caught.value.kind is ErrorKind.BAD_FILE


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"30 GNU.sparse.realsize=123456\n", "sparse"),
        (b"17 size=12345678\n", "8 GiB"),
        (b"999999 path=x\n", "cannot be read"),
        (b"0 path=x\n", "cannot be read"),
        (b"-9 path=x\n", "cannot be read"),
        (b"path\n", "cannot be read"),
        (b"12 path=abcde", "cannot be read"),
    ],
)
def test_extended_headers_that_are_refused(tmp_path: Path, body: bytes, message: str) -> None:
    content = header("x", len(body), tarfile.XHDTYPE) + body.ljust(512, b"\0") + GOOD + END
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(content))
    with pytest.raises(WorkalikeError, match=message):
        read(tmp_path / "a.tar.gz")


def test_limits(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tar.gz", {f"r/{n}": random.Random(n).randbytes(1000) for n in range(50)})
    assert len(read(path, most_entries=50, most_bytes=1 << 20)) == 50
    with pytest.raises(WorkalikeError, match="more than 49 entries"):
        read(path, most_entries=49)
    with pytest.raises(WorkalikeError, match="more than 0 MiB"):
        read(path, most_bytes=50_000)


def test_zeros_that_were_compressed_are_refused_in_little_memory(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.tar.gz", "wb") as file:
        file.write(header("r/x", 80 << 20))
        for _ in range(80):
            file.write(bytes(1 << 20))
        file.write(END)
    tracemalloc.start()
    with pytest.raises(WorkalikeError, match="expands more than 100-fold"):
        for entry in entries(tmp_path / "a.tar.gz", ErrorKind.BAD_FILE, ""):
            for _ in entry.pieces():
                pass
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()
