"""A measurement: what it finds, that no name gets into its file, and that nothing is left of it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from command_line import workalike

from workalike.compare.fidelity_schema import GradeWord
from workalike.errors import ErrorKind, ExitCode, WorkalikeError
from workalike.evidence import measure as measuring
from workalike.evidence import words
from workalike.evidence.bench import Bench, NotMeasured, Placement
from workalike.evidence.document import FORMAT, LOG_MADE, PERFORMED_BY, Evidence, read_evidence
from workalike.evidence.facts import file_system_word, version_in
from workalike.evidence.measure import Measurement, measure
from workalike.evidence.programs import FOLDER, bytes_of, plan_of, workload_of
from workalike.evidence.variance import measure_variance
from workalike.launch.engines import engine_if_built

needs_engine = pytest.mark.skipif(engine_if_built() is None, reason="the engine was not built")

USER, NODE, FOLDER_NAME = "qx-ann-7731", "zyxw-node-0042", "vol-of-mühlbach 17"
SCRIPT = """\
import sys
from pathlib import Path
from workalike.evidence.bench import Placement
from workalike.evidence.document import write_evidence
from workalike.evidence.measure import Measurement, measure
from workalike.evidence.words import Program

file = Path(sys.argv[2])
programs = (Program.ROOT_TEXT, Program.FILE_PER_RANK)
asked = Measurement(Path(sys.argv[1]), file, Placement(2), repeats=2, programs=programs)
write_evidence(measure(asked, say=print, warn=print, progress=lambda done, total: print(done, total)), file)
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, Path]:
    """(the file, what was printed, the folder of the data): measured by a user and on a node with unusual names."""
    folder = tmp_path_factory.mktemp("evidence") / FOLDER_NAME
    (folder / "data").mkdir(parents=True)
    file = folder / f"{USER}.json"
    command = [sys.executable, "-c", SCRIPT, str(folder / "data"), str(file)]
    renamed = ["unshare", "--uts", "sh", "-c", f'hostname {NODE} && exec "$@"', "sh"]
    if subprocess.run([*renamed, "true"], capture_output=True).returncode == 0:
        command = [*renamed, *command]
    environment = os.environ | {"USER": USER, "LOGNAME": USER, "WORKALIKE_TEST": USER}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return file, done.stdout, folder / "data"


def texts_in(value: Any) -> Iterator[str]:
    """All texts of a document, without the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_in(part)


@needs_engine
@pytest.mark.mpi
def test_no_name_is_in_the_file(measured: tuple[Path, str, Path]) -> None:
    text = measured[0].read_text(encoding="utf-8")
    unescaped = json.dumps(json.loads(text), ensure_ascii=False)
    for name in (USER, NODE, FOLDER_NAME, "mühlbach", str(Path.home()), "/"):
        assert name not in text and name not in unescaped


@needs_engine
@pytest.mark.mpi
def test_every_text_in_the_file_is_known(measured: tuple[Path, str, Path]) -> None:
    lists = (words.Reason, words.Program, words.Part, words.FileSystem, words.Mpi, words.MpiIo)
    known = {word.value for each in lists for word in each} | set(get_args(GradeWord))
    known |= {FORMAT, PERFORMED_BY, LOG_MADE, "program", "replica"}
    other = set(texts_in(json.loads(measured[0].read_text(encoding="utf-8")))) - known
    assert [text for text in other if not re.fullmatch(r"[0-9.]+|20\d\d-\d\d-\d\d", text)] == []


@needs_engine
@pytest.mark.mpi
def test_what_is_measured(measured: tuple[Path, str, Path]) -> None:
    found = read_evidence(measured[0])
    assert (found.system.ranks, found.system.nodes) == (2, 1)
    assert found.system.kernel == ".".join(os.uname().release.split(".")[:2])
    assert found.variance.bytes == 2 * 4 * 4 * 4 * 2**20
    assert found.variance.bandwidth is not None and len(found.variance.bandwidth.values) == 2
    assert [transfer.program.value for transfer in found.transfers] == ["root-text", "file-per-rank"]
    for transfer in found.transfers:
        assert [pair.first for pair in transfer.pairs] == ["program", "replica"]
        assert transfer.verdict is not None and transfer.verdict.model == "exact"
        assert transfer.verdict.storage is not None
    assert found.left_out == []


@needs_engine
@pytest.mark.mpi
def test_it_says_what_it_will_take_and_how_far_it_is(measured: tuple[Path, str, Path]) -> None:
    lines = measured[1].splitlines()
    assert any(
        re.match(r"\d+ runs of 2 ranks, at most 160 MiB at a time: about .*; limit 60 min", x) for x in lines
    )
    total = next(line.split()[1] for line in lines if re.fullmatch(r"\d+ \d+", line))
    assert lines[-1] == f"{total} {total}"


@needs_engine
@pytest.mark.mpi
def test_nothing_is_left(measured: tuple[Path, str, Path]) -> None:
    assert list(measured[2].iterdir()) == []
    assert {path.name for path in measured[0].parent.iterdir()} == {"data", measured[0].name}


@needs_engine
@pytest.mark.mpi
def test_what_does_not_fit_into_the_time_is_left_out(tmp_path: Path) -> None:
    """Six seconds are enough for the first run, not for all."""
    (tmp_path / "data").mkdir()
    begin = time.monotonic()
    done = workalike(
        *("evidence", "--dir", "data", "-o", "e.json", "--limit", "0.1", "--repeats", "50", "--ranks", "2"),
        cwd=tmp_path,
    )
    assert done.returncode == ExitCode.PARTLY, done.stderr
    assert time.monotonic() - begin < 60
    found = read_evidence(tmp_path / "e.json")
    missing = {(each.part, each.program): each for each in found.left_out}
    assert len(missing) >= 6
    for each in missing.values():
        assert each.reason in (words.Reason.NO_TIME, words.Reason.TOO_LONG)
        assert f"left out: {measuring.words_of(each)}" in done.stdout
        assert f"workalike: left out: {measuring.words_of(each)}" in done.stderr
    assert list((tmp_path / "data").iterdir()) == []


@needs_engine
@pytest.mark.mpi
def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "workalike", "evidence", "--dir", "data", "-o", "e.json", "--ranks", "2"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    for _ in range(1200):
        if any((tmp_path / "data").glob("*/checkpoint-*")):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    assert list((tmp_path / "data").iterdir()) == []


@needs_engine
def test_folders_that_cannot_be_measured_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder, code, said in (
        ("gone", 2, "gone: does not exist"),
        ("file", 2, "file: is a file"),
        ("/proc", 1, "cannot write: /proc: "),
    ):
        done = workalike("evidence", "--dir", folder, "-o", "e.json", cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
        assert said in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@needs_engine
def test_outputs_that_cannot_be_written_are_refused_before_anything_runs(tmp_path: Path) -> None:
    for output in ("gone/e.json", ".", Path(__file__).parents[1] / "data" / "checkpoints-4.darshan"):
        done = workalike("evidence", "--dir", ".", "-o", output, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert "cannot write" in done.stderr and "runs of" not in done.stdout


def test_without_an_engine_it_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "find_engine", lambda: (_ for _ in ()).throw(no_engine()))
    with pytest.raises(WorkalikeError, match="needs the engine"):
        run_measure(tmp_path)


def no_engine() -> WorkalikeError:
    return WorkalikeError(ErrorKind.NOT_INSTALLED, "performing a plan needs the engine")


def run_measure(folder: Path) -> Evidence:
    asked = Measurement(folder, folder / "e.json", Placement(2))
    return measure(asked, say=print, warn=print, progress=lambda *_: None)


@needs_engine
def test_a_file_system_without_room_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "free_bytes", lambda _: 2**20)
    with pytest.raises(WorkalikeError, match=r"has 1 MiB free, and runs need .*lower --ranks") as caught:
        run_measure(tmp_path)
    assert caught.value.kind is ErrorKind.CANNOT_WRITE


@pytest.mark.parametrize(
    "arguments", [(), ("--dir", "."), ("-o", "e.json"), ("e.json", "--dir", "."), ("e.json", "-o", "f.json")]
)
def test_what_is_to_be_done_must_be_clear(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = workalike("evidence", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


class Ending(Bench):
    """A bench whose runs fail from the second on."""

    def run(self, plan: Any, out: str, **_: Any) -> Any:
        from types import SimpleNamespace

        self.skip(1)
        if self.done > 1:
            raise WorkalikeError(ErrorKind.RUN_FAILED, "the engine ended with code 1")
        return SimpleNamespace(bandwidth=1e6, took_s=1.0)


def test_repeats_before_a_failure_count(tmp_path: Path) -> None:
    said: list[str] = []
    bench = Ending(tmp_path, tmp_path, Placement(2), float("inf"), report=said.append)
    variance, left_out = measure_variance(bench, 5)
    assert variance.bandwidth is not None and variance.bandwidth.values == [1e6]
    assert (left_out[0].missing, left_out[0].reason) == (4, words.Reason.FAILED)
    assert said == ["repeat 2: run failed: the engine ended with code 1"]


def test_a_run_without_room_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workalike.evidence.bench.free_bytes", lambda _: 1000)
    bench = Bench(tmp_path, tmp_path, Placement(2), float("inf"))
    with pytest.raises(NotMeasured) as caught:
        bench.run(plan_of(words.Program.ROOT_TEXT, 2), "out")
    assert caught.value.reason is words.Reason.NO_ROOM


@pytest.mark.parametrize(
    ("text", "most", "version"),
    [
        ("Open MPI v4.1.4", 4, "4.1.4"),
        ("CRAY MPICH version 8.1.9.31 (ANL base 3.4a2)", 4, "8.1.9.31"),
        ("5.14.0-427.13.1.el9_4.mysite.x86_64", 2, "5.14"),
        ("Open MPI of Ann", 4, None),
        (17, 4, None),
        (None, 4, None),
    ],
)
def test_of_a_text_only_the_version_is_kept(text: Any, most: int, version: str | None) -> None:
    assert version_in(text, most) == version


def test_a_file_system_of_a_site_of_its_own_has_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, word in (("fuse.ann-fs", "other"), ("lustre", "lustre"), ("unknown", "unknown")):
        monkeypatch.setattr("workalike.evidence.facts.file_system_of", lambda _, name=name: {"type": name})
        assert file_system_word(Path("/")) == word


@pytest.mark.parametrize("program", words.Program)
def test_programs_are_in_the_package_and_small(program: words.Program) -> None:
    assert (FOLDER / f"{program.value}.yaml").is_file()
    assert workload_of(program).ranks == 4
    assert 0 < bytes_of(plan_of(program, 4)) <= 2**29


def test_bytes_grow_with_the_ranks() -> None:
    program = words.Program.SHARED_COLLECTIVE
    assert bytes_of(plan_of(program, 16)) == 4 * bytes_of(plan_of(program, 4))
