"""What a benchmark found, as JSON: docs/results.md is made from it (`results_page.py`).

    results = Results()
    results.add("cost of a call", "12 %", target="≤ 38 %", per_cent=12.0)
    results.write()

`write` keeps the figures only if the script was called as the catalogue has it, since a result belongs to a command.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from catalogue import CATALOGUE, ROOT, Entry

NO_TARGET = "–"


@dataclass
class Figure:
    measure: str
    figure: str
    """For people, with its unit."""
    target: str = NO_TARGET
    reached: bool | None = None
    """None: no target, or its author judged by eye."""
    values: dict[str, float] = field(default_factory=dict)
    """The same for programs; names say the unit."""


@dataclass
class Stamp:
    """Where a result comes from."""

    commit: str | None
    """Of the sources; None where there is no git."""
    date: str | None
    machine: str
    load: list[float] | None
    """Load average of a minute, at the start and at the end; None: not recorded."""
    changed: bool = False
    """Sources differed from the commit when it was measured."""
    digest: str | None = None
    """Of the sources' names and contents; None: not recorded, then the commit decides what has changed."""
    origin: str = "measured"
    """'measured', or 'converted': figures that were on the page before benchmarks wrote JSON."""
    elsewhere: bool = False
    """The commit is one of another checkout, and not known in this repository."""


@dataclass
class Result:
    name: str
    command: str
    stamp: Stamp
    figures: list[Figure]

    def text(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text(), encoding="utf-8")


def load_result(path: Path) -> Result:
    data = json.loads(path.read_text(encoding="utf-8"))
    figures = [Figure(**figure) for figure in data.pop("figures")]
    return Result(stamp=Stamp(**data.pop("stamp")), figures=figures, **data)


class Results:
    """Figures of the script that runs."""

    def __init__(self) -> None:
        self.figures: list[Figure] = []
        self._before = os.getloadavg()[0]

    def add(
        self,
        measure: str,
        figure: str,
        *,
        target: str = NO_TARGET,
        reached: bool | None = None,
        **values: float,
    ) -> None:
        """`reached` and the values may be numpy's, which JSON does not know."""
        judged = None if reached is None else bool(reached)
        self.figures.append(
            Figure(measure, figure, target, judged, {name: float(x) for name, x in values.items()})
        )

    def write(self) -> None:
        known = entry_of_command(sys.argv)
        if known is None:
            print("results: not a command of the catalogue, so the figures are not kept", file=sys.stderr)
            return
        Result(known.name, known.command, stamp_now(known, self._before), self.figures).save(known.file)
        print(f"results: {known.file.relative_to(ROOT)}", file=sys.stderr)


def entry_of_command(argv: list[str]) -> Entry | None:
    """The catalogue's entry with this very command line."""
    called = [Path(argv[0]).name, *argv[1:]]
    for known in CATALOGUE:
        words = shlex.split(known.command)
        if words[0] == "python" and [Path(words[1]).name, *words[2:]] == called:
            return known
    return None


def stamp_now(known: Entry, load_before: float) -> Stamp:
    commit = git("rev-parse", "--short=10", "HEAD")
    # A source that moved is named by its old and its new path until the catalogue follows, so some may be absent.
    present = [source for source in known.sources if (ROOT / source).exists()]
    return Stamp(
        commit=commit,
        date=datetime.now(UTC).date().isoformat(),
        machine=machine(),
        load=[round(load_before, 2), round(os.getloadavg()[0], 2)],
        changed=bool(commit and git("status", "--porcelain", "--", *present)),
        digest=digest_of(known),
    )


def digest_of(known: Entry) -> str | None:
    """A digest of all files of the sources that git does not ignore; None where there is no git."""
    listed = git("ls-files", "-co", "--exclude-standard", "--", *known.sources)
    if listed is None:
        return None
    total = hashlib.sha256()
    for name in sorted(listed.splitlines()):
        path = ROOT / name
        if path.is_file():
            total.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()[:16]


def git(*arguments: str) -> str | None:
    """Output of git, stripped; None if it fails or there is no git."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def machine() -> str:
    """Cores, memory, system and libraries; no name of a machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    python = ".".join(map(str, sys.version_info[:3]))
    words = [f"{os.cpu_count()} cores", f"{memory:.0f} GiB", _system(), _mpi(), f"Python {python}"]
    return ", ".join(word for word in words if word)


def _system() -> str:
    try:
        text = Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(r'^PRETTY_NAME="?([^"\n]*)', text, flags=re.MULTILINE)
    return found.group(1) if found else ""


def _mpi() -> str:
    try:
        done = subprocess.run(["mpiexec", "--version"], capture_output=True, text=True)
    except OSError:
        return ""
    text: str = done.stdout.splitlines()[0] if done.stdout else ""
    return re.sub(r"^mpiexec \(OpenRTE\)", "Open MPI", text)
