"""The audit finds what is planted in a new log, and what a careless writer would leave."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from workalike.darshan import LogBuilder, layouts, open_log, record_id
from workalike.darshan.write import encode_record
from workalike.fleet.anonymize.audit import audit
from workalike.fleet.anonymize.key import Key
from workalike.fleet.anonymize.logs import Anonymized, anonymize

KEY = Key(b"sixteen bytes and more")
FILE = "/home/janedoe/galaxymerger/dump_0007.h5"
HOST = "cray0042.corp.example"


def original(folder: Path) -> Path:
    log = LogBuilder(
        nprocs=2,
        run_time=60.0,
        start_time=1_699_999_123.25,
        uid=71234,
        job_id=8675309,
        exe="/home/janedoe/bin/novasim --deck shockwave.inp",
        metadata={"lib_ver": "3.5.0", "project": "umbra"},
        mounts=[("ext4", "/"), ("secretfs", "/home")],
    )
    log.posix(FILE, rank=0, OPENS=1, WRITES=4, BYTES_WRITTEN=4096)
    log.posix(FILE, rank=1, OPENS=1, WRITES=4, BYTES_WRITTEN=4096, RENAMED_FROM=0)
    log.lustre(FILE)
    log.dxt_posix(FILE, 0, [(0, 1024, 1.0, 2.0)], hostname=HOST)
    path = log.write(folder / "janedoe_novasim_id8675309.darshan")
    side = {
        "version": 1,
        "processes": [PROCESS],
        "stdio_sizes": [{"file": FILE, "rank": 0, "reads": [], "writes": [[1024, 4]]}],
    }
    path.with_name(path.name + ".extra.json").write_text(json.dumps(side))
    return path


@pytest.fixture
def pair(tmp_path: Path) -> Anonymized:
    return anonymize([original(tmp_path)], tmp_path / "out", KEY)[0]


PROCESS = {"rank": 0, "start": 0.0, "end": 2.0, "cpu_s": 1.5, "bin_s": 0.1, "bins": [0.1, 0.05]}


def test_cpu_times_stay(pair: Anonymized) -> None:
    side = json.loads(Path(f"{pair.published}.extra.json").read_text())
    assert side["processes"] == [PROCESS]


SECRETS = (
    b"janedoe galaxymerger dump_ novasim shockwave umbra secretfs cray0042 corp project 8675309 71234".split()
)


def all_bytes(log: Path) -> bytes:
    """Everything in a log, inflated here, and its name."""
    raw = log.read_bytes()
    places = [(1328, struct.unpack_from("<Q", raw, 32)[0] - 1328)]
    places += [struct.unpack_from("<2Q", raw, at) for at in range(32, 1072, 16)]
    return b"".join(
        [raw[:1328], *(zlib.decompress(raw[at : at + n]) for at, n in places if n), log.name.encode()]
    )


def test_no_secret_is_in_the_bytes(pair: Anonymized) -> None:
    """By a search of our own; the audit is another."""
    assert pair.side is not None
    before = all_bytes(pair.original) + pair.original.read_bytes()
    after = all_bytes(pair.published) + pair.side.read_bytes() + pair.side.name.encode()
    for secret in SECRETS[:-2]:
        assert secret in before
        assert secret not in after.lower(), secret
    for number in (71234, 8675309, record_id(FILE), 1_699_999_123):
        assert struct.pack("<Q", number) in before
        assert struct.pack("<Q", number) not in after
    assert audit([pair]).clean


def test_structure_stays(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=1, exe="./a")
    names = ["/d/e/chk_0010.h5", "/d/e/chk_0030.h5", "/d/e/chk_0020.h5", "/d/f/chk_0030.h5", "/d/e/plot"]
    for name in names:
        log.posix(name, rank=0, OPENS=1)
    log.h5d("/d/e/chk_0010.h5:/mesh/rho", rank=0, file="/d/e/chk_0010.h5", OPENS=1)
    path = log.write(tmp_path / "x.darshan")
    new = open_log(anonymize([path], tmp_path / "out", KEY)[0].published)
    found = list(new.names.values())
    folders = [name.rsplit("/", 1)[0] for name in found[:5]]
    bases = [name.rsplit("/", 1)[1] for name in found[:5]]
    assert folders[0] == folders[1] == folders[2] == folders[4] != folders[3]
    assert [base[-8:] for base in bases[:4]] == ["-0000.h5", "-0002.h5", "-0001.h5", "-0002.h5"]
    assert len({base[:-8] for base in bases[:4]}) == 1
    assert "." not in bases[4]
    assert found[5].startswith(found[0] + ":/")
    table = new.records("H5D")
    assert table is not None and table.file_ids is not None
    assert table.file_ids.tolist() == [record_id(found[0])]


def spoil_module(log: Path, module: str, change: bytes) -> None:
    """Append bytes to a module's region, keeping everything else valid."""
    raw = bytearray(log.read_bytes())
    place = layouts.HEADERS["3.41"].maps + 16 * layouts.MODULE_IDS[module]
    at, size = struct.unpack_from("<2Q", raw, place)
    packed = zlib.compress(zlib.decompress(raw[at : at + size]) + change)
    assert at + size == len(raw) or module == "POSIX"
    grown = len(packed) - size
    for other in range(32, 1072, 16):
        start, length = struct.unpack_from("<2Q", raw, other)
        if length and start > at:
            struct.pack_into("<Q", raw, other, start + grown)
    struct.pack_into("<2Q", raw, place, at, len(packed))
    log.write_bytes(bytes(raw[:at]) + packed + bytes(raw[at + size :]))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (b"galaxymerger", "left over"),
        (b"x" * 700, "left over"),
        (encode_record("POSIX", record_id(FILE), 0, {"OPENS": 1}), "an id or name"),
    ],
)
def test_what_is_left_in_a_region_is_found(pair: Anonymized, change: bytes, found: str) -> None:
    spoil_module(pair.published, "POSIX", change)
    report = audit([pair])
    assert any(found in hit.message for hit in report.hits), report.lines()


def test_tails_and_unknown_regions_are_dropped(tmp_path: Path) -> None:
    path = original(tmp_path)
    spoil_module(path, "POSIX", b"galaxymerger")
    raw = bytearray(path.read_bytes())
    secret = zlib.compress(b"galaxymerger" * 9)
    struct.pack_into("<2Q", raw, layouts.HEADERS["3.41"].maps + 16 * 40, len(raw), len(secret))
    path.write_bytes(bytes(raw) + secret)
    pair = anonymize([path], tmp_path / "out", KEY)[0]
    assert pair.dropped == ("MODULE_40",)
    assert b"galaxymerger" in all_bytes(path)
    assert b"galaxymerger" not in all_bytes(pair.published)
    assert audit([pair]).clean


def test_bytes_after_the_regions_are_found(pair: Anonymized) -> None:
    pair.published.write_bytes(pair.published.read_bytes() + b"janedoe")
    assert not audit([pair]).clean


def test_a_name_beside_the_log_is_found(pair: Anonymized) -> None:
    assert pair.side is not None
    side = json.loads(pair.side.read_text())
    side["stdio_sizes"][0]["file"] = FILE
    pair.side.write_text(json.dumps(side))
    assert not audit([pair]).clean
    side["stdio_sizes"][0].update(file="", owner=5)
    pair.side.write_text(json.dumps(side))
    assert any("owner" in hit.message for hit in audit([pair]).hits)


def test_the_original_does_not_pass(pair: Anonymized) -> None:
    """Audited against itself, a log shows its names, ids, host, user, job and times."""
    report = audit([replace(pair, published=pair.original)])
    text = "\n".join(hit.message for hit in report.hits)
    for word in (
        "janedoe",
        "novasim",
        "cray0042",
        "umbra",
        "secretfs",
        "uid",
        "job_id",
        "start_time",
        "id or name",
    ):
        assert word in text, word


def test_numbers_are_places_only(pair: Anonymized, tmp_path: Path) -> None:
    """A name whose number is not a place (here by another log of the same token) is found."""
    token = KEY.word("words", "whatever")
    forged = LogBuilder(nprocs=2).posix(f"/{token}-0007.h5", rank=0, OPENS=1)
    name = KEY.word("log", "forged")
    forged.write(tmp_path / f"{name}.darshan")
    report = audit([replace(pair, published=tmp_path / f"{name}.darshan")])
    assert any("not a place" in hit.message for hit in report.hits)
