"""Cases of the workload format: this program conforms, a small reader that shares no code agrees, others are found."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from workalike.conformance.cases import NotOperations, all_cases, first_difference, operations_of
from workalike.conformance.reader import command_reader, conform, own_reader

SMALL_READER = Path(__file__).parent / "small_reader.py"
BEYOND_IT = {"calls-beside", "data-set", "restart", "version-1"}
"""Cases that the small reader refuses, since it knows streams alone."""


def test_workalike_conforms() -> None:
    outcomes = list(conform(own_reader, all_cases()))
    assert [(outcome.case.name, outcome.problem) for outcome in outcomes if outcome.problem] == []
    assert sum(outcome.case.operations is not None for outcome in outcomes) >= 16
    assert sum(outcome.case.operations is None for outcome in outcomes) >= 16


def test_a_reader_that_shares_no_code_makes_the_same_operations() -> None:
    reader = command_reader([sys.executable, str(SMALL_READER)])
    valid = [case for case in all_cases() if case.operations is not None]
    problems = {outcome.case.name: outcome.problem for outcome in conform(reader, valid) if outcome.problem}
    assert problems.keys() == BEYOND_IT
    assert all(problem.startswith("refused") for problem in problems.values())


def conformance(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "workalike", "conformance", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def script(folder: Path, text: str) -> str:
    (folder / "reader.py").write_text(text)
    return shlex.join([sys.executable, str(folder / "reader.py")])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("raise SystemExit(2)", "shared-contiguous: refused"),
        ("print('0\\tf\\topen\\t-\\t-')", "no-families: accepted, and must be refused"),
        ("print('0\\tf\\topen\\t-\\t-')", "shared-contiguous: ranks 0,1,2 have operations, found 0"),
        ("print('what?')", "line 1 is not RANK, FILE, OPERATION, OFFSET, SIZE: 'what?'"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "it was ended by signal 9"),
        ("import sys; sys.stdout.buffer.write(b'\\xff' * 1000)", "line 1 is not RANK"),
        ("print('9' * 5000 + '\\tf\\topen\\t-\\t-')", "line 1 is not RANK"),
        ("print('x' * 17 * 2**20)", "it printed more than 16,777,216 bytes"),
        ("import sys; sys.exit('\\x1b[31mred')", "refused: \N{REPLACEMENT CHARACTER}[31mred"),
    ],
)
def test_readers_that_do_not_conform(tmp_path: Path, text: str, words: str) -> None:
    done = conformance("--reader", script(tmp_path, text))
    assert done.returncode == 1, done.stderr
    assert words in done.stdout


def test_a_reader_that_cannot_be_run() -> None:
    missing = conformance("--reader", "/nowhere/reader")
    assert missing.returncode == 2 and "--reader: /nowhere/reader: No such file" in missing.stderr
    empty = conformance("--reader", "")
    assert empty.returncode == 2 and "--reader is empty" in empty.stderr


def test_cases_are_written_for_others(tmp_path: Path) -> None:
    assert conformance("--write", str(tmp_path / "cases")).returncode == 0
    names = {path.stem for path in (tmp_path / "cases" / "valid").glob("*.yaml")}
    assert names == {path.stem for path in (tmp_path / "cases" / "valid").glob("*.operations")}
    assert names == {case.name for case in all_cases() if case.operations is not None}


def test_json() -> None:
    document = json.loads(conformance("--json").stdout)
    assert document["differ"] == 0 and {"name": "reused", "valid": True, "problem": None} in document["cases"]


LINES = ("0\ta\topen\t-\t-", "1\tb\twrite\t0\t5", "0\ta\tclose\t-\t-")


def test_names_and_the_order_of_ranks_mean_nothing() -> None:
    renamed = [
        line.replace("\ta\t", "\tx\t").replace("\tb\t", "\ty\t") for line in (LINES[1], LINES[0], LINES[2])
    ]
    assert first_difference(operations_of(LINES), operations_of(renamed)) is None


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (LINES[:2], "rank 0: 2 operations expected, found 1"),
        (LINES[1:2], "ranks 0,1 have operations, found 1"),
        (
            (LINES[0], LINES[1].replace("b", "a"), LINES[2]),
            "rank 1, operation 1: write file 1 at 0 of 5 bytes",
        ),
        ((LINES[0], LINES[1].replace("\t0\t", "\t1\t"), LINES[2]), "found write file 1 at 1 of 5 bytes"),
    ],
)
def test_differences_are_named(lines: Sequence[str], words: str) -> None:
    assert words in str(first_difference(operations_of(LINES), operations_of(lines)))


def test_other_columns_are_refused() -> None:
    for line in ("0\ta\topen", "x\ta\topen\t-\t-", "0\ta\tjump\t-\t-"):
        with pytest.raises(NotOperations):
            operations_of([line])
