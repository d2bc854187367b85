"""Do replicas take as long as real applications, and as long inside calls? Each runs in turn with its replica.

    python benchmarks/application_pairs.py [NAME ...] [--pairs N] [--keep DIR]

Applications are Debian's packages with the inputs of ../shared/apps, shortened; `tools/install-system-packages` installs
them. Original and replica have the same ranks, and a file system of their own in memory (needs root): ext4 takes a third
of a millisecond for a new file where the pair before has just deleted a thousand. A ratio counts as reached, too, where
the replica is within the spread of the original's own repeats.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pairs as of_pairs
from beds import in_memory
from behaviour_lammps import SHARED, shortened
from catalogue import ROOT
from pairs import DISTANCE, IO_ALL, IO_FAMILY, LEAST_S, RATIOS, Pair
from results import Results

sys.path.append(str(ROOT / "tests" / "support"))
from applications import DAM_BREAK, ENVIRONMENT, prepare_gromacs, prepare_openfoam, run

PAIRS = 5
LONGEST_S = 300
APPS = SHARED / "apps"
SYSTEM_PYTHON = "/usr/bin/python3"
"""It has Debian's Meep and PyTorch."""
PSEUDOPOTENTIAL = Path("/usr/share/doc/quantum-espresso/examples/Si.pz-vbc.UPF.gz")


@dataclass(frozen=True)
class Application:
    """How an application is prepared in an empty folder, and started there."""

    name: str
    command: Sequence[str]
    prepare: Callable[[Path], None]
    needs: Callable[[], bool]


def mpi(ranks: int, *words: str) -> list[str]:
    return ["mpiexec", "-n", str(ranks), *words]


def has(*programs: str) -> Callable[[], bool]:
    return lambda: all(shutil.which(program) for program in programs)


def gromacs(folder: Path) -> None:
    prepare_gromacs(folder, 1000)


def openfoam(folder: Path) -> None:
    folder.rmdir()
    prepare_openfoam(folder, 2, 0.05, 1.0)


def quantum_espresso(folder: Path) -> None:
    shutil.copy(APPS / "quantum-espresso-si.in", folder)
    (folder / "Si.UPF").write_bytes(gzip.decompress(pseudopotential().read_bytes()))


def pseudopotential() -> Path:
    places = Path("/usr/share/doc/quantum-espresso").rglob("Si.pz-vbc.UPF.gz")
    return next(iter(sorted(places)), PSEUDOPOTENTIAL)


def pytorch(folder: Path) -> None:
    shutil.copy(APPS / "pytorch-loader.py", folder)
    run(folder, f"{SYSTEM_PYTHON} pytorch-loader.py make")


def has_module(python: str, module: str) -> bool:
    return (
        subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0
    )


def copied(name: str, change: Callable[[str], str] = lambda text: text) -> Callable[[Path], None]:
    return lambda folder: (
        (folder / name).write_text(change((APPS / name).read_text(encoding="utf-8"))) and None
    )


APPLICATIONS = (
    Application(
        "gromacs",
        mpi(2, *["gmx_mpi", "mdrun", "-s", "topol.tpr", "-ntomp", "1", "-cpt", "0.03"]),
        gromacs,
        has("gmx_mpi"),
    ),
    Application(
        "quantum-espresso",
        mpi(2, "pw.x", "-in", "quantum-espresso-si.in"),
        quantum_espresso,
        lambda: shutil.which("pw.x") is not None and pseudopotential().exists(),
    ),
    Application("cp2k", mpi(2, "cp2k.psmp", "-i", "cp2k-h2o.inp"), copied("cp2k-h2o.inp"), has("cp2k.psmp")),
    Application(
        "openfoam",
        mpi(2, "interFoam", "-parallel"),
        openfoam,
        lambda: shutil.which("interFoam") is not None and DAM_BREAK.is_dir(),
    ),
    Application(
        "pytorch-loader",
        [SYSTEM_PYTHON, "pytorch-loader.py", "2"],
        pytorch,
        lambda: has_module(SYSTEM_PYTHON, "torch"),
    ),
    Application(
        "nwchem",
        mpi(4, "nwchem.openmpi", "nwchem-water.nw"),
        copied("nwchem-water.nw"),
        has("nwchem.openmpi"),
    ),
    Application(
        "meep",
        mpi(4, SYSTEM_PYTHON, "meep-fields.py"),
        copied("meep-fields.py", lambda text: text.replace("until=20", "until=5")),
        lambda: has_module(SYSTEM_PYTHON, "meep"),
    ),
    Application(
        "lammps",
        mpi(4, *["lmp", "-in", "lammps-growth.in", "-log", "none", "-screen", "none"]),
        copied("lammps-growth.in", lambda text: shortened(text, 5, 10)),
        has("lmp"),
    ),
)


def show(results: Results, name: str, pairs: Sequence[Pair]) -> bool:
    """Add the figures of an application; whether all of them are good."""
    before = len(results.figures)
    wall = of_pairs.wall(pairs)
    good = [wall.is_within(RATIOS), of_pairs.overlap(pairs) <= DISTANCE]
    results.add(
        f"`{name}`, {len(pairs)} pairs: wall clock, replica ÷ original; overlap of dumps",
        f"{wall.text()}; overlap {of_pairs.overlap(pairs):.3f} apart",
        target=f"{RATIOS[0]} to {RATIOS[1]} ×; ≤ {DISTANCE}",
        reached=all(good),
        ratio=wall.ratio,
        original_s=wall.original,
        overlap_distance=of_pairs.overlap(pairs),
    )
    inside = of_pairs.inside_calls(pairs)
    if inside is not None:
        families = {n: t for n, t in of_pairs.by_family(pairs).items() if t.original >= LEAST_S}
        unmatched = of_pairs.left_out(pairs)
        missed = [n for n, times in families.items() if not times.is_within(IO_FAMILY)]
        reached = inside.is_within(IO_ALL) and not missed
        good.append(reached)
        results.add(
            f"`{name}`: I/O time inside calls, in all; families above {1000 * LEAST_S:.0f} ms",
            inside.text()
            + "".join(f"; {n} {t.ratio:.2f} × of {t.original:.2g} s" for n, t in families.items())
            + (f"; not in every pair: {', '.join(unmatched)}" if unmatched else ""),
            target=f"{IO_ALL[0]} to {IO_ALL[1]} ×; {IO_FAMILY[0]} to {IO_FAMILY[1]} ×",
            reached=reached,
            ratio=inside.ratio,
            original_s=inside.original,
        )
    for figure in results.figures[before:]:
        print(f"{figure.measure}: {figure.figure}  {'reached' if figure.reached else 'MISSED'}", flush=True)
    return all(good)


def measured(application: Application, place: Path, number: int) -> Pair:
    folder = place / f"{application.name}-{number}" / "app"
    shutil.rmtree(folder.parent, ignore_errors=True)
    folder.mkdir(parents=True)
    application.prepare(folder)
    return of_pairs.pair_of(application.name, application.command, folder, folder.parent, seconds=LONGEST_S)


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--pairs", type=int, default=PAIRS, help=f"runs of each (default {PAIRS})")
    options.add_argument("--keep", type=Path, default=None, help="keep logs and replicas there")
    given = options.parse_args()
    if not APPS.is_dir():
        print(f"needs the inputs in {APPS}", file=sys.stderr)
        return 2
    os.environ.update(ENVIRONMENT)
    results = Results()
    good = True
    with in_memory() as memory:
        place = (given.keep or memory).resolve()
        for application in APPLICATIONS:
            if given.names and application.name not in given.names:
                continue
            if not application.needs():
                results.add(f"`{application.name}`", "not installed", target="in turn", reached=False)
                print(f"{application.name}: not installed", flush=True)
                good = False
                continue
            found = []
            for number in range(given.pairs):
                found.append(measured(application, place, number))
                if given.keep is None:
                    shutil.rmtree(place / f"{application.name}-{number}")
            good = show(results, application.name, found) and good
    results.write()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
