"""Line coverage of the Python sources by the tests of `make test`, with the processes that they start.

python benchmarks/line_coverage.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from catalogue import ROOT
from results import Results

LEAST = 90.0
CAPTURE_COVERAGE_TOO = (
    "tests/capture/test_data_set.py",
    "tests/capture/test_repeated.py::test_data_that_are_compressed",
    "tests/docs/test_examples.py::test_example_prints_what_stands_beside_it[6-capture-a-script]",
)
"""Tests that capture a Python program and know all of its files: under coverage it has some more."""
WORST = 10
NO_TESTS = 5
"""Exit code of pytest where none of the tests is chosen."""
PROCESSES = 3
"""Each runs the tests of one folder after another. Workers of one parallel run lose what they have counted."""
SETTINGS = """
[run]
source_pkgs = workalike
parallel = true
omit = {tmp}/*
patch =
    subprocess
    _exit
data_file = {folder}/data
"""


def main() -> int:
    results = Results()
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "settings"
        settings.write_text(SETTINGS.format(folder=folder, tmp=tempfile.gettempdir()))
        option = f"--rcfile={settings}"
        with ThreadPoolExecutor(PROCESSES) as processes:
            passed = list(processes.map(lambda tests: passes(option, tests), parts()))
        coverage("combine", option, "--quiet")
        coverage("json", option, "--quiet", "-o", f"{folder}/report.json")
        report = json.loads((Path(folder) / "report.json").read_text(encoding="utf-8"))
    if not all(passed):
        return 1
    total = report["totals"]
    per_cent = 100 * total["covered_lines"] / total["num_statements"]
    results.add(
        "line coverage of Python by `make test`, with the processes that tests start",
        f"{per_cent:.1f} %: {total['covered_lines']:,} of {total['num_statements']:,} lines",
        target=f"≥ {LEAST:g} %",
        reached=per_cent >= LEAST,
        per_cent=per_cent,
    )
    files = {name: f["summary"] for name, f in report["files"].items()}
    fewest = sorted(files, key=lambda name: files[name]["percent_covered"])[:WORST]
    for name in fewest:
        summary = files[name]
        place = os.path.relpath(ROOT / name, ROOT / "src" / "workalike")
        results.add(
            f"least covered: `{place}`",
            f"{summary['percent_covered']:.0f} %: {summary['missing_lines']} of {summary['num_statements']} lines are not",
        )
    results.write()
    print(f"line coverage {per_cent:.1f} %")
    return int(per_cent < LEAST)


def parts() -> list[Path]:
    """The folders and files with tests, those with most files first."""
    found = {path: list(path.rglob("test_*.py")) or [path] for path in (ROOT / "tests").iterdir()}
    tests = {path: files for path, files in found.items() if files[0].name.startswith("test_")}
    return sorted(tests, key=lambda path: -len(tests[path]))


def passes(option: str, tests: Path) -> bool:
    """Whether the tests of a folder or file pass, if it has any of `make test`."""
    left_out = (f"--deselect={test}" for test in CAPTURE_COVERAGE_TOO)
    command = [sys.executable, "-m", "coverage", "run", option, "-m", "pytest", "-q", *left_out]
    done = subprocess.run([*command, "-m", "not system and not long", str(tests)], cwd=ROOT)
    return done.returncode in (0, NO_TESTS)


def coverage(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "coverage", *arguments], cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
