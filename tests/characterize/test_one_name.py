"""Files that are written under another name and renamed over one name; files that stay open from writes to reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from needed import needs_engine

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.characterize.result import FamilyFacts
from workalike.darshan import open_log
from workalike.errors import WorkalikeError
from workalike.workload.model import Lifetime, Workload

PROGRAM = """
import os
for k in range(5):
    name = sys.argv[1] if sys.argv[1] != "several" else f"tmp-{k}"
    with open(name, "wb") as f:
        f.write(bytes(2_000_000))
    os.rename(name, sys.argv[2] if sys.argv[2] != "several" else f"model-{k}")
"""


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize(
    ("temporary", "target", "lifetime"),
    [
        ("c.tmp", "model.pt", Lifetime.REUSED),
        ("several", "model.pt", Lifetime.REUSED),
        ("c.tmp", "several", Lifetime.PER_DUMP),
        ("several", "several", Lifetime.PER_DUMP),
    ],
)
def test_renames(tmp_path: Path, temporary: str, target: str, lifetime: Lifetime, trace: bool) -> None:
    program = PROGRAM.replace("sys.argv[1]", repr(temporary)).replace("sys.argv[2]", repr(target))
    log = open_log(captured(tmp_path, program, *(["--dxt"] if trace else [])))
    found = characterize([log], CharacterizeOptions(use_trace=trace))
    (family,) = [facts.family for facts in with_data(found)]
    assert (family.lifetime, family.rename, family.keep, family.schedule.dumps) == (lifetime, True, 0, 5)
    assert all(not facts.misfit for facts in found.families)


def with_data(found: Characterization) -> list[FamilyFacts]:
    """Its families but for the folder, which Python 3.13 looks at when it starts."""
    return [facts for facts in found.families if facts.family.all_contents()[0].streams]


def captured(folder: Path, program: str, *options: str) -> Path:
    """The log of a Python program that ran in a folder of its own."""
    (folder / "data").mkdir()
    command = [sys.executable, "-m", "workalike", "profile", *options, "-o", "../x.darshan", "--"]
    subprocess.run(
        [*command, "/usr/bin/python3", "-c", program], cwd=folder / "data", check=True, capture_output=True
    )
    return folder / "x.darshan"


APPENDING = """
import os
for k in range(40):
    fd = os.open("run.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(fd, bytes(2000 + 100 * (k % 7)))
    os.close(fd)
"""


def test_a_log_that_is_opened_for_each_line(tmp_path: Path) -> None:
    """Lines of unequal length need a table as one dump; with an open for each they are 40 dumps of one rule."""
    (facts,) = with_data(characterize([open_log(captured(tmp_path, APPENDING, "--dxt"))]))
    assert (facts.family.schedule.dumps, facts.misfit) == (40, [])
    assert facts.family.all_contents()[0].table is None


REOPENING = """
import os
for k in range(3 * OPENS):
    fd = os.open(f"key-{k % 3}.csv", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(fd, bytes(3000 + 100 * (k % 7)))
    os.close(fd)
"""


@pytest.mark.parametrize("opens", [4, 12])
def test_files_that_are_opened_again_and_again(tmp_path: Path, opens: int) -> None:
    """Each of a few such files is a family, which can have a dump for each open; files opened a few times are one family."""
    log = captured(tmp_path, REOPENING.replace("OPENS", str(opens)), "--dxt")
    families = [facts.family for facts in with_data(characterize([open_log(log)]))]
    assert [family.schedule.dumps for family in families] == ([12] * 3 if opens == 12 else [3])


SOME_COMMITTED = """
import os
for k in range(12):
    with open(f"part-{k:04}.tmp", "wb") as f:
        f.write(bytes(100_000))
    if k % 3:
        os.rename(f"part-{k:04}.tmp", f"part-{k:04}")
"""


@pytest.mark.parametrize("trace", [True, False])
def test_files_that_keep_their_name_are_apart(tmp_path: Path, trace: bool) -> None:
    log = open_log(captured(tmp_path, SOME_COMMITTED, *(["--dxt"] if trace else [])))
    found = with_data(characterize([log], CharacterizeOptions(use_trace=trace)))
    families = [facts.family for facts in found]
    assert sorted((family.rename, family.schedule.dumps) for family in families) == [(False, 4), (True, 8)]
    assert all(not facts.misfit for facts in found)


KEPT_OPEN = """
import os, time
fd = os.open("state", os.O_RDWR | os.O_CREAT)
for k in range(20):
    os.pwrite(fd, bytes(65536), k * 65536)
time.sleep(0.1)
AGAIN
for k in range(20):
    os.pread(fd, 65536, k * 65536)
"""


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("trace", [True, False])
def test_a_file_that_stays_open_between_writes_and_reads(tmp_path: Path, trace: bool, again: bool) -> None:
    """Its one open is found, not one for the writes and one for the reads; a second open is found, too."""
    program = KEPT_OPEN.replace("AGAIN", 'os.close(fd); fd = os.open("state", os.O_RDONLY)' if again else "")
    log = open_log(captured(tmp_path, program, *(["--dxt"] if trace else [])))
    (facts,) = with_data(characterize([log], CharacterizeOptions(use_trace=trace)))
    assert facts.family.lifetime is (Lifetime.REUSED if again else Lifetime.OVERWRITTEN)
    assert (facts.family.schedule.dumps, facts.misfit) == (2, [])


@pytest.mark.parametrize("field", [{"truncate": True}, {}])
def test_what_a_workload_may_not_say(field: dict[str, bool]) -> None:
    directions = ("write",) if field else ("read", "write")
    document = {
        "workalike": 2, "ranks": 1, "runtime": "1 s",
        "families": [
            {
                "role": "scratch", "interface": "posix", "lifetime": "reused", "rename": True, **field,
                "sharing": "per-rank", "schedule": {"start": ["0 s"]},
                "content": {"streams": [{"direction": d, "sizes": ["1 x 1 KiB"]} for d in directions]},
            }
        ],
    }  # fmt: skip
    with pytest.raises((ValueError, WorkalikeError), match="renamed into place"):
        Workload.model_validate(yaml.safe_load(yaml.safe_dump(document)))


@needs_engine
def test_the_replica_has_one_name(tmp_path: Path) -> None:
    document = {
        "workalike": 2, "ranks": 1, "runtime": "1 s",
        "families": [
            {
                "role": "checkpoint", "interface": "posix", "lifetime": "reused", "rename": True,
                "schedule": {"start": ["0 s", "0.1 s"]},
                "content": {"streams": [{"direction": "write", "sizes": ["2 x 1 MiB"]}]},
            }
        ],
    }  # fmt: skip
    (tmp_path / "w.yaml").write_text(yaml.safe_dump(document))
    command = [
        sys.executable,
        "-m",
        "workalike",
        "run",
        "w.yaml",
        "--dir",
        "out",
        "--keep",
        "--verify",
        "--time-scale",
        "0",
    ]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    (file,) = (tmp_path / "out").rglob("*.dat*")
    assert (file.name[:17], file.suffix) == ("checkpoint-1.0000", ".dat")
