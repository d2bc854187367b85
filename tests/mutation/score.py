"""How many of a sample of mutants the tests notice, and which ones survive: `python tests/mutation/score.py`.

Each mutant is one change of one module of a package. It is tried with that package's tests only, up to the first
failure. A mutant that makes them hang counts as noticed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from mutators import Mutation, mutations_of

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "workalike"
HOOK = Path(__file__).parent / "hook"
PACKAGES = {
    "facts": ("tests/facts", "tests/characterize"),
    "characterize": ("tests/characterize",),
    "compare": ("tests/compare",),
}
"""The folders of each package's tests, as far as they exist."""
LEAST_SECONDS = 120


@dataclass
class Verdict:
    """The result of one mutant. `noticed_by` is the test that noticed it, None for a survivor."""

    package: str
    file: str
    line: int
    what: str
    noticed_by: str | None
    seconds: float


def main() -> int:
    """Measure the score; the exit code is 1 where it is below `--least`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="mutants over all packages")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--least", type=float, default=0.0, help="lowest score in per cent")
    parser.add_argument("--json", type=Path, help="where to write every verdict")
    parser.add_argument("--package", action="append", choices=PACKAGES, help="only this package")
    given = parser.parse_args()
    packages = [p for p in given.package or PACKAGES if (SOURCES / p).is_dir()]
    chosen = sample(packages, given.count, random.Random(given.seed))
    bounds = {package: baseline(package) for package in packages}
    with ThreadPoolExecutor(given.jobs) as pool:
        verdicts = list(pool.map(lambda mutant: judge(*mutant, bounds[mutant[0]]), chosen))
    return report(verdicts, given.least, given.json)


def sample(packages: list[str], count: int, dice: random.Random) -> list[tuple[str, Path, Mutation]]:
    """`count` random mutants out of all possible changes of all packages."""
    places = [
        (package, path, make)
        for package in packages
        for path in sorted((SOURCES / package).rglob("*.py"))
        if path.name != "__init__.py"
        for make in mutations_of(path.read_text(encoding="utf-8"))
    ]
    print(f"{len(places)} possible mutants of {', '.join(packages)}", flush=True)
    return [(package, path, make()) for package, path, make in dice.sample(places, min(count, len(places)))]


def baseline(package: str) -> float:
    """Seconds after which a mutant counts as hanging, from a run of the tests without one.

    Raises:
        SystemExit: the tests fail without a mutant.
    """
    started = time.monotonic()
    done = run_tests(package, {}, None)
    if done.returncode:
        sys.exit(f"the tests of {package} fail without a mutant:\n{done.stdout[-2000:]}")
    seconds = time.monotonic() - started
    print(f"{package}: its tests take {seconds:.0f} s", flush=True)
    return max(LEAST_SECONDS, 4 * seconds)


def run_tests(package: str, more: dict[str, str], seconds: float | None) -> subprocess.CompletedProcess[str]:
    """Run the package's tests up to the first failure; `more` is added to the environment."""
    folders = [folder for folder in PACKAGES[package] if (ROOT / folder).is_dir()]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not system and not long",
        *folders,
    ]
    path = os.pathsep.join(filter(None, [str(HOOK), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": path, **more}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds, check=False
    )


def judge(package: str, path: Path, mutation: Mutation, seconds: float) -> Verdict:
    """Run the package's tests with one mutant."""
    module = ".".join(path.relative_to(SOURCES.parent).with_suffix("").parts)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        mutant = Path(folder) / path.name
        mutant.write_text(mutation.source, encoding="utf-8")
        try:
            done = run_tests(package, {"WORKALIKE_MUTANT": f"{module}={mutant}"}, seconds)
            noticed = None if done.returncode == 0 else _first_failure(done.stdout)
        except subprocess.TimeoutExpired:
            noticed = "a time limit"
    name = str(path.relative_to(ROOT))
    verdict = Verdict(
        package, name, mutation.line, mutation.what, noticed, round(time.monotonic() - started, 1)
    )
    print(
        f"{'survived' if noticed is None else 'noticed '} {name}:{mutation.line}: {mutation.what}", flush=True
    )
    return verdict


def _first_failure(output: str) -> str:
    said = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return said[0].split(" - ")[0] if said else "the tests did not start"


def report(verdicts: list[Verdict], least: float, file: Path | None) -> int:
    """Print the score and the survivors."""
    survivors = [v for v in verdicts if v.noticed_by is None]
    for package in dict.fromkeys(v.package for v in verdicts):
        of_package = [v for v in verdicts if v.package == package]
        noticed = sum(v.noticed_by is not None for v in of_package)
        print(f"{package}: {noticed} of {len(of_package)} noticed")
    score = 100 * (len(verdicts) - len(survivors)) / max(1, len(verdicts))
    print(f"mutation score {score:.0f} % ({len(verdicts) - len(survivors)} of {len(verdicts)}); survivors:")
    for v in survivors:
        print(f"  {v.file}:{v.line}: {v.what}")
    if file is not None:
        file.write_text(json.dumps({"score": score, "mutants": [asdict(v) for v in verdicts]}, indent=1))
    return int(score < least)


if __name__ == "__main__":
    sys.exit(main())
