"""The cases of ../shared/cases: small inputs on which the verdict was wrong, each judged by the zoo's witness.

`python -m tests.zoo.given` prints a line for each; exit 1 for a grade of exact or faithful with a measure off.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from . import measures
from .case import PYTHON, REPLICAS, Bench, CannotRun, Outcome, replicate
from .program import Program
from .run import line_of

CASES = Path(__file__).parents[3] / "shared" / "cases"
MAKE_IN_DAT = "open('in.dat', 'wb').write(bytes(4096 * 1601))"
MAKE_INPUTS = "[open(f'in{k}_{i}', 'wb').write(bytes(5000)) for k in range(3) for i in range(30 + 10 * k)]"


@dataclass(frozen=True)
class Given:
    """A case: what it is compiled with, its arguments, and what is run before it without capture.

    `first` are the arguments of a first run of the program itself, `prepare` is a line of Python.
    """

    name: str
    compiler: str = "python"
    arguments: tuple[str, ...] = ("out",)
    ranks: int = 0
    libraries: tuple[str, ...] = ()
    first: tuple[str, ...] | None = None
    prepare: str = ""


PROGRAMS = (
    Given("hdf5-slab-loop"),
    Given("hdf5-chunks-gzip"),
    Given("metadata-only-file"),
    Given("small-headers"),
    Given("eof-reads"),
    Given("eof-reads-after-one"),
    Given("rename-over-one-name", arguments=()),
    Given("hdf5-chunked-serial"),
    Given("mapped-file", arguments=()),
    Given("loader-own-files", arguments=(), prepare=MAKE_INPUTS),
    Given("npy-fdopen", first=("out",)),
    Given("netcdf-region", first=("out",)),
    Given("hdf5-unequal-sizes"),
    Given("hdf5-virtual"),
    Given("footer-after-rename"),
    Given("restart-marker"),
    Given("journal-beside-data", "cc", ()),
    Given("dropped-small", "cc", ()),
    Given("metadata-only", "cc", ()),
    Given("stat-after", "cc", ()),
    Given("stat-existing", "cc", (), first=("prepare",)),
    Given("mpi-header-then-shares", "mpicc", (), 4, prepare=MAKE_IN_DAT),
    Given("block-cyclic", "mpicc", ("out",), 2),
    Given("hdf5-driver", "h5pcc", ("0", "0"), 1),
    Given("h5-overwrite", "h5pcc", (), 4, first=("prepare",)),
    Given("h5-memory-compound", "h5pcc", (), 4),
    Given("h5-columns", "h5pcc", (), 4),
    Given("pnc-record", "mpicc", (), 4, ("pnetcdf",)),
    Given("pnc-blocks", "mpicc", (), 4, ("pnetcdf",)),
)
LOGS = ("rw-mpiio-i3-2", "rw-hdf5-i3-2", "macsio-tio-mif-2", "macsio-hdf5-sif-2", "mpiio-z-2")
OF_MPI = re.compile(r"\.sm$")
"""Files of Open MPI itself outside of the folder of the data; its lock files lie in it, on both sides."""
UNSEEN = ("stats",)
"""What Darshan does not count with today's C library."""


class GivenBench(Bench):
    """The folders of one case, whose source is a file."""

    def __init__(self, given: Given, folder: Path) -> None:
        super().__init__(Program(given.compiler, "", {}, given.ranks, libraries=given.libraries), folder)
        self.given = given

    def build(self) -> None:
        given = self.given
        suffix = "py" if given.compiler == "python" else "c"
        source = self.code / f"program.{suffix}"
        shutil.copy(CASES / f"{given.name}.{suffix}", source)
        if suffix == "c":
            libraries = [f"-l{name}" for name in (*given.libraries, "m")]
            shared = ["-shlib"] if given.compiler == "h5pcc" else []
            self.must(
                [given.compiler, *shared, "-O1", "-w", str(source), "-o", "program", *libraries], self.code
            )

    def arguments(self) -> list[str]:
        return list(self.given.arguments)

    def prepare(self) -> None:
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir()
        if self.given.prepare:
            self.must([PYTHON, "-c", self.given.prepare], self.data)
        if self.given.first is not None:
            command = self.command()
            own = len(self.given.arguments)
            self.must([*command[: len(command) - own], *self.given.first], self.data)


def of_program(given: Given, folder: Path) -> Outcome:
    """Capture a program with and without a trace, and judge its replicas."""
    outcome = Outcome(given.name, "given", 0, {})
    bench = GivenBench(given, folder)
    try:
        bench.build()
        for name in REPLICAS:
            logs = folder / f"{name}-logs"
            found = bench.capture(logs, *(["--dxt"] if name == "trace" else []))
            original = measures.measure(measures.records_of(found), bench.data)
            if name == "counters":
                for side in logs.glob("*.extra.json"):
                    side.unlink()
            outcome.replicas[name] = replicate(folder, name, original, ())
    except CannotRun as error:
        outcome.broken = str(error)
    return outcome


def of_log(name: str, folder: Path) -> Outcome:
    """Judge the replica of a log by Darshan, all of whose files but standard streams are the application's."""
    logs = folder / "counters-logs"
    logs.mkdir(parents=True)
    shutil.copy(CASES / f"{name}.darshan", logs)
    records = measures.records_of(sorted(logs.glob("*.darshan")))
    own = [r for r in records if not r.name.startswith("<STD") and not OF_MPI.search(r.name)]
    named = [replace(r, name=f"/all/{r.name}") for r in own]
    outcome = Outcome(name, "given", 0, {})
    outcome.replicas["counters"] = replicate(
        folder, "counters", measures.measure(named, Path("/all")), UNSEEN
    )
    return outcome


def outcomes(scratch: Path, wanted: str | None = None) -> Iterator[Outcome]:
    """Every case, or the one that is wanted."""
    for given in PROGRAMS:
        if wanted in (None, given.name):
            yield of_program(given, scratch / given.name)
    for name in LOGS:
        if wanted in (None, name):
            yield of_log(name, scratch / name)


def main() -> int:
    """Judge all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", help="only this one")
    parser.add_argument("--keep", type=Path, help="keep the folders of all cases here")
    parser.add_argument("-o", "--output", type=Path, help="file for all outcomes (JSON)")
    options = parser.parse_args()
    if not CASES.is_dir():
        print(f"{CASES} is not there", file=sys.stderr)
        return 2
    scratch = options.keep or Path(tempfile.mkdtemp(prefix="given-"))
    found = []
    try:
        for outcome in outcomes(scratch, options.case):
            found.append(outcome)
            print(line_of(outcome), flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    replicas = [replica for outcome in found for replica in outcome.replicas.values()]
    green = sum(replica.false_green for replica in replicas)
    failed = sum(bool(replica.crash) or replica.code in (1, 2) for replica in replicas)
    print(f"{len(found)} cases, {len(replicas)} replicas, {green} false greens, {failed} not made")
    if options.output:
        options.output.write_text(json.dumps([asdict(outcome) for outcome in found], indent=1))
    return 1 if green else 0


if __name__ == "__main__":
    sys.exit(main())
