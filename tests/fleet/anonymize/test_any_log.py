"""Any log that hypothesis can make is read again with the same counters, and passes the audit."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from darshan_everything import builder, digest
from darshan_mutate import spoil_file, spoil_region
from hypothesis import example, given, settings
from hypothesis import strategies as st
from known_logs import OWN_LOGS

from workalike.darshan import LogBuilder, open_log
from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet.anonymize.audit import audit
from workalike.fleet.anonymize.key import Key
from workalike.fleet.anonymize.logs import anonymize

NAMES = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=40)
PATHS = st.lists(
    NAMES | st.from_regex(r"[a-z]{1,3}_?[0-9]{1,7}(\.h5|\.0*[0-9])?", fullmatch=True), min_size=1, max_size=4
)
COUNTERS = st.integers(-(2**63), 2**63 - 1)


@settings(max_examples=60)
@given(
    key=st.binary(min_size=16, max_size=40),
    paths=st.lists(PATHS, min_size=1, max_size=6),
    counters=st.lists(COUNTERS, min_size=6, max_size=6),
    exe=NAMES,
    uid=COUNTERS,
    job=COUNTERS,
    host=st.text("abcdefgh-.0123456789", min_size=0, max_size=63),
    start=st.integers(1, 2**33),
)
@example(b"x" * 16, [["a", "00"], ["a", "0"], ["a", "1e5"]], [0] * 6, "\t\n", 0, -1, "", 1)
def test_any_log(
    key: bytes,
    paths: list[list[str]],
    counters: list[int],
    exe: str,
    uid: int,
    job: int,
    host: str,
    start: int,
) -> None:
    log = LogBuilder(
        nprocs=2, start_time=start, uid=uid, job_id=job, exe=exe.replace("\n", " "), mounts=[("x", "/")]
    )
    for parts, value in zip(paths, counters, strict=False):
        name = "/" + "/".join(parts)
        log.posix(name, rank=0, BYTES_WRITTEN=value, OPENS=1)
        log.dxt_posix(name, 1, [(value, 1, 0.5, 1.5)], hostname=host)
    with tempfile.TemporaryDirectory() as folder:
        path = log.write(Path(folder) / "x.darshan")
        pair = anonymize([path], Path(folder) / "out", Key(key))[0]
        old, new = open_log(path), open_log(pair.published)
        before, after = old.records("POSIX"), new.records("POSIX")
        assert before is not None and after is not None
        assert before.counters.tolist() == after.counters.tolist()
        assert len(set(before.ids.tolist())) == len(set(after.ids.tolist()))
        assert new.job.run_time == old.job.run_time
        report = audit([pair])
        assert report.clean, report.lines()


def test_every_kind_of_record_keeps_its_numbers(tmp_path: Path) -> None:
    path = builder().write(tmp_path / "x.darshan")
    pair = anonymize([path], tmp_path / "out", Key(b"k" * 16))[0]
    old, new = digest(open_log(path)), digest(open_log(pair.published))
    assert old.keys() == new.keys()
    for part in ("HEATMAP POSIX", "HEATMAP MPIIO"):
        assert old[part] == new[part]
    for part in ("POSIX", "MPI-IO", "STDIO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR"):
        assert old[part][0][1:] == new[part][0][1:]  # all but the ids
    assert [row[1:] for row in old["LUSTRE"]] == [row[1:] for row in new["LUSTRE"]]
    for part in ("DXT_POSIX", "DXT_MPIIO"):
        assert (old[part][1], old[part][3]) == (new[part][1], new[part][3])
    hosts = dict(zip(old["DXT_POSIX"][2], new["DXT_POSIX"][2], strict=True))
    assert len(set(hosts.values())) == len(hosts) == 2


def workalike(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "workalike", "anonymize", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_command(tmp_path: Path) -> None:
    builder().write(tmp_path / "x.darshan")
    done = workalike(tmp_path / "x.darshan", "-o", tmp_path / "out", "--key", tmp_path / "key", "--audit")
    assert (done.returncode, done.stderr) == (0, "")
    assert "no name, id or host of the original" in done.stdout
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert [log.suffix for log in (tmp_path / "out").iterdir()] == [".darshan"]


@pytest.mark.parametrize(("place", "words"), [("out/key", "folder that is published"), ("short", "16 to")])
def test_bad_keys(tmp_path: Path, place: str, words: str) -> None:
    builder().write(tmp_path / "x.darshan")
    (tmp_path / "short").write_bytes(b"short")
    done = workalike(tmp_path / "x.darshan", "-o", tmp_path / "out", "--key", tmp_path / place)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_damaged_logs_are_refused_or_read(tmp_path: Path) -> None:
    """Mutated logs end in one line, or in a log that can be read; never in a traceback."""
    dice = random.Random(7)
    images = [builder().image(), *(log.read_bytes() for log in OWN_LOGS)]
    done = {"refused": 0, "written": 0}
    for number in range(150):
        spoil = spoil_file if number % 2 else spoil_region
        path = tmp_path / "x.darshan"
        path.write_bytes(spoil(dice.choice(images), dice).image)
        try:
            pair = anonymize([path], tmp_path / "out", Key(b"k" * 16))[0]
        except WorkalikeError as error:
            assert error.kind in (ErrorKind.DAMAGED_LOG, ErrorKind.UNSUPPORTED_LOG)
            assert "\n" not in error.one_line()
            done["refused"] += 1
        else:
            audit([pair])
            done["written"] += 1
    assert min(done.values()) > 20


def test_control_characters_of_a_command_line(tmp_path: Path) -> None:
    """Characters that end a field are left out before numbers are numbered."""
    log = LogBuilder(exe="./app\t12 3\r4 in_7\x01").posix("/in_7", rank=0, OPENS=1)
    pair = anonymize([log.write(tmp_path / "x.darshan")], tmp_path / "out", Key(b"k" * 16))[0]
    assert len(open_log(pair.published).job.exe.split(" ")) == 3
    assert audit([pair]).clean
