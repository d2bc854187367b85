"""Threads, forks, other programs, and all kinds of ends: nothing is lost or counted twice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workalike.capture import mapping
from workalike.capture.session import place_logs
from workalike.errors import WorkalikeError

from .conftest import WORKALIKE, Profile, Run

THREADS, ROUNDS = 8, 5000


def only(run: Run, log: int) -> Run:
    """The run with one of its logs."""
    return replace(run, logs=[run.logs[log]])


def written(run: Run, name: str) -> list[tuple[int, int]]:
    return [(int(row["WRITES"]), int(row["BYTES_WRITTEN"])) for row in run.records("POSIX", name)]


def test_threads_are_counted_exactly(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = profile(compiled("threads.c", "-pthread"))
    common = run.record("POSIX", "common")
    assert (common["WRITES"], common["BYTES_WRITTEN"]) == (THREADS * ROUNDS, THREADS * ROUNDS * 100)
    assert common["ACCESS1_COUNT"] == common["SIZE_WRITE_0_100"] == THREADS * ROUNDS
    assert common["F_WRITE_TIME"] <= run.log.job.run_time
    for number in range(THREADS):
        own = run.record("POSIX", f"own.{number}")
        assert (own["OPENS"], own["WRITES"], own["BYTES_WRITTEN"]) == (11, ROUNDS, ROUNDS * (10 + number))
        assert own["CONSEC_WRITES"] == ROUNDS - 1
    text = run.record("STDIO", "text")
    assert (text["OPENS"], text["WRITES"], text["BYTES_WRITTEN"]) == (THREADS, THREADS * 100, THREADS * 200)


def test_fork_makes_a_log_of_each(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = profile(compiled("processes.c"), "fork")
    assert len(run.logs) == 2
    parent, child = only(run, 0), only(run, 1)
    assert (written(parent, "parent"), written(parent, "child")) == ([(3, 30)], [])
    assert (written(child, "parent"), written(child, "child")) == ([], [(2, 20)])
    assert int(child.log.job.metadata["fork_parent"]) > 0
    assert "fork_parent" not in parent.log.job.metadata


def test_child_counts_what_it_inherited(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = profile(compiled("processes.c"), "fork-inherit")
    assert written(only(run, 0), "parent") == [(3, 30)]
    child = only(run, 1).record("POSIX", "parent")
    assert (child["OPENS"], child["WRITES"], child["BYTES_WRITTEN"]) == (0, 1, 3)
    assert child["MAX_BYTE_WRITTEN"] == 22


@pytest.mark.parametrize(("how", "own"), [("exec", 1), ("fork-exec", 2), ("vfork", 1)])
def test_exec_loses_nothing(profile: Profile, compiled: Callable[..., Path], how: str, own: int) -> None:
    run = profile(compiled("processes.c"), how)
    logs = [only(run, i) for i in range(len(run.logs))]
    assert [row for log in logs for row in written(log, "parent") if row[0]] == [(3, 30)]
    if how == "fork-exec":
        assert [row for log in logs for row in written(log, "child") if row[0]] == [(2, 20)]
    name = "child" if how == "fork-exec" else "parent"
    reads = [row["BYTES_READ"] for log in logs for row in log.records("POSIX", name)]
    assert sum(reads) == {"exec": 30, "fork-exec": 20, "vfork": 20}[how]
    assert not any("incomplete" in log.log.job.metadata for log in logs)


@pytest.mark.parametrize("how", ["vfork", "clone", "system-call"])
def test_children_that_are_no_fork_count_nothing(
    profile: Profile, compiled: Callable[..., Path], how: str
) -> None:
    """They may share the memory of their parent, whose files stay open when they close theirs."""
    run = profile(compiled("processes.c"), how)
    assert [pair for pair in written(run, "parent") if pair[0]] == [(3, 30)]
    assert (written(run, "child"), written(run, "after")) == ([], [(1, 10)])
    closed = [row for row in run.records("POSIX", "parent") if row["WRITES"]]
    assert [row["F_CLOSE_END_TIMESTAMP"] for row in closed] == [0]


@pytest.mark.parametrize(
    ("how", "code", "whole"),
    [
        ("", 0, True), ("_exit", 3, True), ("handler", 5, True), ("exec-fails", 0, True), ("close-all", 0, True),
        ("kill", 137, False), ("crash", 134, False),
    ],
)  # fmt: skip
def test_every_end_has_its_log(
    profile: Profile,
    compiled: Callable[..., Path],
    how: str,
    code: int,
    whole: bool,
    same_for_pydarshan: Callable[[Path], dict[str, Any]],
) -> None:
    run = profile(compiled("processes.c"), how, check=False)
    assert run.code == code
    assert written(run, "parent") == [(3, 30)]
    assert ("incomplete" not in run.log.job.metadata) is whole
    same_for_pydarshan(run.logs[0])


def test_limit_on_file_sizes_is_heeded(profile: Profile, compiled: Callable[..., Path]) -> None:
    """The mapping must not grow beyond `ulimit -f`: the kernel would send SIGXFSZ to the program."""
    run = profile("bash", "-c", f"ulimit -f 16; {compiled('processes.c')}")
    assert written(run, "parent") == [(3, 30)]
    assert "no room for a mapping" in run.stderr


def test_recover_from_a_folder(library: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """Without `profile`: a killed process leaves its mapping, and `--recover` makes the log of it."""
    maps = tmp_path / "maps"
    maps.mkdir()
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "WORKALIKE_CAPTURE_DIR": str(tmp_path),
        "WORKALIKE_CAPTURE_MAPS": str(maps),
    }
    subprocess.run([compiled("processes.c"), "kill"], env=environment, cwd=tmp_path, check=False)
    (left,) = maps.iterdir()
    assert left.stat().st_size <= 2 * 2**20
    done = subprocess.run(
        [*WORKALIKE, "profile", "--recover", "maps", "-o", "logs"],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert not list(maps.iterdir())
    logs = list((tmp_path / "logs").iterdir())
    assert len(logs) == 1 and str(logs[0].name) in done.stderr
    run = Run(0, "", "", logs, tmp_path)
    assert written(run, "parent") == [(3, 30)]
    again = subprocess.run(
        [*WORKALIKE, "profile", "--recover", "maps", "-o", "logs", "--json"],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert '"logs": []' in again.stdout


def test_termination_is_passed_on_and_the_log_made(profile: Profile, compiled: Callable[..., Path]) -> None:
    log = profile.folder / "app.darshan"
    process = subprocess.Popen(
        [*WORKALIKE, "profile", "-o", str(log), "--", compiled("processes.c"), "wait"],
        cwd=profile.folder, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (profile.folder / "waiting").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.terminate()
    assert process.wait(30) == 128 + 15
    run = Run(0, "", "", [log], profile.folder)
    assert written(run, "parent") == [(3, 30)]
    assert "incomplete" in run.log.job.metadata


def test_what_still_runs_is_left_alone(profile: Profile) -> None:
    run = profile(
        "sh", "-c", "(exec 3> later; sleep 3; echo x >&3) > /dev/null 2>&1 & echo y > now", check=False
    )
    assert run.code == 0
    assert "still" in run.stderr or "later" not in "".join(run.paths)
    left = [Path(word.rstrip(":")) for word in run.stderr.split() if "workalike-capture-" in word]
    time.sleep(4)
    for path in left:
        shutil.rmtree(path if path.is_dir() else path.parent, ignore_errors=True)


def test_damaged_mapping_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "workalike-0-1-1.map").write_bytes(b"x" * 100_000)
    done = subprocess.run(
        [*WORKALIKE, "profile", "--recover", str(tmp_path), "-o", str(tmp_path / "logs")],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert "workalike-0-1-1.map" in done.stderr and "Traceback" not in done.stderr


def test_a_damaged_entry_is_refused(tmp_path: Path) -> None:
    """A record that would reach beyond the mapping's end."""
    path = tmp_path / "workalike-0-1-1.map"
    head = bytearray(mapping._HEADER_BYTES)
    used = len(head) + mapping._ENTRY.size
    mapping._HEADER.pack_into(head, 0, b"WACAPMAP", 1, 1, 7, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, used, 0)
    at_record = mapping._ENTRY.size
    entry = mapping._ENTRY.pack(1, mapping._ENTRY.size, 62, 1056, at_record, 0, 0, 0, 1, 1, 0)
    path.write_bytes(bytes(head) + entry)
    with pytest.raises(WorkalikeError, match="an entry of module SIZES is damaged") as caught:
        mapping.read_mapping(path)
    assert caught.value.place == f"byte {len(head)}"


def test_a_log_that_was_there_leaves_no_side_file(tmp_path: Path) -> None:
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool/x").write_bytes(b"new")
    (tmp_path / "app.darshan").write_bytes(b"old")
    (tmp_path / "app.darshan.extra.json").write_text("old")
    place_logs([tmp_path / "spool/x"], tmp_path / "app.darshan")
    assert (tmp_path / "app.darshan").read_bytes() == b"new"
    assert not (tmp_path / "app.darshan.extra.json").exists()


def test_more_files_than_memory(
    profile: Profile, same_for_pydarshan: Callable[[Path], dict[str, Any]]
) -> None:
    script = "i=0; while [ $i -lt 3000 ]; do echo x > file.$i; i=$((i+1)); done"
    shell = shutil.which("bash")
    assert shell
    run = profile(shell, "-c", script)
    assert len(run.paths) >= 3000
    assert not run.log.modules["POSIX"].partial
    few = profile(shell, "-c", script, options=("--max-memory", "1"))
    assert few.log.modules["POSIX"].partial
    assert "--max-memory" in few.stderr
    assert len(few.stderr.splitlines()) == 2
    assert 100 < len(few.paths) < 3000
    answer = same_for_pydarshan(few.logs[0])
    assert answer["modules"]["POSIX"]["partial_flag"]
    assert not same_for_pydarshan(run.logs[0])["modules"]["POSIX"]["partial_flag"]


def test_log_that_cannot_be_written_changes_nothing(
    library: Path, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    environment = {
        **os.environ, "LD_PRELOAD": str(library), "WORKALIKE_CAPTURE_DIR": str(tmp_path / "no/such/folder"),
        "WORKALIKE_CAPTURE_MAPS": str(tmp_path),
    }  # fmt: skip
    done = subprocess.run(
        [compiled("processes.c"), "_exit"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) <= 2
    assert (tmp_path / "parent").read_bytes() == b"0123456789" * 3


@pytest.mark.parametrize(
    "command", [["gzip", "-k", "data"], ["sqlite3", "x.db", "create table t(a); insert into t values(1);"]]
)
def test_everyday_programs(profile: Profile, command: list[str]) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]}")
    (profile.folder / "data").write_bytes(b"hello" * 1000)
    run = profile(*command)
    if command[0] == "gzip":
        assert run.record("POSIX", "data")["BYTES_READ"] == 5000
        size = (profile.folder / "data.gz").stat().st_size
        assert run.record("POSIX", "data.gz")["BYTES_WRITTEN"] == size
    else:
        assert run.record("POSIX", "x.db")["MAX_BYTE_WRITTEN"] + 1 == (profile.folder / "x.db").stat().st_size


LOADED = """\
import subprocess, sys, workalike.cli
popen = subprocess.Popen
def tell(*arguments, **more):
    print("loaded:", *(name for name in ("numpy", "workalike.darshan", "workalike.workload") if name in sys.modules))
    sys.stdout.flush()
    return popen(*arguments, **more)
subprocess.Popen = tell
sys.argv = ["workalike", "profile", "-o", "x.darshan", "--", "sh", "-c", "echo data > out"]
workalike.cli.main()
"""


def test_a_command_does_not_wait_for_what_reads_logs(library: Path, tmp_path: Path) -> None:
    """NumPy and the models take longer to load than all that is done before the command starts."""
    done = subprocess.run([sys.executable, "-c", LOADED], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["loaded:"]
    assert (tmp_path / "x.darshan").is_file()


def test_usage_is_one_line(profile: Profile) -> None:
    for options, word in (
        ((), "no command"), (("--exclude", "("), "--exclude"), ((), "not a program"),
    ):  # fmt: skip
        command = ["no-such-program"] if word == "not a program" else ["true"] if options else []
        run = profile(*command, options=options, check=False)
        assert run.code == 2 and word in run.stderr and len(run.stderr.splitlines()) == 1


def test_the_log_that_is_named_is_of_the_process_that_moved_most(profile: Profile, tmp_path: Path) -> None:
    """As where python3 is a shell wrapper: helpers come first, print much, and touch no file."""
    wrapper = profile.folder / "wrapper"
    wrapper.write_text(
        "#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9; do echo $i | sed s/1/2/ >/dev/null; done\n"
        f'exec "{sys.executable}" "$@"\n'
    )
    wrapper.chmod(0o755)
    run = profile(wrapper, "-c", "open('data', 'wb').write(bytes(5000))")
    assert run.record("POSIX", "data")["BYTES_WRITTEN"] == 5000
    assert len([line for line in run.stderr.splitlines() if "log: " in line]) <= 8


def test_programs_of_one_process_number_are_all_in_logs(profile: Profile) -> None:
    """Each exec leaves its counters, and the last program is killed."""
    last = "import os; open('third', 'wb').write(bytes(3)); os.kill(os.getpid(), 9)"
    second = f"import os, sys; open('second', 'wb').write(bytes(2)); os.execv(sys.executable, [sys.executable, '-c', {last!r}])"
    first = f"import os, sys; open('first', 'wb').write(b'1'); os.execv(sys.executable, [sys.executable, '-c', {second!r}])"
    run = profile(sys.executable, "-c", first, check=False)
    assert run.code == 128 + 9
    found = [
        written(only(run, number), name)
        for number in range(len(run.logs))
        for name in ("first", "second", "third")
    ]
    assert sorted(entry for entries in found for entry in entries) == [(1, 1), (1, 2), (1, 3)]
    assert "no log" not in run.stderr


def test_an_older_log_is_never_taken_for_this_runs(profile: Profile) -> None:
    first = profile(sys.executable, "-c", "open('state', 'wb').write(b'1')")
    older = first.logs[0].read_bytes()
    profile.runs = 0  # the same name once more
    shutil.copy(first.logs[0], f"{first.logs[0]}.1")
    second = profile("true")
    assert [log.name for log in second.logs] == ["app.darshan.old", "app.darshan.1.old"]
    assert all(log.read_bytes() == older for log in second.logs)
    assert "no log" in second.stderr and "is now" in second.stderr


@pytest.mark.parametrize("what", ["program", "pipe"])
def test_what_is_no_log_is_not_replaced(profile: Profile, what: str) -> None:
    place = profile.logs / "1" / "app.darshan"
    place.parent.mkdir(parents=True)
    os.mkfifo(place) if what == "pipe" else place.write_text("#!/bin/sh\n")
    run = profile("true", check=False)
    assert run.code == 1 and "is not a log" in run.stderr
    assert place.is_fifo() if what == "pipe" else place.read_text() == "#!/bin/sh\n"
