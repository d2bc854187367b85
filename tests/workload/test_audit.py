"""The audit finds every kind of planted name, and nothing in the output of characterization."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from known_logs import JOBS, characterized_or_skip, job_name
from work_done import SearchedText

from workalike.darshan import Log, LogBuilder, open_log, record_id
from workalike.workload.audit import audit
from workalike.workload.secrets import Kind
from workalike.workload.vocabulary import schema_words
from workalike.workload.workload_file import workload_text

START = 1_699_999_123.25
SECRET_FILE = "/lustre/project9/galaxy/run_4242421/merger-tree.h5"
CLEAN = """\
workalike: 2
ranks: 4
runtime: 60 s
families:
- role: checkpoint
  interface: hdf5
  sharing: shared
  schedule: {start: [1.5 s]}
  content:
    streams:
    - {direction: write, sizes: [16384 x 128 MiB, 12345 x 1000 B], ranks: 0-3}
"""


@pytest.fixture
def log(tmp_path: Path) -> Log:
    builder = LogBuilder(
        nprocs=4,
        run_time=60.0,
        start_time=START,
        uid=71234,
        job_id=8675309,
        exe="/home/j/janedoe/bin/novasim --deck shockwave.inp --mode checkpoint -n 128 --seed 998877",
        metadata={"lib_ver": "3.5.0", "fork_parent": "31415926", "project": "umbra"},
        mounts=[("lustre", "/lustre/fs7"), ("nfs4", "/home/corporate"), ("ext4", "/")],
    )
    builder.posix(SECRET_FILE, rank=-1, OPENS=4, WRITES=4, BYTES_WRITTEN=4096)
    builder.posix("/users/bob/notes.txt", rank=0, OPENS=1, WRITES=1, BYTES_WRITTEN=10)
    builder.posix("/data/checkpoint/x1/2048/10000/restart.0001", rank=0, OPENS=1)
    builder.dxt_posix(SECRET_FILE, 0, [(0, 1024, 1.0, 2.0)], hostname="cray0042.corp.example")
    return open_log(builder.write(tmp_path / "secret_user_id1.darshan"))


PLANTED = {
    "novasim": Kind.EXECUTABLE,
    "cray0042.corp.example": Kind.HOST,
    "cray0042": Kind.HOST,
    "cray": Kind.HOST,
    "corp": Kind.HOST,
    "janedoe": Kind.USER,
    "bob": Kind.USER,
    "shockwave.inp": Kind.COMMAND_WORD,
    "shockwave": Kind.PART,
    "galaxy": Kind.PATH_COMPONENT,
    "project9": Kind.PATH_COMPONENT,
    "run_4242421": Kind.PATH_COMPONENT,
    "merger-tree.h5": Kind.PATH_COMPONENT,
    "merger": Kind.PART,
    "corporate": Kind.MOUNT_PATH,
    "umbra": Kind.METADATA,
    "31415926": Kind.METADATA,
    "8675309": Kind.ID,
    "71234": Kind.ID,
    "4242421": Kind.PART,
    "998877": Kind.COMMAND_WORD,
    str(int(START)): Kind.TIME,
    f"{datetime.fromtimestamp(START, UTC):%Y-%m-%d}": Kind.TIME,
    str(record_id(SECRET_FILE)): Kind.RECORD_ID,
    f"{record_id(SECRET_FILE):016x}": Kind.RECORD_ID,
}


@pytest.mark.parametrize("planted", PLANTED)
@pytest.mark.parametrize("where", ["a comment", "inside a path", "in capitals", "as a value"])
def test_every_kind_is_found(log: Log, planted: str, where: str) -> None:
    line = {
        "a comment": f"# made from {planted}.",
        "inside a path": f"note: /scratch/{planted}/out",
        "in capitals": f"note: {planted.upper()}",
        "as a value": f"sizes: [{planted}]",
    }[where]
    text = CLEAN + line + "\n"
    report = audit(text, [log])
    assert not report.clean
    assert {hit.line for hit in report.hits} == {12}
    assert planted.lower() in {hit.token for hit in report.hits}
    assert any(f"line 12: {hit.kind.value}" in line for hit in report.hits for line in report.lines())
    kinds = {hit.token: hit.kind for hit in report.hits}
    # A name of several kinds counts as the first.
    assert list(Kind).index(kinds[planted.lower()]) <= list(Kind).index(PLANTED[planted])


@pytest.mark.parametrize("glued", ["xgalaxyx", "my_galaxy_2", "galaxymerger"])
def test_names_are_found_inside_words(log: Log, glued: str) -> None:
    assert not audit(CLEAN + f"# {glued}\n", [log]).clean


def test_a_clean_text_is_clean(log: Log) -> None:
    report = audit(CLEAN, [log])
    assert report.clean and report.hits == []
    assert report.lines_read == 11
    assert report.searched[Kind.RECORD_ID] >= 4
    assert report.lines()[-1] == "audit: no name of the log is in the workload"


def test_what_cannot_be_searched_is_listed(log: Log) -> None:
    report = audit(CLEAN, [log])
    assert (Kind.COMMAND_WORD, "128") in report.too_short
    assert (Kind.PATH_COMPONENT, "x1") in report.too_short
    assert (Kind.PATH_COMPONENT, "2048") in report.too_short
    assert (Kind.COMMAND_WORD, "checkpoint") in report.schema_words
    listed = "\n".join(report.lines())
    assert "too short to search" in listed and "checkpoint (command word)" in listed
    assert report.as_dict()["too_short"][0]["kind"]


@pytest.mark.parametrize(
    "kept", ["datasets: 4", "checkpoint", "restart", "16384", "2048", "bobbin", "x10000x1", "0.10000 s"]
)
def test_no_false_alarm(log: Log, kept: str) -> None:
    """Words of the schema, numbers under five digits, and short names inside other words."""
    if kept == "x10000x1":
        kept = "910000 B"  # holds the component 10000, but not as a whole number
    assert audit(CLEAN + f"# {kept}\n", [log]).clean


def test_a_number_that_is_equal_is_reported(log: Log) -> None:
    """A match is reported even if it may be by chance: a person must decide."""
    report = audit(CLEAN + "# 10000 x 4 KiB\n", [log])
    assert [(hit.line, hit.kind, hit.token) for hit in report.hits] == [(12, Kind.PATH_COMPONENT, "10000")]


@pytest.mark.parametrize("word", ["1000000", "12000000", "65536", "--segments=1000000", "n:65536"])
def test_a_round_number_of_the_command_line_is_a_quantity(tmp_path: Path, word: str) -> None:
    """`ior -s 1000000` makes a workload of 1000000 operations: that names nobody, and is listed."""
    builder = LogBuilder(exe=f"./app {word}").posix("/data/f", rank=0, OPENS=1)
    log = open_log(builder.write(tmp_path / "x.darshan"))
    report = audit(CLEAN + "# 12000000 x 65536 B, 1000000 x 8 B\n", [log])
    assert report.clean
    digits = "".join(c for c in word if c.isdigit())
    assert digits in [name for _, name in report.quantities]
    assert any("quantities" in line and digits in line for line in report.lines())
    assert digits in [entry["name"] for entry in report.as_dict()["quantities"]]


@pytest.mark.parametrize(
    ("word", "path"), [("1234567", "/data/f"), ("65537", "/data/f"), ("65536", "/d/run_65536/f")]
)
def test_other_numbers_of_the_command_line_are_searched(tmp_path: Path, word: str, path: str) -> None:
    """A number that is not round may be an account or a ticket; one that a path holds is a name."""
    builder = LogBuilder(exe=f"./app {word}").posix(path, rank=0, OPENS=1)
    log = open_log(builder.write(tmp_path / "x.darshan"))
    report = audit(CLEAN + f"# {word} x 8 B\n", [log])
    assert [hit.token for hit in report.hits] == [word]
    assert report.quantities == []


def test_short_names_of_persons_and_hosts_are_whole_words(tmp_path: Path) -> None:
    builder = LogBuilder(exe="/opt/lmp -in x").posix("/home/al/f", rank=0, OPENS=1)
    report = audit("# al ran lmp\n", [open_log(builder.write(tmp_path / "x.darshan"))])
    assert {(hit.kind, hit.token) for hit in report.hits} == {(Kind.USER, "al"), (Kind.EXECUTABLE, "lmp")}


def test_a_script_is_an_executable(tmp_path: Path) -> None:
    builder = LogBuilder(exe="python3 -u /home/x/umbra.py 1").posix("/home/x/f", rank=0, OPENS=1)
    log = open_log(builder.write(tmp_path / "x.darshan"))
    assert (Kind.EXECUTABLE, "umbra") in {(h.kind, h.token) for h in audit("# umbra\n", [log]).hits}


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    builder = LogBuilder(exe="./app").posix("/data/evil\x1b[31mname", rank=0, OPENS=1)
    report = audit("# evil\x1b[31mname\n", [open_log(builder.write(tmp_path / "x.darshan"))])
    assert not report.clean
    assert all(line.isprintable() for line in report.lines())


def test_names_of_all_logs_are_searched(log: Log, tmp_path: Path) -> None:
    other = open_log(
        LogBuilder(exe="./quasar").posix("/data/f", rank=0, OPENS=1).write(tmp_path / "y.darshan")
    )
    assert not audit("# quasar\n", [log, other]).clean


@pytest.mark.parametrize("logs", JOBS, ids=job_name)
def test_what_characterization_writes_is_clean(logs: tuple[Path, ...]) -> None:
    found = characterized_or_skip(logs)
    report = audit(workload_text(found.workload), found.logs)
    assert report.clean, report.lines()
    assert sum(report.searched.values()) > 0


@pytest.mark.parametrize("logs", JOBS[::5], ids=job_name)
def test_every_name_of_a_real_log_is_found(logs: tuple[Path, ...]) -> None:
    """Each searchable file name, planted whole, is a hit."""
    found = characterized_or_skip(logs)
    text = workload_text(found.workload)
    names = [name for log in found.logs for name in log.names.values() if "/" in name]
    for name in names[:: max(1, len(names) // 5)]:
        parts = [part for part in name.split("/") if len(part) >= 4 and not part.isdigit()]
        if any(part.lower() not in schema_words() for part in parts):
            assert not audit(text + f"# {name}\n", found.logs).clean, name


def test_many_names_are_not_searched_one_by_one(tmp_path: Path) -> None:
    """Of 10,000 names, those with a run of letters that the text has not need no search of a megabyte."""
    builder = LogBuilder(exe="./app")
    for i in range(10_000):
        builder.posix(f"/data/campaign{i // 100}/particles-{i:07d}.bin", rank=0, OPENS=1)
    log = open_log(builder.write(tmp_path / "many.darshan"))
    name = "particles-0001234.bin"
    text = SearchedText(
        CLEAN + "".join(f"# sizes {i} x {i * 7919} B\n" for i in range(40_000)) + f"# {name}\n"
    )
    before = SearchedText.searches
    assert name in {hit.token for hit in audit(text, [log]).hits}
    assert 0 < SearchedText.searches - before < 100


def test_the_head_of_long_lists_is_no_leak(tmp_path: Path) -> None:
    """`lists:` and `{listed: 37}` are words of the format, also where a file of the log is called `list`."""
    log = open_log(LogBuilder().posix("/proj/list/listed", 0, OPENS=1).write(tmp_path / "x.darshan"))
    report = audit(
        f"workalike: 2\nlists: {{number: 1}}\n{CLEAN.partition(chr(10))[2]}start: {{listed: 37}}\n", [log]
    )
    assert not [hit for hit in report.hits if hit.token in ("list", "listed")]
    assert [hit.token for hit in audit(CLEAN + "# the list of runs\n", [log]).hits] == ["list"]


def test_the_vocabulary_is_the_schemas() -> None:
    words = schema_words()
    assert {"checkpoint", "per-rank", "cb_nodes", "mib", "interleaved", "x", "workalike", "baton"} <= words
    assert not {"string", "integer", "families[0]", "lustre", "home"} & words


def test_what_an_audit_cannot_see_is_said(log: Log) -> None:
    """Bytes of a name as sizes: the file is clean as far as a search of its text goes, and the audit says how far that is."""
    name = ", ".join(f"1 x {ord(letter)} B" for letter in "novasim")
    encoded = CLEAN.replace("16384 x 128 MiB", name)
    report = audit(encoded, [log])
    assert report.clean
    assert any("encoded by hand" in line for line in report.lines())
    assert "encoded by hand" in report.as_dict()["limit"]
