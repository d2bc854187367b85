"""Logs of which one module cannot be read: every command names it once, goes on without it, and ends with 3."""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import darshan_everything
import pytest
from darshan_mutate import join, split

from workalike.cli import app
from workalike.darshan import layouts
from workalike.errors import ErrorKind, WorkalikeError

OPTIONAL = (
    *("H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR"),
    *("LUSTRE", "DXT_POSIX", "DXT_MPIIO", "HEATMAP"),
)
NEEDED = ("POSIX", "MPI-IO", "STDIO")


def _broken_stream(packed: bytes) -> bytes:
    return packed[: len(packed) // 2] + bytes(len(packed) - len(packed) // 2)


def _no_stream(packed: bytes) -> bytes:
    return random.Random(1).randbytes(len(packed))


def _other_bytes(packed: bytes) -> bytes:
    """A good checksum over bytes that are no records."""
    return zlib.compress(random.Random(2).randbytes(len(zlib.decompress(packed))))


def _huge_numbers(packed: bytes) -> bytes:
    data = zlib.decompress(packed)
    return zlib.compress(data[:8] + struct.pack("<q", (1 << 62) + 5) * (len(data) // 8 - 1))


DAMAGES = (_broken_stream, _no_stream, _other_bytes, _huge_numbers)
Damage = Callable[[bytes], bytes]


def damaged(path: Path, module: str, damage: Damage) -> Path:
    header, regions = split(darshan_everything.builder().image())
    place = 2 + layouts.MODULE_IDS[module]
    regions[place] = damage(regions[place])
    path.write_bytes(join(header, regions))
    return path


def run(*arguments: object) -> int:
    """The exit code of a command, in this process; WorkalikeError as the library raises it."""
    code = app([*map(str, arguments)], standalone_mode=False)
    return code if isinstance(code, int) else 0


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("module", OPTIONAL)
def test_every_command_leaves_it_out(
    tmp_path: Path, module: str, damage: Damage, capfd: pytest.CaptureFixture[str]
) -> None:
    log = damaged(tmp_path / "app.darshan", module, damage)
    whole = tmp_path / "whole.darshan"
    whole.write_bytes(darshan_everything.builder().image())
    replica = ("--backend", "null", "--ranks", 4, "--time-scale", 0)
    commands: dict[str, tuple[object, ...]] = {
        "characterize": (log, "-o", tmp_path / "app.yaml"),
        "diagnose": (log,),
        "compare": (whole, log),
        "replicate": (log, "-o", tmp_path / "replica", *replica),
        "anonymize": (log, "-o", tmp_path / "published", "--audit"),
    }
    if damage is not _other_bytes:
        del commands["replicate"]  # takes as long as all the others
    for name, arguments in commands.items():
        assert run(name, *arguments) == 3, name
        said = capfd.readouterr()
        words = " ".join((said.out + said.err).split())
        expected = (
            "left out, since" if name == "anonymize" else f"module {module} cannot be read and is left out"
        )
        assert words.count(expected) == 1, (name, words)
        assert module in words


@pytest.mark.parametrize("module", OPTIONAL)
def test_json_and_checks(tmp_path: Path, module: str, capfd: pytest.CaptureFixture[str]) -> None:
    log = damaged(tmp_path / "app.darshan", module, _other_bytes)
    assert run("diagnose", log, "--json") == 3
    assert json.loads(capfd.readouterr().out)["unreadable_modules"] == [module]
    assert run("compare", log, log, "--json") == 3
    assert json.loads(capfd.readouterr().out)["unreadable_modules"] == [module]
    assert run("characterize", log, "-o", tmp_path / "app.yaml", "--json") == 3
    assert json.loads(capfd.readouterr().out)["complete"] is False
    assert run("check", tmp_path / "app.yaml", "--audit", log) == 0
    assert run("thresholds", log, "--name", "level_explains") == 0


def test_a_fleet_has_the_rows_of_such_logs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "logs").mkdir()
    for module in OPTIONAL:
        damaged(tmp_path / "logs" / f"{module}.darshan", module, _other_bytes)
    assert run("fleet", "ingest", tmp_path / "logs", "--db", tmp_path / "db", "--jobs", 1, "--json") == 0
    assert json.loads(capfd.readouterr().out)["ingested"] == len(OPTIONAL)

    from workalike.fleet.store import open_store

    connection = open_store(tmp_path / "db").connect()
    partial = connection.execute("SELECT partial FROM log ORDER BY partial").fetchall()
    assert [module for (module,) in partial] == sorted(OPTIONAL)
    summaries = connection.execute("SELECT summary FROM finding WHERE rule = 'cannot-diagnose'").fetchall()
    assert summaries == []


@pytest.mark.parametrize("damage", [_broken_stream, _no_stream])
@pytest.mark.parametrize("module", NEEDED)
def test_what_is_needed_is_an_error_everywhere(tmp_path: Path, module: str, damage: Damage) -> None:
    log = damaged(tmp_path / "app.darshan", module, damage)
    for arguments in (
        ("characterize", log, "-o", tmp_path / "app.yaml"),
        ("diagnose", log),
        ("compare", log, log),
        ("replicate", log, "-o", tmp_path / "replica"),
        ("anonymize", log, "-o", tmp_path / "published"),
    ):
        with pytest.raises(WorkalikeError) as caught:
            run(*arguments)
        assert caught.value.kind is ErrorKind.DAMAGED_LOG and module in str(caught.value), arguments


def test_records_of_a_modified_darshan_are_refused_everywhere(tmp_path: Path) -> None:
    def longer(packed: bytes) -> bytes:
        data, size = zlib.decompress(packed), 8 * layouts.FIXED["POSIX"].current.words
        records = [data[at : at + size] + bytes(16) for at in range(0, len(data), size)]
        return zlib.compress(b"".join(records))

    log = damaged(tmp_path / "app.darshan", "POSIX", longer)
    for arguments in (
        ("characterize", log, "-o", tmp_path / "app.yaml"),
        ("diagnose", log),
        ("compare", log, log),
        ("replicate", log, "-o", tmp_path / "replica"),
        ("anonymize", log, "-o", tmp_path / "published"),
    ):
        with pytest.raises(WorkalikeError) as caught:
            run(*arguments)
        assert caught.value.kind is ErrorKind.UNSUPPORTED_LOG and "720 bytes" in str(caught.value), arguments
