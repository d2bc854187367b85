"""How many of a sample of mutants the tests notice, and which ones survive: `python tests/mutation/score.py`.

Each mutant is one change of one module of a package, and is judged by that package's tests alone, which stop at the
first failure. A mutant that makes them hang is noticed, too.

`judge.py` says how the tests run: one run of a package's tests under coverage shows which of them execute a line; a
mutant's run takes these first, the fastest first. The survivors are those that all tests of the package let pass that
may execute the line. A mutant that `survivors.yaml` explains counts as a survivor and is not run, which takes minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import judge
from explained import reason
from judge import Learned, Run, Suite
from mutators import Mutation, mutations_of

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "workalike"
PACKAGES = {
    "facts": ("tests/facts", "tests/characterize"),
    "characterize": ("tests/characterize",),
    "compare": ("tests/compare",),
}
"""The tests that judge each package, those folders of them that are there."""


@dataclass
class Mutant:
    package: str
    path: Path
    mutation: Mutation


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
    chosen = sample(packages, given.count, given.seed)
    judge.preload()
    with tempfile.TemporaryDirectory() as scratch:
        learned = learn(packages, Path(scratch) / "learned")
        verdicts = judge_all(chosen, learned, given.jobs, Path(scratch))
    return report(verdicts, given.least, given.json)


def sample(packages: list[str], count: int, seed: int) -> list[Mutant]:
    """`count` mutants, evenly over all places of all packages that can be changed.

    A place is chosen by the hash of its file and its number in its function or class there. So a change of the code
    elsewhere leaves the sample as it is.
    """
    places = [
        (hashlib.sha256(f"{seed} {path.relative_to(ROOT)} {place}".encode()).digest(), package, path, make)
        for package in packages
        for path in sorted((SOURCES / package).rglob("*.py"))
        if path.name != "__init__.py"
        for place, make in mutations_of(path.read_text(encoding="utf-8")).items()
    ]
    print(f"{len(places)} possible mutants of {', '.join(packages)}", flush=True)
    places.sort(key=lambda place: place[0])
    return [Mutant(package, path, make()) for _, package, path, make in places[:count]]


def folders_of(package: str) -> list[str]:
    return [folder for folder in PACKAGES[package] if (ROOT / folder).is_dir()]


def learn(packages: list[str], scratch: Path) -> Learned:
    """Run the tests of all packages without a mutant: they must pass.

    Raises:
        SystemExit: they do not.
    """
    folders = list(dict.fromkeys(folder for package in packages for folder in folders_of(package)))
    end = Suite(ROOT, SOURCES, folders).learn(scratch)
    if end.learned is None:
        sys.exit(f"the tests fail without a mutant: {end.failed}\n{end.output[-2000:]}")
    print(f"{len(end.learned.seconds)} tests take {end.seconds:.0f} s under coverage", flush=True)
    return end.learned


def judge_all(mutants: list[Mutant], learned: Learned, jobs: int, scratch: Path) -> list[Verdict]:
    """Run the tests with each mutant, `jobs` at a time; the verdicts in the order of the mutants."""
    verdicts = {n: verdict_of(mutant, None, 0.0) for n, mutant in enumerate(mutants) if is_explained(mutant)}
    running: dict[int, Run] = {}
    waiting = [(n, mutant) for n, mutant in enumerate(mutants) if n not in verdicts][::-1]
    while waiting or running:
        while waiting and len(running) < jobs:
            number, mutant = waiting.pop()
            running[number] = begin(mutant, learned, scratch / str(number))
        for number, run in list(running.items()):
            end = run.poll()
            if end is not None:
                del running[number]
                shutil.rmtree(run.folder, ignore_errors=True)
                verdicts[number] = verdict_of(mutants[number], end.failed, end.seconds)
        time.sleep(0.01)
    return [verdicts[number] for number in range(len(mutants))]


def is_explained(mutant: Mutant) -> bool:
    return reason(mutant.path, mutant.mutation.line, mutant.mutation.what) != ""


def begin(mutant: Mutant, learned: Learned, scratch: Path) -> Run:
    source = scratch.with_suffix(".py")
    source.write_text(mutant.mutation.source, encoding="utf-8")
    module = ".".join(mutant.path.relative_to(SOURCES.parent).with_suffix("").parts)
    folders = folders_of(mutant.package)
    order = learned.order(mutant.path, mutant.mutation.line, folders)
    return Suite(ROOT, SOURCES, folders).start(scratch, module, source, order, learned.limits())


def verdict_of(mutant: Mutant, noticed_by: str | None, seconds: float) -> Verdict:
    name, change = str(mutant.path.relative_to(ROOT)), mutant.mutation
    word = "survived" if noticed_by is None else "noticed "
    print(f"{word} {seconds:4.1f} s {name}:{change.line}: {change.what}", flush=True)
    return Verdict(mutant.package, name, change.line, change.what, noticed_by, round(seconds, 1))


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
