"""Is the ECP study's finding the first one? Its four applications' I/O, as it found it and as it advises, diagnosed.

    python benchmarks/ecp_applications.py [--ranks N] [--keep DIR]

The programs are in examples/ecp; NWChem itself runs, too, where it is installed, with the input beside them. All run under our capture on a CephFS of their own, the scratch files of NWChem's advice on the local disk.
`workalike diagnose` has its default thresholds.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from beds import on_cephfs, on_disk
from catalogue import ROOT
from results import Results

sys.path.append(str(ROOT / "tests" / "support"))
from applications import ENVIRONMENT

from workalike.darshan import open_log
from workalike.diagnose.diagnosis import diagnose
from workalike.diagnose.finding import Diagnosis, Severity
from workalike.diagnose.site import Site

SOURCES = ROOT / "examples" / "ecp"
FOUND = {
    "flash": "library-metadata",
    "nwchem": "scratch-files",
    "chombo": "independent-access",
    "qmcpack": "overwritten-in-place",
}
"""The rule that says what the study says first of each application."""
NWCHEM = "nwchem.openmpi"
SCRATCH = ("TMPDIR", "SCRATCH_DIR")
"""The variables that name the folder of scratch files, of our program and of NWChem."""
LOCAL_TYPES = ("btrfs", "ext4", "overlay", "xfs", "zfs")
HDF5 = ("-I/usr/include/hdf5/openmpi", "-L/usr/lib/x86_64-linux-gnu/hdf5/openmpi", "-lhdf5")


def built(name: str, folder: Path) -> Path:
    program = folder / name
    command = ["mpicc", "-O2", "-D_GNU_SOURCE", str(SOURCES / f"{name}_io.c"), *HDF5, "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def diagnosed(
    name: str, command: list[str], ranks: int, place: Path, node: Path | None, keep: Path, site: Site
) -> Diagnosis:
    """Run a command under capture in a folder of the bed, and diagnose its log; scratch files go to `node`, if given."""
    folder = place / name
    folder.mkdir()
    log = keep / f"{name}.darshan"
    words = [
        str(Path(sys.executable).with_name("workalike")),
        "profile",
        "--dxt",
        "--events",
        "-o",
        str(log),
        "--",
    ]
    subprocess.run(
        [*words, "mpiexec", "-n", str(ranks), *command],
        cwd=folder,
        env={**os.environ, **ENVIRONMENT, **({} if node is None else dict.fromkeys(SCRATCH, str(node)))},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    shutil.rmtree(folder)
    return diagnose([open_log(log)], site)


def weighed(found: Diagnosis) -> list[str]:
    return [f"{f.rule} ({f.severity.name})" for f in found.findings if f.severity is not Severity.NOTE]


def add(results: Results, name: str, rule: str, found: Diagnosis) -> None:
    first = found.findings[0].rule if found.findings else "nothing"
    print(f"{name}: {first}", flush=True)
    results.add(f"{name}: first finding", first, target=rule, reached=first == rule)


def add_quiet(results: Results, name: str, rule: str, found: Diagnosis) -> None:
    """The same data, written well."""
    heavy = ", ".join(weighed(found)) or "none"
    print(f"{name}: above a note: {heavy}", flush=True)
    quiet = heavy == "none" and rule not in {finding.rule for finding in found.findings}
    results.add(f"{name}: findings above a note", heavy, target="none, and the first one gone", reached=quiet)


@contextlib.contextmanager
def kept(folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


@contextlib.contextmanager
def shared() -> Iterator[Path]:
    """A folder of the local disk; those in /tmp and /var/tmp are a node's own by custom."""
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        yield Path(folder)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--keep", type=Path, help="folder for the logs")
    given = parser.parse_args()
    results = Results()
    with kept(given.keep) as keep, on_cephfs() as place, on_disk() as node:
        for name, rule in FOUND.items():
            program = str(built(name, keep))
            found = diagnosed(
                f"{name}-as-found", [program, "as-found"], given.ranks, place, None, keep, Site()
            )
            add(results, name, rule, found)
            found = diagnosed(f"{name}-advised", [program, "advised"], given.ranks, place, node, keep, Site())
            add_quiet(results, f"{name}, as advised", rule, found)
    if shutil.which(NWCHEM):
        command, rule = [NWCHEM, str(SOURCES / "nwchem-water8.nw")], FOUND["nwchem"]
        with kept(given.keep) as keep, shared() as place, on_disk() as node:
            site = Site({"storage": {"local": [], "shared": LOCAL_TYPES, "folders_of_a_node": [str(node)]}})
            found = diagnosed("nwchem-itself", command, given.ranks, place, None, keep, site)
            add(results, "NWChem itself, eight water molecules", rule, found)
            found = diagnosed("nwchem-itself-node", command, given.ranks, place, node, keep, site)
            add_quiet(results, "NWChem itself, SCRATCH_DIR on the node", rule, found)
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
