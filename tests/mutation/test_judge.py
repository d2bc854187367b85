"""The runs that judge: what is executed is known; failures, hangs and other ends are distinguished."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from judge import LEAST_SECONDS, TIME_LIMIT, Learned

SUBJECT = """
LIMIT = 5
def double(x):
    return 2 * x
def down(x):
    while x > 0:
        x -= 1
    return x
def idle():
    return 7
"""
TESTS = """
import os, subprocess, sys, time
import subject
def test_double():
    assert subject.double(subject.LIMIT) == 10
def test_down():
    time.sleep(0.2)
    assert subject.down(3) == 0
def test_in_another_process():
    code = "import sys, subject; sys.exit(subject.double(1) != 2)"
    path = os.environ.get("PYTHONPATH", "") + os.pathsep + os.path.dirname(__file__)
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, check=True)
"""
DRIVER = """
import json, pathlib, sys
from judge import Suite
root = pathlib.Path(sys.argv[1])
suite = Suite(root, root / "tests", ["tests"])
learned = suite.learn(root / "learned").learned
order = learned.order(root / "tests" / "subject.py", 4, ["tests"])
out = {"order": order}
for number, (old, new) in enumerate(json.loads(sys.argv[2])):
    mutant = root / f"{number}.py"
    mutant.write_text((root / "tests" / "subject.py").read_text().replace(old, new))
    run = suite.start(root / str(number), "subject", mutant, order, {test: 1.0 for test in order})
    out[new] = run.wait().failed
print(json.dumps(out))
"""
MUTANTS = {
    "return 2 - x": "tests/test_subject.py::test_double",
    "LIMIT = 6": "tests/test_subject.py::test_double",
    "x += 1": TIME_LIMIT,
    "import time; time.sleep(60)": TIME_LIMIT,
    "import os; os._exit(3)\n": "the tests ended with status 3",
    "return 8": None,
    "return 2 * x if __name__ == 'subject' and 'pytest' in __import__('sys').modules else 0": (
        "tests/test_subject.py::test_in_another_process"
    ),
    "def double(": "collecting tests/test_subject.py",
}
ORIGINALS = [
    "return 2 * x",
    "LIMIT = 5",
    "x -= 1",
    "x -= 1",
    "return x\n",
    "return 7",
    "return 2 * x",
    "def double(x)",
]


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    root = tmp_path_factory.mktemp("judged")
    (root / "tests").mkdir()
    (root / "tests" / "subject.py").write_text(SUBJECT)
    (root / "tests" / "test_subject.py").write_text(TESTS)
    pairs = json.dumps(list(zip(ORIGINALS, MUTANTS, strict=True)))
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(root), pairs],
        env={"PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_tests_that_execute_the_line_come_first(ends: dict[str, object]) -> None:
    names = [str(test).split("::")[1] for test in ends["order"]]  # type: ignore[attr-defined]
    assert names == ["test_double", "test_down", "test_in_another_process"]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_what_notices_a_mutant(ends: dict[str, object], mutant: str) -> None:
    assert ends[mutant] == MUTANTS[mutant]


def test_a_test_may_take_twice_as_long_and_never_too_little() -> None:
    learned = Learned({"t/quick": 0.1, "t/slow": 30.0}, {})
    assert learned.limits() == {"t/quick": LEAST_SECONDS, "t/slow": 60.0}


def test_order_is_by_nearness_and_then_by_time() -> None:
    seconds = {"t/slow": 3.0, "t/near": 2.0, "t/nearest": 1.0, "t/beside": 0.5, "u/far": 0.1}
    lines = {"a.py": {1: ["t/near", "t/nearest"], 2: ["t/beside"]}, "b.py": {1: ["u/far"]}}
    learned = Learned(seconds, lines)
    order = learned.order(Path("a.py"), 1, ["t", "u"])
    assert order == ["t/nearest", "t/near", "t/slow"]
    order = learned.order(Path("b.py"), 9, ["t", "u"])
    assert order == ["u/far", "t/beside", "t/nearest", "t/near", "t/slow"]
    assert learned.order(Path("b.py"), 1, ["t"]) == ["t/beside", "t/nearest", "t/near", "t/slow"]


def test_tests_that_run_other_lines_alone_are_left_out() -> None:
    """Not those of the same file, which share fixtures, nor those whose lines are executed in another process."""
    seconds = {
        "t/a.py::near": 2.0,
        "t/a.py::same_file": 3.0,
        "t/b.py::elsewhere": 0.1,
        "t/c.py::process": 5.0,
    }
    lines = {"x.py": {1: ["t/a.py::near"], 2: ["t/a.py::same_file", "t/b.py::elsewhere"]}}
    order = Learned(seconds, lines).order(Path("x.py"), 1, ["t"])
    assert order == ["t/a.py::near", "t/a.py::same_file", "t/c.py::process"]
