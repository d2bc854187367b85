"""A site's Darshan instead of workalike's library: a mock proves which of the two was loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Profile


@pytest.fixture
def stub(compiled: Callable[..., Path]) -> Path:
    return compiled("darshan_stub.c", "-shared", "-fPIC")


@pytest.fixture
def some_log(profile: Profile) -> Path:
    return profile("bash", "-c", "echo x > of-the-stub").logs[0]


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ((), "modules - memory - reduction -"),
        (
            ("--dxt", "--keep-records", "--max-memory", "8"),
            "modules DXT_POSIX,DXT_MPIIO memory 8 reduction 1",
        ),
    ],
)
def test_it_is_preloaded_and_its_log_is_placed(
    profile: Profile, stub: Path, some_log: Path, options: tuple[str, ...], settings: str, library: Path
) -> None:
    run = profile(
        "bash", "-c", "echo x > x",
        options=("--with-darshan", str(stub), *options),
        environment={"STUB_LOG": str(some_log), "LD_PRELOAD": str(library)},
    )  # fmt: skip
    assert f"stub: loaded {settings}" in run.stderr
    (log,) = run.logs  # ours did not count beside it, although it was preloaded already
    assert log.name == "app.darshan" and log.read_bytes() == some_log.read_bytes()


def test_without_a_log_a_word(profile: Profile, stub: Path) -> None:
    run = profile("bash", "-c", "exit 3", options=("--with-darshan", str(stub)), check=False)
    assert run.code == 3 and not run.logs
    assert "wrote no log here" in run.stderr


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--with-darshan", "missing.so"), "is not a file"),
        (("--events",), "work only without --with-darshan"),
    ],
)
def test_usage(profile: Profile, stub: Path, options: tuple[str, ...], word: str) -> None:
    if options[0] == "--events":
        options = ("--with-darshan", str(stub), *options)
    run = profile("true", options=options, check=False)
    assert run.code not in (0, 3)
    assert word in run.stderr and len(run.stderr.splitlines()) == 1
