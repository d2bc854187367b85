"""`workalike import` and `workalike export`: files, exit codes, notes on stderr, hostile input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from exchange_decks import DECKS
from hypothesis import given, settings
from hypothesis import strategies as st
from needed import needs_engine

from workalike.cli import app
from workalike.errors import WorkalikeError
from workalike.exchange.document import workload_of
from workalike.exchange.macsio_in import read_macsio
from workalike.exchange.macsio_options import OPTIONS, PLUGIN_OPTIONS
from workalike.exchange.minio import read_minio
from workalike.record.run_record import read_record

STREAMS = """\
workalike: 2
ranks: 4
families:
- role: checkpoint
  interface: posix
  sharing: per-rank
  schedule: {count: 2, first: 1 s, every: 10 s}
  content:
    streams: [{direction: write, sizes: [8/rank x 64 KiB]}]
"""


def workalike(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from workalike.cli import main; main()", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_import_and_export_on_the_command_line(tmp_path: Path) -> None:
    """The quoted line begins with two dashes; a deck may also be in a file."""
    line = DECKS["mphys_e"].split("macsio ", 1)[1]
    done = workalike("import", "macsio", line, "-n", 80, "-o", "e.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("workalike: note: each sleep is taken as a whole interval")
    assert "88 dumps" in done.stdout
    (tmp_path / "deck").write_text("# deck E\n" + DECKS["mphys_e"].replace(" --", " \\\n  --") + "\n")
    done = workalike("import", "macsio", "deck", "-o", "again.yaml", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["workload"] == "again.yaml"
    assert (tmp_path / "again.yaml").read_text() == (tmp_path / "e.yaml").read_text()
    assert workalike("check", "e.yaml", cwd=tmp_path).returncode == 0
    done = workalike("export", "macsio", "e.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("mpiexec -n 80 macsio --interface typhonio")


def test_import_minio(tmp_path: Path) -> None:
    (tmp_path / "in.yaml").write_text("io_method: hdf5\nmesh: quad\nprocessors: 4\nreal: 100\nvariables: 1\n")
    done = workalike("import", "minio", "in.yaml", "-o", "out.yaml", "-q", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")  # variables of no mesh are TyphonIO's
    assert "with hdf5 they are left out" in done.stderr
    assert workalike("check", "out.yaml", cwd=tmp_path).returncode == 0


def test_export_to_stdout_file_and_json(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(STREAMS)
    done = workalike("export", "ior", "job.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    line = "mpiexec -n 4 ior -a POSIX -w -k -t 65536 -b 524288 -s 1 -F -i 2 -m -d 10 -o checkpoint-1.000000"
    assert done.stdout.splitlines()[-1] == line
    assert done.stderr.startswith("workalike: note: IOR's own time")
    done = workalike("export", "fio", "job.yaml", "-o", "job.fio", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "job.fio").read_text().startswith("[global]\n")
    done = workalike("export", "h5bench", "job.yaml", "--json", cwd=tmp_path)
    assert done.returncode == 3
    exported = json.loads(done.stdout)
    assert json.loads(exported["text"])["benchmarks"][0]["benchmark"] == "write"
    assert {"text": "checkpoint 1: interface posix becomes hdf5", "essential": True} in exported["notes"]
    assert "workalike: lost: checkpoint 1: interface posix becomes hdf5" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (
            ("import", "macsio", "--interface hdf5 --meta_type x", "-n", 4, "-o", "x"),
            "parses --meta_type and ignores it",
        ),
        (("import", "macsio", "--interface hdf5", "-o", "x"), "no number of ranks"),
        (("import", "nemo", "x", "-o", "x"), "tool 'nemo' is unknown"),
        (("import", "minio", "gone.yaml", "-o", "x"), "gone.yaml"),
        (("export", "nemo", "job.yaml"), "tool 'nemo' is unknown"),
        (("export", "fio", "gone.yaml"), "gone.yaml"),
        (("export", "macsio", "job.yaml", "--dialect", "klingon"), "--dialect 'klingon' is unknown"),
    ],
)
def test_bad_usage_is_one_line(
    arguments: tuple[object, ...], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.yaml").write_text(STREAMS)
    with pytest.raises(WorkalikeError) as caught:
        app([str(argument) for argument in arguments], standalone_mode=False)
    assert caught.value.exit_code == 2
    assert what in caught.value.one_line() and "\n" not in caught.value.one_line()
    assert not Path("x").exists()


WORDS = st.one_of(
    st.sampled_from(
        [f"--{name}" for name in OPTIONS] + [f"--{n}" for p in PLUGIN_OPTIONS.values() for n in p]
    ),
    st.sampled_from(
        [
            "hdf5",
            "typhonio",
            "SIF",
            "MIF",
            "1",
            "0",
            "3",
            "64K",
            "1.5",
            "2,3",
            "1e300",
            "unstructured",
            "--plugin_args",
        ]
    ),
    st.text(max_size=6),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=12))
def test_any_words_are_read_or_refused(words: list[str]) -> None:
    try:
        workload_of(read_macsio("--interface hdf5 " + " ".join(words), 4))
    except WorkalikeError as error:
        assert "\n" not in error.one_line()


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_no_crash(text: str) -> None:
    for read in (lambda: read_macsio(text, 4), lambda: read_minio("x", text, None)):
        try:
            workload_of(read())
        except WorkalikeError as error:
            assert "\n" not in error.one_line()


@needs_engine
@pytest.mark.parametrize("mode", ["write", "read"])
@pytest.mark.parametrize("method", ["typhonio", "hdf5"])
def test_minio_from_its_input_to_its_profile(tmp_path: Path, mode: str, method: str) -> None:
    """Import, run with computing between steps, validate the data, and print a profile at the end."""
    (tmp_path / "input.yaml").write_text(
        f"io_method: {method}\nmesh: unstructured\nprocessors: 2\nreal: 1000\nmixed: 100\nquantities: 2\n"
        f"io_mode: {mode}\nsteps: 3\ncompute_level: 3\ncompute_length: 2\n"
    )
    done = workalike("import", "minio", "input.yaml", "-o", "job.yaml", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    done = workalike("run", "job.yaml", "--dir", "data", "--verify", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = read_record(tmp_path / "run.json")
    assert [dump.index for dump in record.dumps] == [0, 1, 2]
    assert record.compute is not None
    assert (record.compute.level, record.compute.units) == (3, 6)
    payload = sum(dump.payload_bytes for dump in record.dumps)
    assert record.verified is not None
    assert (record.verified.bytes, record.verified.errors) == (payload, 0)
    lines = done.stdout.splitlines()
    name = "restart 1" if mode == "read" else "checkpoint 1"
    counter = "READS" if mode == "read" else "WRITES"
    (row,) = [line for line in lines if line.startswith(name)]
    assert mode in row.split() and f"{sum(d.counter(counter) for d in record.dumps):,}" in row.split()
    assert any(line.startswith("computing between dumps: 6 units of level 3") for line in lines)
    assert [
        line
        for line in lines
        if line.startswith(f"verified: {payload:,} bytes read back after their dumps, all")
    ]
