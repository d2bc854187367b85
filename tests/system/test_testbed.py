"""The testbed itself: it starts, limits its daemons, and leaves nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .support import lines_of, wait_until
from .testbed import COMMAND, CephBed, limited_traffic, needs_testbed, tools_testbed, write_through

pytestmark = pytest.mark.system

PREFIX = "workalike-testbed-"
PLAIN, FAILED, STOPPED, KILLED = (
    f"{what}-{os.getpid()}" for what in ("plain", "failed", "stopped", "killed")
)
"""Names that no other run of these tests has."""
MIB = 2**20


@pytest.fixture(autouse=True, scope="module")
def _machine() -> None:
    needs_testbed()


@pytest.fixture(scope="module")
def bed(_machine: None) -> Iterator[CephBed]:
    with CephBed() as started:
        yield started


def traces(name: str) -> list[str]:
    """What is left of a testbed: folder, namespace, mounts, processes that name it."""
    word = PREFIX + name
    found = [str(path) for path in Path(tempfile.gettempdir()).glob(f"{word}*")]
    found += [str(path) for path in Path("/run/netns").glob(f"{word}*")]
    found += [line for line in Path("/proc/self/mounts").read_text().splitlines() if f"/{word}/" in line]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace")
            own = os.getpid() in (int(process.name), _parent(process))
        except OSError:
            continue
        if f"/{word}/" in command and not own:
            found.append(command.replace("\0", " "))
    return found


def _parent(process: Path) -> int:
    return int((process / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])


def test_it_starts_and_leaves_nothing() -> None:
    about = json.loads(tools_testbed("start", "--name", PLAIN).stdout)
    try:
        mount = Path(about["mount"])
        assert os.path.ismount(mount) and about["state"] == "running"
        (mount / "a").write_bytes(b"x" * 10 * MIB)
        assert (mount / "a").stat().st_size == 10 * MIB
        assert sum(
            counters["written"]
            for counters in json.loads(tools_testbed("counters", "--name", PLAIN).stdout).values()
        )
        assert len(traces(PLAIN)) > 8, "the search finds what runs"
    finally:
        tools_testbed("stop", "--name", PLAIN)
    assert traces(PLAIN) == []
    again = tools_testbed("stop", "--name", PLAIN, check=False)
    assert again.returncode == 1 and lines_of(again.stderr) == [f"testbed: there is no testbed {PLAIN}"]


def test_two_are_not_confused(bed: CephBed, tmp_path: Path) -> None:
    other = CephBed()
    with other:
        (other.mount / "theirs").write_text("theirs")
        assert not (bed.mount / "theirs").exists()
        unsure = tools_testbed("stop", check=False)
        assert unsure.returncode == 1 and bed.name in unsure.stderr and other.name in unsure.stderr
        taken = tools_testbed("start", "--name", other.name, check=False)
        assert taken.returncode == 1 and "choose another name" in taken.stderr
        assert (other.mount / "theirs").read_text() == "theirs"
    assert traces(other.name) == []
    (bed.mount / "ours").write_text("ours")
    assert traces(bed.name)


def test_a_failed_start_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "ceph-mds").write_text("#!/bin/sh\necho 'no metadata today' >&2\nexit 7\n")
    (tmp_path / "ceph-mds").chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = tools_testbed("start", "--name", FAILED, check=False, env={**os.environ, "PATH": path})
    assert done.returncode == 1 and "no metadata today" in done.stderr and len(lines_of(done.stderr)) == 1
    assert traces(FAILED) == []


@pytest.mark.parametrize("after_s", [0.2, 0.7, 1.3])
def test_ctrl_c_while_it_starts(after_s: float) -> None:
    process = _starting(STOPPED, after_s)
    process.send_signal(signal.SIGINT)
    _, shown = process.communicate(timeout=60)
    if process.returncode == 0:  # it had started before
        tools_testbed("stop", "--name", STOPPED)
    else:
        assert lines_of(shown) == ["testbed: interrupted"], shown
    assert traces(STOPPED) == []


def test_what_a_killed_start_leaves_is_shown_and_removed() -> None:
    process = _starting(KILLED, 0.8)
    process.kill()
    process.communicate(timeout=60)
    shown = json.loads(tools_testbed("status", "--name", KILLED).stdout)
    assert [testbed["state"] for testbed in shown] in (["left over"], ["running"])
    tools_testbed("stop", "--name", KILLED)
    assert traces(KILLED) == []


def _starting(name: str, after_s: float) -> subprocess.Popen[str]:
    """A start, so many seconds after its folder was there."""
    process = subprocess.Popen(
        [*COMMAND, "start", "--name", name],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    wait_until((Path(tempfile.gettempdir()) / f"{PREFIX}{name}").exists, 20, "a start")
    time.sleep(after_s)
    return process


def test_a_busy_mount_and_a_second_client_are_stopped(tmp_path: Path) -> None:
    other = CephBed()
    second = tmp_path / "second"
    second.mkdir()
    with other:
        other("client", second)
        (other.mount / "shared").write_text("seen by both")
        assert (second / "shared").read_text() == "seen by both"
        held = (other.mount / "held").open("w")
    assert traces(other.name) == [] and not os.path.ismount(second)
    held.detach()


LAYOUT = "stripe_unit=1048576 stripe_count={} object_size=134217728 pool=data"


def striped(bed: CephBed, count: int, stem: str) -> Path:
    """An empty file whose stripes are on as many storage daemons as it has stripes: a hash places them."""
    files = [bed.mount / f"{stem}-{count}-{number}" for number in range(100)]
    for path in files:
        path.touch()
        os.setxattr(path, "ceph.file.layout", LAYOUT.format(count).encode())
    places = bed("where", "--objects", count, *files)
    spread = [path for path, on in zip(files, places, strict=True) if len(set(on)) == count]
    assert spread, "no file with its stripes on distinct daemons"
    for path in set(files) - {spread[0]}:
        path.unlink()
    return spread[0]


def written_by_daemons(bed: CephBed, path: Path, size: int) -> dict[int, int]:
    """Bytes that each daemon has got while so many were written into a file."""
    before = bed("counters")
    write_through(path, size)
    return {int(n): counters["written"] - before[n]["written"] for n, counters in bed("counters").items()}


def test_limits_hold_what_each_stripe_gets(bed: CephBed) -> None:
    """One limit for all: with more stripes, each of more daemons gets less, and has a limit of its own."""
    bed.limit("160mbit")
    size = 20 * MIB
    for count in (1, 2, 4):
        before = limited_traffic(bed)
        written = written_by_daemons(bed, striped(bed, count, "limited"), size)
        share = size // count
        busy = [daemon for daemon, size_there in written.items() if size_there >= share]
        assert len(busy) == count, written
        assert all(size_there < MIB for daemon, size_there in written.items() if daemon not in busy), written
        passed = limited_traffic(bed)
        for daemon in busy:
            assert passed[daemon].sent - before[daemon].sent >= share
            assert passed[daemon].held_back > before[daemon].held_back
    bed.limit("none")
    assert limited_traffic(bed) == {}


def test_pools_pin_to_one_daemon_and_one_can_be_slow(bed: CephBed) -> None:
    files = []
    for number in (0, 3):
        path = bed.mount / f"pinned-{number}"
        path.touch()
        os.setxattr(path, "ceph.file.layout.pool", f"only{number}".encode())
        files.append(path)
        assert set(bed("where", "--objects", 8, path)[0]) == {number}
    bed.limit("100mbit", 3)
    fast, slow = (written_by_daemons(bed, path, 10 * MIB) for path in files)
    passed = limited_traffic(bed)
    bed.limit("none", 3)
    assert fast[0] >= 10 * MIB <= slow[3]
    assert max(fast[1], fast[2], fast[3], slow[0], slow[1], slow[2]) < MIB
    assert list(passed) == [3] and passed[3].sent >= 10 * MIB and passed[3].held_back


DELAY = "osd_debug_inject_dispatch_delay_"


def test_a_delayed_daemon(bed: CephBed) -> None:
    """The daemon itself is asked for its delay."""

    def setting(name: str) -> float:
        ask = ("tell", "osd.2", "config", "get", DELAY + name, "--format", "json")
        command = bed.inside("ceph", "-c", str(bed.mount.parent / "ceph.conf"), *ask)
        return float(json.loads(subprocess.check_output(command, text=True))[DELAY + name])

    bed("delay", 2, 0.05)
    assert (setting("duration"), setting("probability")) == (0.05, 1)
    path = bed.mount / "delayed"
    path.touch()
    os.setxattr(path, "ceph.file.layout.pool", b"only2")
    assert written_by_daemons(bed, path, MIB)[2] >= MIB
    bed("delay", 2, 0)
    assert setting("probability") == 0


def test_bad_requests_are_one_line(bed: CephBed, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    for words in (
        ("limit", "9", "10mbit"),
        ("limit", "0", "fast"),
        ("delay", "x", "1"),
        ("delay", "0", "-1"),
        ("client", tmp_path / "full"),
        ("client", "--remove", tmp_path),
        ("where", tmp_path / "full/file"),
        ("start", "--name", "../x"),
    ):
        done = tools_testbed(
            words[0], *([] if words[0] == "start" else ["--name", bed.name]), *words[1:], check=False
        )
        assert done.returncode in (1, 2) and lines_of(done.stderr)[-1].startswith("testbed"), done.stderr
        assert "Traceback" not in done.stderr


def test_a_coded_pool_reads_what_a_write_leaves_out() -> None:
    with CephBed("--erasure", "2+1", "--no-cache") as bed:
        width, pieces, reads = 128 * 1024, 32, []
        for shift in (0, 4096):
            file = bed.mount / f"from-{shift}"
            before = _stored_reads(bed)
            with file.open("wb", buffering=0) as out:
                for number in range(pieces):
                    os.pwrite(out.fileno(), b"x" * width, number * 2 * width + shift)
                    if shift:  # a second write of the same stripes finds something to read
                        os.pwrite(out.fileno(), b"y" * width, number * 2 * width + shift)
            reads.append(_stored_reads(bed) - before)
        aligned, shifted = reads
        assert shifted >= pieces and shifted > 4 * aligned


def _stored_reads(bed: CephBed) -> int:
    return int(sum(values["stored_reads"] for values in bed("counters").values()))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--erasure", "2"), "give it as K+M"),
        (("--erasure", "1+1"), "give it as K+M"),
        (("--erasure", "4+1"), "as many daemons"),
        (("--erasure", "2+1", "--width", "1000"), "multiple of 8192"),
        (("--erasure", "2+1", "--pin"), "not with --erasure"),
    ],
)
def test_bad_codes_are_refused(options: tuple[str, ...], said: str) -> None:
    name = f"coded-{os.getpid()}"
    done = tools_testbed("start", "--name", name, *options, check=False)
    assert done.returncode == 1 and said in done.stderr
    assert not traces(name)
