"""Streams through functions without locks, also where the compiler puts them into the program."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Profile, Run

EXACT: dict[str, dict[str, int]] = {
    "elements": {
        "OPENS": 2, "READS": 4, "WRITES": 1002, "BYTES_READ": 100005, "BYTES_WRITTEN": 100005,
        "MAX_BYTE_READ": 100004, "MAX_BYTE_WRITTEN": 100004,
    },
    # 10001 characters, a line and one more; the one that was put back is not in the file
    "characters": {
        "OPENS": 2, "WRITES": 20008, "BYTES_WRITTEN": 20008, "SEEKS": 2, "FLUSHES": 1,
        "READS": 10001 + 2, "BYTES_READ": 10001 + 101, "MAX_BYTE_WRITTEN": 30000,
    },
    "left": {"OPENS": 1, "WRITES": 10, "BYTES_WRITTEN": 10},
}  # fmt: skip
BUILDS = {
    "called": (),
    "inlined": ("-O2", "-fbuiltin"),
    "fortified": ("-O2", "-D_FORTIFY_SOURCE=2", "-fbuiltin"),
}


@pytest.fixture(scope="module", params=BUILDS)
def run(
    request: pytest.FixtureRequest,
    library: Path,
    compiled: Callable[..., Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Run:
    flags = ("-U_FORTIFY_SOURCE", *BUILDS[request.param])
    return Profile(tmp_path_factory.mktemp("unlocked"))(compiled("unlocked.c", *flags))


@pytest.mark.parametrize("name", EXACT)
def test_counters_are_exact(run: Run, name: str) -> None:
    record = run.record("STDIO", name)
    assert {key: record[key] for key in EXACT[name]} == EXACT[name]


def test_sort_is_counted(library: Path, profile: Profile) -> None:
    """A program of the system that uses no other function: `sort` had 0 bytes."""
    text = "".join(f"{number * 7919 % 10007}\n" for number in range(10007))
    (profile.folder / "numbers").write_text(text)
    run = profile("sort", "-n", "-o", "sorted", "numbers", environment={"LC_ALL": "C"})
    assert len((profile.folder / "sorted").read_text()) == len(text)
    assert run.record("STDIO", "numbers")["BYTES_READ"] == len(text)
    written = [*run.records("STDIO", "sorted"), *run.records("POSIX", "sorted")]
    standard = run.records("STDIO", "<STDOUT>")
    assert len(text) in {row["BYTES_WRITTEN"] for row in (*written, *standard)}


LIMITED = """
import os, resource
hard = {hard}
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
for number in range(5):
    with open("small%d" % number, "wb") as file:
        file.write(b"abc")
print("ok")
"""


@pytest.mark.parametrize("hard", [1024, -1])
def test_our_own_writes_do_not_meet_the_limit_on_file_sizes(profile: Profile, hard: int) -> None:
    """The program goes on, and what happened to the log is said."""
    run = profile("python3", "-c", LIMITED.format(hard=hard), check=False)
    assert (run.code, run.stdout) == (0, "ok\n")
    assert run.logs or "cannot be written: File too large" in run.stderr


def test_a_write_of_the_program_beyond_the_limit_ends_it(profile: Profile) -> None:
    """Our writes leave the signal to the program as it was."""
    program = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\nimport signal\n"
    program += "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nopen('x', 'wb').write(bytes(200))"
    run = profile("python3", "-c", program, check=False)
    plain = subprocess.run(["python3", "-c", program], cwd=profile.folder, check=False)
    assert plain.returncode < 0 and run.code == 128 - plain.returncode


def test_a_musl_program_is_refused_before_it_starts(library: Path, profile: Profile, tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no cc")
    (tmp_path / "m.c").write_text("int main(void) { return 0; }\n")
    loader = "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"  # as musl-gcc does; the loader need not be there
    subprocess.run(["cc", tmp_path / "m.c", loader, "-o", tmp_path / "m"], check=True)
    run = profile(tmp_path / "m", check=False)
    assert run.code == 2 and "is linked with musl" in run.stderr and not run.logs
